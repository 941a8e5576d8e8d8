import type { StringSink } from '../../format/json/json-string-scanner';
import { LogEnd, mostCompared } from './log-end';
import { type Seam, seamBetween } from './seam';

const lineFeed = 0x0a;

const seeds = [0xdeadbeef, 0x41c6ce57] as const;

/** A text that was read to its end, and how it follows the earlier one that it was compared with. */
export interface ReadLog {
  readonly end: LogEnd;
  /** Undefined without an earlier text. */
  readonly seam: Seam | undefined;
}

/**
 * Reads the text of a log once, in any chunks, and compares it with an earlier one. Lines are the bytes between LFs, whatever
 * they are: a CR stays part of its line, and bytes need not be UTF-8. It keeps no byte: memory does not grow with a line.
 * As a sink it takes the text from the JSON string that it stands in: copying it before would take as long as reading it. Half a
 * surrogate pair, which UTF-8 cannot represent, is left out.
 */
export class LogReader implements StringSink {
  readonly #base: LogEnd | undefined;
  readonly #end = new LogEnd();
  readonly #beginningBytes: number;
  readonly #character = Buffer.alloc(4);
  #beginning: number | undefined;
  #low: number = seeds[0];
  #high: number = seeds[1];
  #bytes = 0;

  /** @param base the end of the earlier text */
  constructor(base?: LogEnd) {
    this.#base = base;
    this.#beginningBytes = base?.openBytes ?? 0;
  }

  /** A part of a text that is not written as a JSON string. */
  write(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      this.text(chunk, start, end < 0 ? chunk.length : end);
      if (end < 0) return;
      this.#endLine(false);
      start = end + 1;
    }
  }

  /** Bytes of a line. */
  text(bytes: Buffer, start: number, end: number): void {
    const missing = this.#beginningBytes - this.#bytes;
    const from = missing > 0 && start + missing <= end ? start + missing : start;
    if (from > start) {
      this.#hash(bytes, start, from);
      this.#beginning = mixed(this.#low, this.#high);
    }
    this.#hash(bytes, from, end);
  }

  escape(codePoint: number): void {
    if (codePoint === lineFeed) this.#endLine(false);
    else if (codePoint < 0xd800 || codePoint > 0xdfff) {
      const length = this.#character.write(String.fromCodePoint(codePoint));
      this.text(this.#character, 0, length);
    }
  }

  /** Call this once, after the text. One that ends with LF has no line behind it. */
  result(): ReadLog {
    if (this.#bytes > 0) this.#endLine(true);
    const end = this.#end;
    end.keep(mostCompared);
    const seam = this.#base && seamBetween(this.#base, end);
    end.beginnings = [];
    return { end, seam };
  }

  /** Two multiplications for a byte: more than a gigabyte is hashed in the time in which gunzip gives half of one. */
  #hash(bytes: Buffer, start: number, end: number): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = start; i < end; i += 1) {
      const byte = bytes[i] as number;
      low = Math.imul(low ^ byte, 0x9e3779b1);
      high = Math.imul(high ^ byte, 0x5f356495);
    }
    this.#low = low;
    this.#high = high;
    this.#bytes += end - start;
  }

  #endLine(isOpen: boolean): void {
    this.#end.line(mixed(this.#low, this.#high), this.#bytes, isOpen, this.#beginning);
    this.#low = seeds[0];
    this.#high = seeds[1];
    this.#bytes = 0;
    this.#beginning = undefined;
  }
}

/** 53 bits of two numbers of 32 bits, each of which reaches all of them. */
function mixed(a: number, b: number): number {
  const low = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  const high = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0);
}
