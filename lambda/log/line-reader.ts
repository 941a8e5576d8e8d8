import type { StringSink } from '../body/json/json-string-scanner';

const lineFeed = 0x0a;

/** Is told of every line of a text, in order. */
export interface LineListener {
  /**
   * A line has ended.
   * @param hash of its bytes without its LF: 53 bits, so that a pair of equal hashes in a log of a million lines is chance
   *   once in ten thousand logs
   * @param bytes its length without its LF
   * @param isOpen it is the last one and has no LF: it may go on in a later text
   * @param text hash of all lines up to here that have their LF, as {@link withLine} has it
   * @param beginnings by length as the reader was asked for: the hash of its first bytes; undefined where it is shorter
   */
  line(hash: number, bytes: number, isOpen: boolean, text: number, beginnings: readonly (number | undefined)[]): void;
}

const seeds = [0xdeadbeef, 0x41c6ce57] as const;

/**
 * Reads a text as lines, the bytes between LFs, whatever they are. It keeps no byte: memory does not grow with a line.
 * A CR stays part of its line; bytes need not be UTF-8. As a sink it takes the text from the JSON string that it stands in:
 * copying it before would take as long as reading it. Half a surrogate pair, which UTF-8 cannot represent, is left out.
 */
export class LineReader implements StringSink {
  readonly #listener: LineListener;
  /** Lengths of the beginnings that are hashed on the way, ascending. */
  readonly #lengths: readonly number[];
  readonly #character = Buffer.alloc(4);
  #beginnings: (number | undefined)[];
  #next = 0;
  #low: number = seeds[0];
  #high: number = seeds[1];
  #bytes = 0;
  #text = 0;

  /** @param beginnings lengths in bytes, ascending: of every line, the hash of so many first bytes is told as well */
  constructor(listener: LineListener, beginnings: readonly number[] = []) {
    this.#listener = listener;
    this.#lengths = beginnings;
    this.#beginnings = new Array(beginnings.length);
  }

  /** A part of a text that stands in no JSON string. */
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
    let from = start;
    for (let length = this.#lengths[this.#next]; length !== undefined; length = this.#lengths[this.#next]) {
      const to = from + length - this.#bytes;
      if (to > end) break;
      this.#hash(bytes, from, to);
      from = to;
      this.#beginnings[this.#next] = mixed(this.#low, this.#high);
      this.#next += 1;
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

  /** The text is over. One that ends with LF has no line behind it. */
  end(): void {
    if (this.#bytes > 0) this.#endLine(true);
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
    const hash = mixed(this.#low, this.#high);
    if (!isOpen) this.#text = withLine(this.#text, hash);
    this.#listener.line(hash, this.#bytes, isOpen, this.#text, this.#beginnings);
    this.#low = seeds[0];
    this.#high = seeds[1];
    this.#bytes = 0;
    this.#next = 0;
    if (this.#lengths.length > 0) this.#beginnings = new Array(this.#lengths.length);
  }
}

/** 53 bits of two numbers of 32 bits, each of which reaches all of them. */
function mixed(a: number, b: number): number {
  const low = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  const high = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return joined(low, high);
}

const two32 = 0x1_0000_0000;

function joined(low: number, high: number): number {
  return (high & 0x1fffff) * two32 + (low >>> 0);
}

/** By what the hash of a text is multiplied for each line behind it: both halves are odd. */
export const multiplier = joined(0x9e3779b1, 0x5f356495);

/** Its power of 0. */
export const unit = joined(1, 1);

/**
 * The hash of a text and one more line. The hashes of the lines are the coefficients of a polynomial, so that the hash of a
 * text's last lines follows from two hashes of the text ({@link linesBetween}).
 */
export function withLine(text: number, line: number): number {
  return plus(times(text, multiplier), line);
}

/**
 * The hash of lines as if no other were before them.
 * @param text hash up to the last of them
 * @param before hash up to the line before the first
 * @param power {@link multiplier} to the power of their number
 */
export function linesBetween(before: number, text: number, power: number): number {
  const others = times(before, power);
  return joined((text | 0) - (others | 0), upper(text) - upper(others));
}

/** Products and sums are of the lower 32 bits and of the upper 21 by themselves. */
export function times(a: number, b: number): number {
  return joined(Math.imul(a | 0, b | 0), Math.imul(upper(a), upper(b)));
}

export function plus(a: number, b: number): number {
  return joined((a | 0) + (b | 0), upper(a) + upper(b));
}

function upper(value: number): number {
  return (value / two32) | 0;
}
