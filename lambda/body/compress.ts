import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Content } from '../archive/archive-object';
import type { Spool } from './spool';

/** As measured (docs/performance.md): the default level 6 makes logs a tenth smaller in twice the time. */
const level = 1;

/**
 * Content is compressed in pieces of this many bytes: compressing the 16 KB that TLS hands over costs 1.6 times as much. What
 * is shorter than one piece needs no stream at all.
 */
const pieceBytes = 256 * 1024;

/** Length in bytes of a stream's output buffers, each a trip to the thread pool. */
const streamChunkBytes = 64 * 1024;

/**
 * Length in bytes of the output buffer for content that is in memory. Logs compress to a quarter. A larger buffer would
 * stay alive until the next garbage collection.
 */
function outputBytes(contentBytes: number): number {
  return Math.min(32 * 1024, Math.max(1024, Math.ceil(contentBytes / 3)));
}

/**
 * How many short bodies are decoded or compressed before the event loop looks at the network again. A hundred answers can
 * arrive together, and each takes up to a millisecond: without a bound, the service and the archive wait for the collector
 * meanwhile, and the collector then waits for them. 6 to 16 make no difference; one a round costs a tenth more.
 */
const bodiesPerRound = 8;

let bodies = 0;
let round: Promise<void> = Promise.resolve();

/** Resolves when another short body may be worked on, in the order of the calls. */
export function nextInRound(): Promise<void> {
  bodies += 1;
  if (bodies % bodiesPerRound === 0) round = round.then(() => new Promise((resolve) => setImmediate(resolve)));
  return round;
}

/**
 * Compresses short content at once; the same content always gives the same bytes. A trip to zlib's thread pool would take a
 * tenth of a fleet's time, and gains nothing where there is one processor.
 */
export function gzipShort(content: Buffer): Buffer {
  return gzipSync(content, { level, chunkSize: outputBytes(content.length) });
}

/** Compresses long content in zlib's thread pool. Fed in pieces of fixed length, so that the output depends on the content alone. */
export function createGzipStream(): Transform {
  return createGzip({ level, chunkSize: streamChunkBytes });
}

/**
 * Content that the collector compresses: whole if it is short, piece by piece into a spool if it is long. Two buffers take
 * turns for its whole length, one filling while the other is compressed: a new one for each piece would keep the garbage
 * collector as busy as the check.
 */
export class CompressedBody {
  readonly #spool: Spool;
  /** What is not compressed yet. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Undefined as long as the content may turn out to be short. */
  #stream: Transform | undefined;
  #spooled: Promise<void> = Promise.resolve();
  #buffers: Buffer[] = [];
  #compressed: Promise<void> = Promise.resolve();
  /** Ends what waits for the compressor. */
  #onBroken: (error: unknown) => void = () => undefined;

  /** @param spool gets the compressed content of a long body */
  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** @returns resolves when more may come; undefined: at once, without the cost of a promise. @throws SpoolError */
  write(content: Buffer): Promise<void> | undefined {
    this.#parts.push(content);
    this.#length += content.length;
    return this.#length < pieceBytes ? undefined : this.#compressPieces();
  }

  /** To be called after the last content. @returns the compressed content @throws SpoolError */
  async end(): Promise<Content> {
    if (this.#stream === undefined) {
      const [only] = this.#parts;
      const whole = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#length);
      await nextInRound();
      return gzipShort(whole);
    }
    await this.#compressPiece(this.#stream);
    await this.#compressed;
    this.#stream.end();
    await this.#spooled;
    return this.#spool.end();
  }

  /** Ends compressing, at whatever point it is; safe more than once. Nothing is written to the spool any more. */
  async stop(): Promise<void> {
    this.#stream?.destroy();
    await this.#spooled.catch(() => undefined);
  }

  async #compressPieces(): Promise<void> {
    this.#stream ??= this.#begin();
    while (this.#length >= pieceBytes) await this.#compressPiece(this.#stream);
  }

  #begin(): Transform {
    const stream = createGzipStream();
    this.#buffers = [Buffer.allocUnsafeSlow(pieceBytes), Buffer.allocUnsafeSlow(pieceBytes)];
    this.#spooled = pipeline(stream, async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) await this.#spool.write(chunk);
    });
    // The next write, or the end, throws this error. A stream that is gone may never call back.
    this.#spooled.catch((error: unknown) => this.#onBroken(error));
    return stream;
  }

  async #compressPiece(stream: Transform): Promise<void> {
    const piece = this.#takePiece();
    // Only now is the other buffer free to be filled.
    await this.#compressed;
    this.#compressed = this.#send(stream, piece);
    this.#compressed.catch(() => undefined);
    this.#buffers.reverse();
  }

  /** Copies the next piece, the last one shorter. */
  #takePiece(): Buffer {
    const [buffer = Buffer.alloc(0)] = this.#buffers;
    let filled = 0;
    for (const part of this.#parts.splice(0)) {
      const copied = part.copy(buffer, filled);
      filled += copied;
      if (copied < part.length) this.#parts.push(part.subarray(copied));
    }
    this.#length -= filled;
    return buffer.subarray(0, filled);
  }

  /** Resolves when the piece has been read to its end. */
  #send(stream: Transform, piece: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onBroken = reject;
      stream.write(piece, (error) => {
        if (error) this.#spooled.then(() => reject(error), reject);
        else resolve();
      });
    });
  }
}
