import { createHash, type Hash } from 'node:crypto';
import type { StringSink } from './json/json-string-scanner';
import type { BodyFacts } from './resources';

/** Longest text that gets a hash, in bytes as received. For 200 MB it would cost more than it is worth (docs/decisions.md). */
export const mostHashedBytes = 64 * 1024 * 1024;

const lineFeed = 0x0a;

/** What is known of the text of a log without reading it again. */
export type LogText = Pick<BodyFacts, 'logLength' | 'logLines' | 'logSha256'>;

/**
 * Measures the text of a log while its record is scanned. A lone surrogate counts 3 bytes, as in Buffer.byteLength. Takes
 * invalid UTF-8, byte for byte. The scanner tells it what the text says; what was received, it has to be given by
 * {@link hash}.
 */
export class LogDigest implements StringSink {
  readonly #from: number;
  readonly #next: StringSink | undefined;
  #to = Number.POSITIVE_INFINITY;
  #hash: Hash | undefined = createHash('sha256');
  #hashed = 0;
  #bytes = 0;
  #lineFeeds = 0;
  #isLineOpen = false;

  /**
   * @param quoteAt offset of the opening quote in the record, in bytes
   * @param next gets the text too
   */
  constructor(quoteAt: number, next?: StringSink) {
    this.#from = quoteAt + 1;
    this.#next = next;
  }

  /** Call this once, after the last chunk. */
  result(): LogText {
    return {
      logLength: this.#bytes,
      logLines: this.#lineFeeds + (this.#isLineOpen ? 1 : 0),
      ...(this.#hash !== undefined && { logSha256: this.#hash.digest('hex') }),
    };
  }

  /** Call this with each chunk of the record after it was scanned. @param offset bytes of the record before it */
  hash(chunk: Buffer, offset: number): void {
    const from = Math.max(this.#from - offset, 0);
    const to = Math.min(this.#to - offset, chunk.length);
    if (this.#hash === undefined || from >= to) return;
    this.#hashed += to - from;
    if (this.#hashed > mostHashedBytes) this.#hash = undefined;
    else this.#hash.update(chunk.subarray(from, to));
  }

  text(bytes: Buffer, start: number, end: number): void {
    this.#next?.text(bytes, start, end);
    this.#bytes += end - start;
    this.#isLineOpen = true;
  }

  escape(codePoint: number): void {
    this.#next?.escape(codePoint);
    if (codePoint === lineFeed) this.#lineFeeds += 1;
    this.#isLineOpen = codePoint !== lineFeed;
    this.#bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
  }

  end(quoteAt: number): void {
    this.#next?.end?.(quoteAt);
    this.#to = quoteAt;
  }
}
