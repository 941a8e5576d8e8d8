import { createHash } from 'node:crypto';
import type { Content } from '../archive/archive-object';
import type { BodyFacts } from '../resources';
import type { BodyCheck } from './body-check';
import type { Compressor } from './compress';
import { LongBody, pieceBytes } from './long-body';

/** The body has more decoded content than is accepted. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

export interface Receiver {
  readonly spoolDirectory: string;
  readonly compressor: Compressor;
  /** Largest body accepted, in bytes of what the source yields. */
  readonly maxBytes: number;
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

/**
 * Receives one body whole while it is counted, checked, hashed and compressed; memory does not grow with the body.
 * @throws BodyTooLargeError, InvalidBodyError, NotDecodableError, SpoolError; whatever the source throws passes through
 */
export async function receive(
  source: AsyncIterable<Buffer>,
  check: BodyCheck,
  { spoolDirectory, compressor, maxBytes }: Receiver,
): Promise<ReceivedBody> {
  const hash = createHash('sha256');
  let received = 0;
  let length = 0;
  /** What came of a body that may turn out to be short. */
  let parts: Buffer[] = [];
  let long: LongBody | undefined;
  try {
    for await (const chunk of source) {
      received += chunk.length;
      if (received > maxBytes) throw new BodyTooLargeError(`more than ${maxBytes} bytes`);
      const content = check.write(chunk);
      if (content.length === 0) continue;
      length += content.length;
      parts.push(content);
      if (length < pieceBytes) continue;
      long ??= new LongBody(compressor.stream(), spoolDirectory, (piece) => hash.update(piece));
      for (const part of parts) await long.write(part);
      parts = [];
    }
    const facts = check.end();
    if (long === undefined) {
      const [only] = parts;
      const whole = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, length);
      const sha256 = hash.update(whole).digest('hex');
      const content = await compressor.all(whole);
      return { facts, sha256, length, storedLength: content.length, content, release: () => Promise.resolve() };
    }
    const body = long;
    const content = await body.end();
    const release = () => body.release();
    return { facts, sha256: hash.digest('hex'), length, storedLength: content.length, content, release };
  } catch (error) {
    await long?.release();
    throw error;
  }
}
