import { type LineListener, linesBetween, multiplier, plus, times, unit, withLine } from './line-reader';
import type { LogEnd, LogEndKeeper } from './log-end';

/** What a later text has of an earlier one's end. */
export interface Overlap {
  /** Lines of the later text up to the earlier one's end. Behind them is what is new. */
  readonly lines: number;
  /** Bytes of the later text up to there. Where the earlier text's last line went on, that is inside a line. */
  readonly bytes: number;
  /** Where the first line begins that the earlier text does not have whole, in bytes of the later text. */
  readonly lineFrom: number;
  /** The overlap is less than a proof, but all of the earlier text from its first byte. */
  readonly isShort: boolean;
  /** Lines that repeat allow another overlap too. */
  readonly isAmbiguous: boolean;
}

type Place = Pick<Overlap, 'lines' | 'bytes' | 'lineFrom'>;

/** An overlap of so many lines, each unlike the line before it, is no chance. */
const proofLines = 3;
/** Neither is one of so many bytes of such lines. */
const proofBytes = 200;

/**
 * Searches a text, line by line, for the end of an earlier one. It finds, in this order,
 * - all of the earlier text from its first byte, where the text begins: the log grew;
 * - all that is known of the earlier text, anywhere: the later one reaches further back. Of several places the last;
 * - the longest end of the earlier text that the text begins with: lines at the beginning have gone.
 *
 * The first line of either text may be cut at its beginning. If another follows, it is compared only with a line of the same
 * length: one that is cut has another. The earlier text's last line may have gone on. The lines behind the first, at most as
 * many as are known of the earlier text, are compared with as many from its end by the hash of them all: after each line, that
 * is one comparison, however often lines repeat. The longest such end is the last that is found.
 */
export class OverlapSearch implements LineListener {
  readonly #base: LogEnd;
  readonly #later: LogEndKeeper;
  /** Which of the beginnings that the reader tells is that of the earlier text's open line. */
  readonly #beginning: number;
  /** Lines of the earlier text before those that are compared whole: its first known one, which may be cut. */
  readonly #skipped: number;
  /** How many those are; its open line is none of them. */
  readonly #most: number;
  /** Lines of the earlier text, from its end, that make a proof. */
  readonly #needed: number;
  #lines = 0;
  #bytes = 0;
  /** How many of the last lines the earlier text ends with; -1 if it does not. */
  #matched = -1;
  /** Hashes of as many lines from the end of either text, and the multiplier's power by their number. */
  #own = 0;
  #wanted = 0;
  #power = unit;
  /** Hash of the lines so far. */
  #text = 0;
  /** Behind the first line, which counts if there is no other. */
  #only: Place | undefined;
  #anchored: Place | undefined;
  #last: Place | undefined;
  #places = 0;

  /**
   * @param later keeps at least as many lines as are known of the earlier text, and each one before it comes here
   * @param beginning the index, among the beginnings that the reader tells, of {@link openBytes}
   */
  constructor(base: LogEnd, later: LogEndKeeper, beginning: number) {
    this.#base = base;
    this.#later = later;
    this.#beginning = beginning;
    const { length } = base.hashes;
    this.#skipped = length > 1 ? 1 : 0;
    this.#most = Math.max(length - this.#skipped - (base.isOpen ? 1 : 0), 0);
    this.#needed = linesNeeded(base, this.#skipped);
  }

  line(hash: number, bytes: number, isOpen: boolean, text: number, beginnings: readonly (number | undefined)[]): void {
    const { isOpen: mayGoOn, hashes, bytes: sizes } = this.#base;
    const isFirst = this.#lines === 0;
    if (mayGoOn && beginnings[this.#beginning] === hashes.at(-1))
      this.#found(placeInLine(this.#lines, this.#bytes, bytes, sizes.at(-1) ?? 0), isFirst);
    this.#lines += 1;
    this.#text = text;
    this.#bytes += bytes + (isOpen ? 0 : 1);
    this.#matched = isOpen ? -1 : this.#match(hash);
    if (!mayGoOn && !isOpen)
      this.#found({ lines: this.#lines, bytes: this.#bytes, lineFrom: this.#bytes }, isFirst && hash === hashes.at(-1));
  }

  /** The overlap; undefined if there is none, or only one that proves nothing. */
  end(): Overlap | undefined {
    const isAmbiguous = this.#places > 1;
    if (this.#anchored !== undefined) {
      const isShort = linesNeeded(this.#base, 0) > this.#base.lines;
      return { ...this.#anchored, isShort, isAmbiguous };
    }
    const place = this.#lines === 1 ? this.#only : this.#last;
    return place && { ...place, isShort: false, isAmbiguous };
  }

  /** @param isOnly it is all of the text if no other line follows */
  #found(place: Place, isOnly: boolean): void {
    const { isOpen, lines, text } = this.#base;
    const open = isOpen ? 1 : 0;
    if (isOnly && this.#needed <= 1) this.#only = place;
    if (this.#lines + open === lines && this.#text === text) this.#anchored = place;
    if (this.#matched < 0 || this.#matched + open < this.#needed) return;
    this.#last = place;
    this.#places += 1;
  }

  #match(hash: number): number {
    const { hashes, bytes } = this.#base;
    // The first line is not compared.
    const length = Math.min(this.#lines - 1, this.#most);
    const before = this.#lines - 1 - length;
    const beforeEnd = this.#skipped + this.#most - length;
    if (this.#lines > 1) this.#own = withLine(this.#own, hash);
    if (before > 0) this.#own = linesBetween(this.#later.hashOf(before), this.#own, this.#power);
    else if (length > 0) {
      this.#wanted = plus(times(hashes[beforeEnd] ?? 0, this.#power), this.#wanted);
      this.#power = times(this.#power, multiplier);
    }
    if (this.#own !== this.#wanted) return -1;
    // The line before them is no other than the earlier text has there, even if one of the two is cut.
    const isOther =
      bytes[beforeEnd - 1] === this.#later.bytesOf(before) && hashes[beforeEnd - 1] !== this.#later.hashOf(before);
    return isOther ? -1 : length;
  }
}

/** Behind the beginning of a line that the earlier text has as its open line. A line that only got its LF is not new. */
function placeInLine(lines: number, start: number, bytes: number, open: number): Place {
  const isWhole = bytes === open;
  return { lines: lines + (isWhole ? 1 : 0), bytes: start + open, lineFrom: isWhole ? start + open + 1 : start };
}

/** The length of a text's last line if it may go on: the reader of a later text has to tell the beginnings of its lines. */
export function openBytes({ isOpen, bytes }: LogEnd): number | undefined {
  return isOpen ? bytes.at(-1) : undefined;
}

/** How many lines from the end make a proof; Infinity if all from this one on do not. */
function linesNeeded({ hashes, bytes }: LogEnd, from: number): number {
  let unlike = 0;
  let unlikeBytes = 0;
  for (let at = hashes.length - 1; at >= from; at -= 1) {
    const length = bytes[at] ?? 0;
    // The overlap's first line has none before it.
    if (unlike + 1 >= proofLines || unlikeBytes + length >= proofBytes) return hashes.length - at;
    if (at > from && hashes[at] === hashes[at - 1]) continue;
    unlike += 1;
    unlikeBytes += length;
  }
  return Number.POSITIVE_INFINITY;
}
