import { isUtf8 } from 'node:buffer';

/** Checks that chunks split anywhere are one stream of UTF-8: nothing overlong, no surrogates, nothing above U+10FFFF. */
export class Utf8Check {
  /** Continuation bytes that the character under way still needs; 0 between characters. */
  private needed = 0;
  /** What the next continuation byte may be; only the one after the lead byte has a narrower range. */
  private lowest = 0x80;
  private highest = 0xbf;

  /** Whether the stream so far ends between characters. */
  get complete(): boolean {
    return this.needed === 0;
  }

  /** @returns the index of the first byte that cannot be UTF-8, or the chunk's length; after an index, do not go on */
  write(chunk: Buffer): number {
    let i = 0;
    while (i < chunk.length && this.needed > 0) {
      if (!this.step(chunk[i] as number)) return i;
      i++;
    }
    // The native check is some twenty times as fast, but it knows only whole characters and says only yes or no.
    const whole = endOfWholeCharacters(chunk, i);
    if (isUtf8(chunk.subarray(i, whole))) i = whole;
    while (i < chunk.length) {
      if (!this.step(chunk[i] as number)) return i;
      i++;
    }
    return i;
  }

  private step(byte: number): boolean {
    if (this.needed > 0) {
      if (byte < this.lowest || byte > this.highest) return false;
      this.needed--;
      this.lowest = 0x80;
      this.highest = 0xbf;
      return true;
    }
    if (byte < 0x80) return true;
    if (byte < 0xc2 || byte > 0xf4) return false;
    this.needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    if (byte === 0xe0) this.lowest = 0xa0;
    if (byte === 0xed) this.highest = 0x9f;
    if (byte === 0xf0) this.lowest = 0x90;
    if (byte === 0xf4) this.highest = 0x8f;
    return true;
  }
}

/** Where the character begins that the chunk's end cuts; the chunk's length if it cuts none. */
function endOfWholeCharacters(chunk: Buffer, from: number): number {
  for (let i = chunk.length - 1; i >= Math.max(from, chunk.length - 3); i--) {
    const byte = chunk[i] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      return i + length > chunk.length ? i : chunk.length;
    }
  }
  return chunk.length;
}
