import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { InterceptedRequest } from './fault';
import type { RequestTarget } from './request-target';
import { ServiceError } from './service-error';

/** What is known of a call; filled in as far as it comes. */
export interface CallProgress extends InterceptedRequest {
  action: string;
  bucket?: string;
  key?: string;
  principalArn?: string;
}

/** One request while it is worked on. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  readonly progress: CallProgress;
  /** The body, asked for only now if the client waits to be asked; to be called once. */
  readonly body: () => AsyncIterable<Uint8Array>;
}

/**
 * A body that is expected to be small, whole.
 * @throws ServiceError 413 if it is longer than `most` bytes
 */
export async function readSmallBody(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw new ServiceError(413, 'RequestEntityTooLarge', `The body is longer than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
