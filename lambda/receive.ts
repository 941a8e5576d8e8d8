import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BodyCheck, BodyFacts } from './body-check';
import type { Compressor } from './compress';
import type { ReceivedBody } from './resource-request';
import { Spool } from './spool';

/** The body has more decoded content than is accepted. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/**
 * Content is hashed and compressed in pieces of this many bytes: compressing the 16 KB that TLS hands over costs 1.6
 * times as much. What is shorter than one piece needs no stream at all.
 */
const pieceBytes = 256 * 1024;

export interface Receiver {
  readonly spoolDirectory: string;
  readonly compressor: Compressor;
  /** Largest body accepted, in bytes of what the source yields. */
  readonly maxBytes: number;
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
  let length = 0;
  let facts: BodyFacts = {};

  async function* checkedPieces(): AsyncGenerator<Buffer> {
    let received = 0;
    let parts: Buffer[] = [];
    let partsLength = 0;
    for await (const chunk of source) {
      received += chunk.length;
      if (received > maxBytes) throw new BodyTooLargeError(`more than ${maxBytes} bytes`);
      let checked = check.write(chunk);
      while (partsLength + checked.length >= pieceBytes) {
        const end = pieceBytes - partsLength;
        yield joined([...parts, checked.subarray(0, end)]);
        checked = checked.subarray(end);
        parts = [];
        partsLength = 0;
      }
      if (checked.length > 0) parts.push(checked);
      partsLength += checked.length;
    }
    facts = check.end();
    if (partsLength > 0) yield joined(parts);
  }

  function joined(parts: Buffer[]): Buffer {
    const [only] = parts;
    const piece = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    hash.update(piece);
    length += piece.length;
    return piece;
  }

  const pieces = checkedPieces();
  const first = await pieces.next();
  const firstPiece = first.done === true ? Buffer.alloc(0) : first.value;
  if (firstPiece.length < pieceBytes) {
    // The last piece comes after the check's end, but only a generator that is done has run to its own.
    await pieces.next();
    const content = await compressor.all(firstPiece);
    const release = () => Promise.resolve();
    return { facts, sha256: hash.digest('hex'), length, storedLength: content.length, content, release };
  }

  async function* withFirst(): AsyncGenerator<Buffer> {
    yield firstPiece;
    yield* pieces;
  }

  const spool = new Spool(spoolDirectory);
  try {
    await pipeline(Readable.from(withFirst(), { highWaterMark: 1 }), compressor.stream(), spool);
    const content = spool.content();
    const release = () => spool.release();
    return { facts, sha256: hash.digest('hex'), length, storedLength: content.length, content, release };
  } catch (error) {
    await spool.release();
    throw error;
  }
}
