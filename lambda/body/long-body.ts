import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Content } from '../archive/archive-object';
import { Spool } from './spool';

/**
 * A body is hashed and compressed in pieces of this many bytes: compressing the 16 KB that TLS hands over costs 1.6 times
 * as much. What is shorter than one piece needs no stream at all.
 */
export const pieceBytes = 256 * 1024;

/**
 * Compresses a body piece by piece into a spool. Two buffers take turns for its whole length, one filling while the other
 * is compressed: a new one for each piece would keep the garbage collector as busy as the check.
 */
export class LongBody {
  readonly #compress: Transform;
  readonly #spool: Spool;
  readonly #onPiece: (piece: Buffer) => void;
  readonly #spooled: Promise<void>;
  #filling = Buffer.allocUnsafeSlow(pieceBytes);
  #filled = 0;
  #compressing = Buffer.allocUnsafeSlow(pieceBytes);
  #compressed: Promise<void> = Promise.resolve();
  /** Ends what waits for the compressor. */
  #onBroken: (error: unknown) => void = () => undefined;

  /** @param onPiece called with each piece, the last one shorter, before it is compressed */
  constructor(compress: Transform, spoolDirectory: string, onPiece: (piece: Buffer) => void) {
    this.#compress = compress;
    this.#spool = new Spool(spoolDirectory);
    this.#onPiece = onPiece;
    this.#spooled = pipeline(compress, async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) await this.#spool.write(chunk);
    });
    // The next write, or the end, throws this error. A stream that is gone may never call back.
    this.#spooled.catch((error: unknown) => this.#onBroken(error));
  }

  /**
   * Copies the content. Most writes only do that, and need no promise.
   * @returns resolves when more may come; undefined: at once
   * @throws SpoolError
   */
  write(content: Buffer): Promise<void> | undefined {
    const copied = content.copy(this.#filling, this.#filled);
    this.#filled += copied;
    if (this.#filled < pieceBytes) return undefined;
    return copied < content.length ? this.#flush().then(() => this.write(content.subarray(copied))) : this.#flush();
  }

  /**
   * To be called after the last content.
   * @returns the whole body, compressed
   * @throws SpoolError
   */
  async end(): Promise<Content> {
    await this.#flush();
    await this.#compressed;
    this.#compress.end();
    await this.#spooled;
    return this.#spool.end();
  }

  /** Forgets the body, at whatever point it is; safe more than once. */
  async release(): Promise<void> {
    this.#compress.destroy();
    await this.#spooled.catch(() => undefined);
    await this.#spool.release();
  }

  async #flush(): Promise<void> {
    const piece = this.#filling.subarray(0, this.#filled);
    this.#onPiece(piece);
    // Only now is the other buffer free to be filled.
    await this.#compressed;
    this.#compressed = this.#send(piece);
    this.#compressed.catch(() => undefined);
    [this.#filling, this.#compressing] = [this.#compressing, this.#filling];
    this.#filled = 0;
  }

  /** Resolves when the piece has been read to its end. */
  #send(piece: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onBroken = reject;
      this.#compress.write(piece, (error) => {
        if (error) this.#spooled.then(() => reject(error), reject);
        else resolve();
      });
    });
  }
}
