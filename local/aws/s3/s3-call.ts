import type { IncomingMessage } from 'node:http';
import type { RequestTarget } from '../request-target';
import type { FolderStore } from '../store/folder-store';
import type { ChunkSigning } from './aws-chunked';

/** One authorised call, as the operations of S3 take it. */
export interface AuthorisedCall {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  readonly region: string;
  readonly bucket: string;
  readonly key: string;
  readonly store: FolderStore;
  readonly signing: ChunkSigning;
  /** Whether the caller may list the bucket, and so learn that an object is not there. */
  readonly mayList: () => { readonly allowed: boolean; readonly message: string };
  /** The body, asked for only now if the client waits to be asked. */
  readonly body: () => AsyncIterable<Uint8Array>;
}
