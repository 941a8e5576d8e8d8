import type { StringSink } from './json-string-scanner';

/** Longest text that a loop copies; calling the native copy costs more than it gains (measured); bytes. */
const longestLoop = 32;

/** Decodes one JSON string to UTF-8 while it arrives. */
export class JsonStringDecoder implements StringSink {
  private decoded = Buffer.alloc(0);
  private length = 0;
  /** First half of a surrogate pair whose second half is still to come; 0 for none. */
  private highSurrogate = 0;
  private hasLoneSurrogate = false;

  /** Whether the text so far has half a surrogate pair, which UTF-8 cannot say. */
  get loneSurrogate(): boolean {
    return this.hasLoneSurrogate;
  }

  /** To be called before each chunk of the document, with its length in bytes. */
  beginChunk(bytes: number): void {
    // An escape is longer than what it decodes to, but all of a pair's four bytes may come with its last digit.
    this.decoded = Buffer.allocUnsafe(bytes + 3);
    this.length = 0;
  }

  /** What the chunk decoded to. */
  takeChunk(): Buffer {
    return this.decoded.subarray(0, this.length);
  }

  text(bytes: Buffer, start: number, end: number): void {
    this.dropHighSurrogate();
    if (end - start > longestLoop) {
      this.length += bytes.copy(this.decoded, this.length, start, end);
      return;
    }
    const { decoded } = this;
    let to = this.length;
    for (let i = start; i < end; i++) decoded[to++] = bytes[i] as number;
    this.length = to;
  }

  escape(unit: number): void {
    if (this.highSurrogate !== 0 && unit >= 0xdc00 && unit <= 0xdfff) {
      const high = this.highSurrogate;
      this.highSurrogate = 0;
      this.append(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
      return;
    }
    this.dropHighSurrogate();
    if (unit >= 0xd800 && unit <= 0xdbff) this.highSurrogate = unit;
    else if (unit >= 0xdc00 && unit <= 0xdfff) this.hasLoneSurrogate = true;
    else this.append(unit);
  }

  end(): void {
    this.dropHighSurrogate();
  }

  private dropHighSurrogate(): void {
    if (this.highSurrogate === 0) return;
    this.highSurrogate = 0;
    this.hasLoneSurrogate = true;
  }

  private append(codePoint: number): void {
    const { decoded } = this;
    if (codePoint < 0x80) {
      decoded[this.length++] = codePoint;
    } else if (codePoint < 0x800) {
      decoded[this.length++] = 0xc0 | (codePoint >> 6);
      decoded[this.length++] = 0x80 | (codePoint & 0x3f);
    } else if (codePoint < 0x10000) {
      decoded[this.length++] = 0xe0 | (codePoint >> 12);
      decoded[this.length++] = 0x80 | ((codePoint >> 6) & 0x3f);
      decoded[this.length++] = 0x80 | (codePoint & 0x3f);
    } else {
      decoded[this.length++] = 0xf0 | (codePoint >> 18);
      decoded[this.length++] = 0x80 | ((codePoint >> 12) & 0x3f);
      decoded[this.length++] = 0x80 | ((codePoint >> 6) & 0x3f);
      decoded[this.length++] = 0x80 | (codePoint & 0x3f);
    }
  }
}
