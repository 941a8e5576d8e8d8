import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { AwsError } from './aws-error';
import type { InterceptedRequest } from './fault';
import type { PolicyDocument } from './iam/policy-document';
import type { RequestTarget } from './request-target';
import type { SecretStore } from './secrets/secret-store';
import type { Credentials } from './signature';
import type { FolderStore } from './store/folder-store';

/** What calls are made against, and who may make them. */
export interface Account {
  readonly region: string;
  readonly accountId: string;
  /** By access key. */
  readonly principals: ReadonlyMap<string, Principal>;
  /** By name. */
  readonly buckets: ReadonlyMap<string, Bucket>;
  readonly secrets: SecretStore;
}

/** Who may call, and with which policies. */
export interface Principal extends Credentials {
  /** ARN of the role or user. */
  readonly arn: string;
  readonly policies: readonly PolicyDocument[];
}

export interface Bucket {
  readonly store: FolderStore;
  readonly policy: PolicyDocument | undefined;
}

/** One call while it is worked on. */
export interface Call {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  readonly facts: CallFacts;
  /** The body; a client that waits to be asked for it is asked now. To be called once. */
  readonly body: () => AsyncIterable<Uint8Array>;
}

/** What the log and a test learn of a call; filled in as far as the call comes. */
export interface CallFacts extends InterceptedRequest {
  action: string;
  bucket?: string;
  key?: string;
  principalArn?: string;
}

/** The answer to a call. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A function opens a stream of as many bytes as the header Content-Length says. */
  readonly body?: string | (() => Readable);
}

/**
 * Reads a body into memory.
 * @throws AwsError 413 if it is longer than `maxBytes`
 */
export async function readSmallBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new AwsError(413, 'RequestEntityTooLarge', `The body is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
