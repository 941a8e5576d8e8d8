import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

/** Text, or a stream of its UTF-8 bytes. */
export type Content = string | Readable;

export interface LogDescription {
  /** `status.state` */
  readonly state: string;
  /** `metadata.lastModifiedTimestamp` */
  readonly lastModified: Date;
}

export interface LogRecordParts extends LogDescription {
  readonly clusterUid: string;
  readonly log: Content;
  readonly projectUid: string | undefined;
  readonly requestId: string | undefined;
}

/** The content is no text, and JSON carries text only. */
export class InvalidTextError extends Error {
  override readonly name = 'InvalidTextError';
}

/**
 * The log-fetcher record (service contract, section 2.1) as JSON, piece by piece, so that a log of any length passes.
 * @throws InvalidTextError if the log's bytes are not UTF-8
 */
export async function* logRecordBody(parts: LogRecordParts): AsyncGenerator<string> {
  const { clusterUid, log, state, lastModified, projectUid, requestId } = parts;
  const metadata = {
    // The contract leaves both maps free, and shows no effect of requestId and ProjectUid. The demo answers with what it
    // received, so that one sees that they arrive.
    annotations: requestId === undefined ? {} : { requestId },
    creationTimestamp: '2025-03-17T08:00:00.000Z',
    labels: projectUid === undefined ? {} : { projectUid },
    lastModifiedTimestamp: lastModified.toISOString(),
    name: `log-fetcher-${clusterUid}`,
    uid: uuidOf(clusterUid),
  };
  yield `{"metadata":${JSON.stringify(metadata)},"spec":{"clusterUid":${JSON.stringify(clusterUid)},"log":`;
  yield* jsonString(log);
  yield `},"status":{"state":${JSON.stringify(state)}}}`;
}

/**
 * The content as one JSON string, piece by piece.
 * @throws InvalidTextError if a stream's bytes are not UTF-8
 */
export async function* jsonString(content: Content): AsyncGenerator<string> {
  yield '"';
  for await (const text of textOf(content)) yield JSON.stringify(text).slice(1, -1);
  yield '"';
}

/**
 * Reads a content to its end.
 * @throws InvalidTextError if a stream's bytes are not UTF-8
 */
export async function assertText(content: Content): Promise<void> {
  for await (const _ of textOf(content)) {
    // Only whether it ends without an error matters.
  }
}

async function* textOf(content: Content): AsyncGenerator<string> {
  if (typeof content === 'string') {
    yield content;
    return;
  }
  // A byte order mark is content like any other: what is served must come back byte for byte.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const chunk of content as AsyncIterable<Buffer | string>)
    yield typeof chunk === 'string' ? chunk : decode(() => decoder.decode(chunk, { stream: true }));
  yield decode(() => decoder.decode());
}

function decode(read: () => string): string {
  try {
    return read();
  } catch (cause) {
    throw new InvalidTextError('the bytes are not valid UTF-8, and a JSON string carries nothing else', { cause });
  }
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}
