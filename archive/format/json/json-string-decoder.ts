import type { StringSink } from './json-string-scanner';

/** Longest text that is copied byte by byte, in bytes: there, calling the native copy costs more than it gains (measured). */
const longestLoop = 32;

/** Decodes one JSON string to UTF-8 while it arrives. */
export class JsonStringDecoder implements StringSink {
  #decoded: Buffer = Buffer.alloc(0);
  #length = 0;
  #loneSurrogate = false;

  /** Whether the text so far has half a surrogate pair, which UTF-8 cannot represent. */
  get loneSurrogate(): boolean {
    return this.#loneSurrogate;
  }

  /**
   * Call this before each chunk of the document.
   * @param bytes the chunk's length
   */
  beginChunk(bytes: number): void {
    // An escape is longer than what it decodes to, but the four bytes of a character may all come with its last byte.
    this.#decoded = Buffer.allocUnsafe(bytes + 3);
    this.#length = 0;
  }

  /** @returns what the chunk decoded to */
  takeChunk(): Buffer {
    return this.#decoded.subarray(0, this.#length);
  }

  text(bytes: Buffer, start: number, end: number): void {
    if (end - start > longestLoop) {
      this.#length += bytes.copy(this.#decoded, this.#length, start, end);
      return;
    }
    const decoded = this.#decoded;
    let to = this.#length;
    for (let i = start; i < end; i += 1) {
      decoded[to] = bytes[i] as number;
      to += 1;
    }
    this.#length = to;
  }

  escape(codePoint: number): void {
    if (codePoint < 0x80) {
      this.#decoded[this.#length] = codePoint;
      this.#length += 1;
    } else if (codePoint >= 0xd800 && codePoint <= 0xdfff) this.#loneSurrogate = true;
    else this.#length += this.#decoded.write(String.fromCodePoint(codePoint), this.#length);
  }
}
