/** Lines of a log that are compared: 24 bytes each. */
export const mostCompared = 100_000;

/** Bytes at the beginning and at the end of a line that a {@link LogLines.marks mark} has a hash of. */
export const edgeBytes = 4;

/** Lines that follow each other, as far as they are compared with those of other texts. */
export class LogLines {
  /** Of each line without its line end, be it LF or CRLF. A last one that may go on is hashed as it is. */
  readonly hashes: readonly number[];
  /** Of each line in bytes, without its line end. */
  readonly lengths: readonly number[];
  /** Of each line, whether it ends with CRLF, and hashes of its first and last bytes; see {@link markOf}. */
  readonly marks: readonly number[];
  /** Lines before the first one, and behind the last one, that are not kept. */
  readonly from: number;
  readonly behind: number;

  constructor(
    { hashes, lengths, marks }: Pick<LogLines, 'hashes' | 'lengths' | 'marks'>,
    { from = 0, behind = 0 }: { readonly from?: number; readonly behind?: number } = {},
  ) {
    this.hashes = hashes;
    this.lengths = lengths;
    this.marks = marks;
    this.from = from;
    this.behind = behind;
  }

  /** Lines that are kept. */
  get count(): number {
    return this.hashes.length;
  }

  /** All lines. */
  get total(): number {
    return this.from + this.count + this.behind;
  }

  /** Some of the kept lines. @param from a kept line, from 0 @param to the one behind the last */
  part(from: number, to: number): LogLines {
    const [start, end] = [Math.max(from, 0), Math.max(to, from, 0)];
    const cut = (list: readonly number[]) => list.slice(start, end);
    return new LogLines(
      { hashes: cut(this.hashes), lengths: cut(this.lengths), marks: cut(this.marks) },
      { from: this.from + start, behind: this.total - this.from - Math.min(end, this.count) },
    );
  }

  /** The same lines, the last one first. */
  reversed(): LogLines {
    const { hashes, lengths, marks, from, behind } = this;
    return new LogLines(
      { hashes: hashes.toReversed(), lengths: lengths.toReversed(), marks: marks.toReversed() },
      { from: behind, behind: from },
    );
  }

  /** The bytes of a kept line and of its LF or CRLF. */
  width(line: number): number {
    return (this.lengths[line] ?? 0) + (isCrLf(this.marks[line]) ? 2 : 1);
  }

  /** Whether a line may be the end of another one, which was cut at its beginning. */
  isEndOf(line: number, others: LogLines, other: number): boolean {
    return this.#isPartOf(line, others, other, tailBits);
  }

  /** Whether a line may be the beginning of another one, which was cut at its end. */
  isBeginningOf(line: number, others: LogLines, other: number): boolean {
    return this.#isPartOf(line, others, other, headBits);
  }

  #isPartOf(line: number, others: LogLines, other: number, bits: number): boolean {
    const length = this.lengths[line] ?? 0;
    if (length >= (others.lengths[other] ?? 0)) return false;
    return length < edgeBytes || ((this.marks[line] ?? 0) & bits) === ((others.marks[other] ?? 0) & bits);
  }
}

const headBits = 0xfffe;
const tailBits = 0x7fff0000;

/**
 * What is kept of a line besides its hash and its length: 1 bit for CRLF, 15 for its first and 15 for its last bytes.
 * @param head its first {@link edgeBytes} bytes as a number, and `tail` its last ones
 */
export function markOf(isCrLfEnd: boolean, head: number, tail: number): number {
  return (fold(tail) << 16) | (fold(head) << 1) | (isCrLfEnd ? 1 : 0);
}

/** 15 bits of 32. */
function fold(bytes: number): number {
  return Math.imul(bytes ^ (bytes >>> 15), 0x2c1b3c6d) >>> 17;
}

export function isCrLf(mark = 0): boolean {
  return (mark & 1) === 1;
}

/** Whether two lines are the same. */
export function isSame(lines: LogLines, line: number, others: LogLines, other: number): boolean {
  return lines.hashes[line] === others.hashes[other];
}

/** Whether a line may be a part of another one. */
export function isPart(lines: LogLines, line: number, others: LogLines, other: number): boolean {
  return lines.isEndOf(line, others, other) || lines.isBeginningOf(line, others, other);
}
