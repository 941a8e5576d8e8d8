import { type Resource, resources } from '../../../archive/format/resources';
import type { ReceivedBody } from '../body/receive';

/** One request for one resource of one cluster. */
export interface ResourceRequest {
  readonly cluster: string;
  readonly resource: Resource;
  /** Header `ProjectUid` (service contract, section 5). */
  readonly projectUid?: string | undefined;
  /** Query parameter `requestId` (section 4.1); only sent where the call takes it. */
  readonly requestId?: string | undefined;
  /** Whether no content coding is accepted, because one was damaged. */
  readonly uncoded?: boolean;
  /** Whether a manifest is kept as received although its media type is JSON, because decoding it has failed. */
  readonly asReceived?: boolean;
  /** Whether it gets a connection of its own, because an answer over a used one may have been another request's. */
  readonly alone?: boolean;
  /** Whether the run is complete without it. */
  readonly optional?: true | undefined;
  /** Whether the cluster joined the list from outside within a day: it takes no turn of those that were there before. */
  readonly joined?: true | undefined;
  /** Whether the cluster is not on the list from outside any more: it is asked for last, and nothing is concluded from it. */
  readonly leaving?: true | undefined;
}

/** How messages name the call. */
export function callName({ cluster, resource }: ResourceRequest): string {
  return `GET ${resources[resource].path} of cluster ${cluster}`;
}

/** A good answer: status 200 and a body that is what was asked for. */
export interface ServiceAnswer {
  readonly body: ReceivedBody;
  /** Content-Type as received. */
  readonly mediaType: string | undefined;
}
