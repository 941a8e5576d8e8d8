import { type LineListener, linesBetween, multiplier, plus, times, unit, withLine } from './line-reader';
import type { LogEnd } from './log-end';

/** What a later text has of an earlier one's end. */
export interface Overlap {
  /** Lines of the later text up to the earlier one's end. Behind them is what is new. */
  readonly lines: number;
  /** Where what is new begins, in bytes of the later text. Where the earlier text's last line went on, that is inside a line. */
  readonly newFrom: number;
  /** Where the first line that is new or went on begins, in bytes of the later text. */
  readonly lineFrom: number;
  /** The overlap is less than a proof, but all of the earlier text from its first byte. */
  readonly isShort: boolean;
  /** Lines that repeat allow another overlap too. */
  readonly isAmbiguous: boolean;
}

type Place = Pick<Overlap, 'lines' | 'newFrom' | 'lineFrom'>;

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
  readonly #later: LogEnd;
  /** Which of the beginnings that the reader tells is that of the earlier text's open line. */
  readonly #beginning: number;
  /** Lines of the earlier text that are compared whole: neither the first known one, which may be cut, nor an open one. */
  readonly #from: number;
  readonly #to: number;
  /** Lines of the earlier text, from its end, that make a proof. */
  readonly #needed: number;
  /** The first line that comes here. */
  readonly #first: number;
  #lines: number;
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
   * @param later the lines that come here, each of which it has before: at least as many as are known of the earlier text
   * @param beginning the index, among the beginnings that the reader tells, of {@link openBytes}
   */
  constructor(base: LogEnd, later: LogEnd, beginning: number) {
    this.#base = base;
    this.#later = later;
    this.#beginning = beginning;
    const { from, lines, isOpen } = base;
    this.#from = lines - from > 1 ? from + 1 : from;
    this.#to = Math.max(lines - (isOpen ? 1 : 0), this.#from);
    this.#needed = linesNeeded(base, this.#from);
    this.#first = later.from;
    this.#lines = this.#first;
  }

  line(hash: number, bytes: number, isOpen: boolean, text: number, beginnings: readonly (number | undefined)[]): void {
    const { isOpen: mayGoOn, lines } = this.#base;
    const isFirst = this.#lines === this.#first;
    if (mayGoOn && beginnings[this.#beginning] === this.#base.hashOf(lines - 1))
      this.#found(placeInLine(this.#lines, this.#bytes, bytes, this.#base.bytesOf(lines - 1)), isFirst);
    this.#lines += 1;
    this.#text = text;
    this.#bytes += bytes + (isOpen ? 0 : 1);
    this.#matched = isOpen ? -1 : this.#match(hash);
    if (mayGoOn || isOpen) return;
    const isOnly = isFirst && hash === this.#base.hashOf(lines - 1);
    this.#found({ lines: this.#lines, newFrom: this.#bytes, lineFrom: this.#bytes }, isOnly);
  }

  /** The overlap; undefined if there is none, or only one that proves nothing. */
  end(): Overlap | undefined {
    const isAmbiguous = this.#places > 1;
    if (this.#anchored !== undefined) {
      const isShort = linesNeeded(this.#base, this.#base.from) > this.#base.lines;
      return { ...this.#anchored, isShort, isAmbiguous };
    }
    const place = this.#lines === this.#first + 1 ? this.#only : this.#last;
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
    // The first line is not compared.
    const last = this.#lines - 1;
    const length = Math.min(last - this.#first, this.#to - this.#from);
    const before = last - length;
    const base = this.#to - length;
    if (last > this.#first) this.#own = withLine(this.#own, hash);
    if (before > this.#first) this.#own = linesBetween(this.#later.hashOf(before) ?? 0, this.#own, this.#power);
    else if (length > 0) {
      this.#wanted = plus(times(this.#base.hashOf(base) ?? 0, this.#power), this.#wanted);
      this.#power = times(this.#power, multiplier);
    }
    return this.#own === this.#wanted && !this.#differ(base - 1, before) ? length : -1;
  }

  /** Whether the lines before those that are the same are others, even if one of the two is cut. */
  #differ(base: number, later: number): boolean {
    if (base < this.#base.from || this.#base.bytesOf(base) !== this.#later.bytesOf(later)) return false;
    return this.#base.hashOf(base) !== this.#later.hashOf(later);
  }
}

/** Behind the beginning of a line that the earlier text has as its open line. A line that only got its LF is not new. */
function placeInLine(lines: number, start: number, bytes: number, open: number): Place {
  const isWhole = bytes === open;
  return { lines: lines + (isWhole ? 1 : 0), newFrom: start + open, lineFrom: isWhole ? start + open + 1 : start };
}

/** The length of a text's last line if it may go on: the reader of a later text has to tell the beginnings of its lines. */
export function openBytes(end: LogEnd): number | undefined {
  return end.isOpen ? end.bytesOf(end.lines - 1) : undefined;
}

/** How many lines from the end make a proof; Infinity if all from this one on do not. */
function linesNeeded(end: LogEnd, from: number): number {
  let unlike = 0;
  let unlikeBytes = 0;
  for (let at = end.lines - 1; at >= from; at -= 1) {
    const length = end.bytesOf(at);
    // The overlap's first line has none before it.
    if (unlike + 1 >= proofLines || unlikeBytes + length >= proofBytes) return end.lines - at;
    if (at > from && end.hashOf(at) === end.hashOf(at - 1)) continue;
    unlike += 1;
    unlikeBytes += length;
  }
  return Number.POSITIVE_INFINITY;
}
