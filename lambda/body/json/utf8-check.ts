import { isUtf8 } from 'node:buffer';

/** Checks that chunks, split anywhere, are one stream of UTF-8: nothing overlong, no surrogates, nothing above U+10FFFF. */
export class Utf8Check {
  /** Continuation bytes that the current character still needs; 0 between characters. */
  #needed = 0;
  /** Range of the next continuation byte. Only the byte after the lead byte has a narrower one. */
  #lowest = 0x80;
  #highest = 0xbf;

  /** Whether the stream so far ends between characters. */
  get complete(): boolean {
    return this.#needed === 0;
  }

  /**
   * Checks the bytes of the chunk from `from` on. After an invalid byte, call {@link restart} before the next call.
   * @returns the index of the first byte that cannot be UTF-8; the chunk's length if there is none
   */
  write(chunk: Buffer, from = 0): number {
    let i = from;
    while (i < chunk.length && this.#needed > 0) {
      if (!this.#step(chunk[i] as number)) return i;
      i += 1;
    }
    // The native check is some twenty times as fast, but it takes only whole characters and does not say where it failed.
    // It reads the whole chunk even if the first byte is invalid, so it runs once per chunk.
    if (from === 0) {
      const last = chunk.findLastIndex(beginsCharacter);
      if (last > i && isUtf8(chunk.subarray(i, last))) i = last;
    }
    while (i < chunk.length) {
      if (!this.#step(chunk[i] as number)) return i;
      i += 1;
    }
    return i;
  }

  /** Forgets the bytes before an invalid one, which {@link write} has found. Go on with the byte after it. */
  restart(): void {
    this.#begin(0);
  }

  #step(byte: number): boolean {
    if (this.#needed > 0) {
      if (byte < this.#lowest || byte > this.#highest) return false;
      this.#begin(this.#needed - 1);
      return true;
    }
    if (byte < 0x80) return true;
    if (byte < 0xc2 || byte > 0xf4) return false;
    this.#begin(byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3);
    if (byte === 0xe0) this.#lowest = 0xa0;
    if (byte === 0xed) this.#highest = 0x9f;
    if (byte === 0xf0) this.#lowest = 0x90;
    if (byte === 0xf4) this.#highest = 0x8f;
    return true;
  }

  #begin(needed: number): void {
    this.#needed = needed;
    this.#lowest = 0x80;
    this.#highest = 0xbf;
  }
}

function beginsCharacter(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}
