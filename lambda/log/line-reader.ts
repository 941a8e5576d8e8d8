const newline = 0x0a;

/** Is told of every line of a text, in order. */
export interface LineListener {
  /**
   * A line has ended.
   * @param hash of its bytes without its LF: 53 bits, so that a pair of equal hashes in a log of a million lines is chance
   *   once in ten thousand logs
   * @param bytes its length without its LF
   * @param isOpen it is the last one and has no LF: it may go on in a later text
   * @param text hash of all lines up to here that have their LF
   * @param beginnings by length as the reader was asked for: the hash of its first bytes; undefined where it is shorter
   */
  line(hash: number, bytes: number, isOpen: boolean, text: number, beginnings: readonly (number | undefined)[]): void;
}

const seeds = [0xdeadbeef, 0x41c6ce57] as const;

/**
 * Reads a text as lines, the bytes between LFs, whatever they are. It keeps no byte: memory does not grow with a line.
 * A CR stays part of its line; bytes need not be UTF-8.
 */
export class LineReader {
  readonly #listener: LineListener;
  /** Lengths of the beginnings that are hashed on the way, ascending. */
  readonly #lengths: readonly number[];
  readonly #order: readonly number[];
  #beginnings: (number | undefined)[];
  #next = 0;
  #low: number = seeds[0];
  #high: number = seeds[1];
  #bytes = 0;
  #text = 0;

  /** @param beginnings lengths in bytes: of every line, the hash of so many first bytes is told as well */
  constructor(listener: LineListener, beginnings: readonly number[] = []) {
    this.#listener = listener;
    this.#order = beginnings.map((_, at) => at).sort((a, b) => (beginnings[a] ?? 0) - (beginnings[b] ?? 0));
    this.#lengths = this.#order.map((at) => beginnings[at] ?? 0);
    this.#beginnings = new Array(beginnings.length);
  }

  write(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      this.add(chunk, start, end < 0 ? chunk.length : end);
      if (end < 0) return;
      this.endLine();
      start = end + 1;
    }
  }

  /** An LF. */
  endLine(): void {
    this.#endLine(false);
  }

  /** Call this after the last chunk. A text that ends with LF has no line behind it. */
  end(): void {
    if (this.#bytes > 0) this.#endLine(true);
  }

  /** Bytes of a line. */
  add(chunk: Buffer, start: number, end: number): void {
    let from = start;
    for (let length = this.#lengths[this.#next]; length !== undefined; length = this.#lengths[this.#next]) {
      const to = from + length - this.#bytes;
      if (to > end) break;
      this.#hash(chunk, from, to);
      from = to;
      this.#beginnings[this.#order[this.#next] ?? 0] = this.#value();
      this.#next += 1;
    }
    this.#hash(chunk, from, end);
  }

  /** Two multiplications for a byte: more than a gigabyte is hashed in the time in which gunzip gives half of one. */
  #hash(chunk: Buffer, start: number, end: number): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = start; i < end; i += 1) {
      const byte = chunk[i] as number;
      low = Math.imul(low ^ byte, 0x9e3779b1);
      high = Math.imul(high ^ byte, 0x5f356495);
    }
    this.#low = low;
    this.#high = high;
    this.#bytes += end - start;
  }

  #value(): number {
    return mixed(this.#low, this.#high);
  }

  #endLine(isOpen: boolean): void {
    const hash = this.#value();
    if (!isOpen) this.#text = followed(this.#text, hash);
    this.#listener.line(hash, this.#bytes, isOpen, this.#text, this.#beginnings);
    this.#low = seeds[0];
    this.#high = seeds[1];
    this.#bytes = 0;
    this.#next = 0;
    if (this.#lengths.length > 0) this.#beginnings = new Array(this.#lengths.length);
  }
}

/** The hash of a text and one more line. The upper bits of both count too, which bitwise operators leave out. */
function followed(text: number, line: number): number {
  const low = Math.imul(text | 0, 0x9e3779b1) ^ line;
  const high = Math.imul((text / 0x1_0000_0000) | 0, 0x5f356495) ^ (line / 0x1_0000_0000);
  return mixed(low, high);
}

/** 53 bits of two numbers of 32 bits, each of which reaches all of them. */
function mixed(a: number, b: number): number {
  const low = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  const high = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0);
}
