import type { Content } from '../archive/archive-object';
import type { BodyFacts } from '../body/body-check';
import type { Resource } from '../resources';

/** One request for one resource of one cluster. */
export interface ResourceRequest {
  readonly cluster: string;
  readonly resource: Resource;
  /** Header `ProjectUid` (service contract, section 5). */
  readonly projectUid?: string | undefined;
  /** Query parameter `requestId` (section 4.1); only sent where the call takes it. */
  readonly requestId?: string | undefined;
}

/** A body that arrived whole and passed its check, compressed and ready for one PutObject. */
export interface ReceivedBody {
  readonly facts: BodyFacts;
  /** SHA-256 of the uncompressed content, lower-case hex. */
  readonly sha256: string;
  /** Length of the uncompressed content in bytes. */
  readonly length: number;
  /** Length of the compressed content in bytes. */
  readonly storedLength: number;
  /** The compressed content. */
  readonly content: Content;
  /** Removes the temporary file, if there is one; to be called in every outcome. */
  release(): Promise<void>;
}

/** A good answer: status 200 and a body that is what was asked for. */
export interface ServiceAnswer {
  readonly body: ReceivedBody;
  readonly status: number;
  /** Content-Type as received. */
  readonly mediaType: string | undefined;
}
