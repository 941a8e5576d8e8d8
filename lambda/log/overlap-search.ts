import { type LineListener, linesBetween, multiplier, plus, times, unit } from './line-reader';
import { isWhole, type LogEnd } from './log-end';

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
  /** By a number of lines of the earlier text that are compared whole, counted from the last: the hash of them all. */
  readonly #ends: Float64Array;
  /** Lines of the earlier text before those: its first one, which may be cut. */
  readonly #skipped: number;
  /** Lines of the earlier text, from its end, that make a proof. */
  readonly #needed: number;
  /** Which of the beginnings that the reader tells is that of the earlier text's open line. */
  readonly #beginning: number;
  /** The later text's last lines, one more than can be compared, in rings: the hash of the text up to them, and their own. */
  readonly #texts: Float64Array;
  readonly #hashes: Float64Array;
  readonly #sizes: Float64Array;
  #lines = 0;
  #bytes = 0;
  /** How many of the last lines the earlier text ends with; -1 if it does not. */
  #matched = -1;
  /** The power of the multiplier by their number. */
  #power = unit;
  /** Hash of the lines so far. */
  #text = 0;
  /** Behind the first line, which counts if there is no other. */
  #only: Place | undefined;
  #anchored: Place | undefined;
  #last: Place | undefined;
  #places = 0;

  /** @param beginning the index, among the beginnings that the reader tells, of {@link openBytes} */
  constructor(base: LogEnd, beginning: number) {
    this.#base = base;
    this.#beginning = beginning;
    const { length } = base.hashes;
    this.#skipped = isWhole(base) && length > 1 ? 1 : 0;
    this.#ends = hashesOfEnds(base.hashes, this.#skipped, base.isOpen ? length - 1 : length);
    this.#needed = linesNeeded(base, this.#skipped);
    const compared = this.#ends.length;
    this.#texts = new Float64Array(compared);
    this.#hashes = new Float64Array(compared);
    this.#sizes = new Float64Array(compared);
  }

  line(hash: number, bytes: number, isOpen: boolean, text: number, beginnings: readonly (number | undefined)[]): void {
    const { isOpen: mayGoOn, hashes, bytes: sizes } = this.#base;
    const isFirst = this.#lines === 0;
    if (mayGoOn && beginnings[this.#beginning] === hashes.at(-1))
      this.#found(placeInLine(this.#lines, this.#bytes, bytes, sizes.at(-1) ?? 0), isFirst);
    this.#add(hash, bytes, text);
    this.#bytes += bytes + (isOpen ? 0 : 1);
    this.#matched = isOpen ? -1 : this.#match();
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

  #add(hash: number, bytes: number, text: number): void {
    const at = this.#lines % this.#ends.length;
    this.#texts[at] = text;
    this.#hashes[at] = hash;
    this.#sizes[at] = bytes;
    // The first line is not compared.
    if (this.#lines > 0 && this.#lines < this.#ends.length) this.#power = times(this.#power, multiplier);
    this.#lines += 1;
    this.#text = text;
  }

  #match(): number {
    const most = this.#ends.length - 1;
    const length = Math.min(this.#lines - 1, most);
    const before = (this.#lines - 1 - length) % this.#ends.length;
    const hash = linesBetween(this.#texts[before] ?? 0, this.#text, this.#power);
    if (hash !== this.#ends[length]) return -1;
    // The line before them is no other than the earlier text has there, even if one of the two is cut.
    const at = this.#skipped + most - length - 1;
    const isOther = this.#base.bytes[at] === this.#sizes[before] && this.#base.hashes[at] !== this.#hashes[before];
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

/** The hash of no line, of the last one, of the last two, and so on, of the lines between two indices. */
function hashesOfEnds(lines: readonly number[], start: number, end: number): Float64Array {
  const hashes = new Float64Array(end - start + 1);
  let power = unit;
  for (let count = 1; count < hashes.length; count += 1) {
    hashes[count] = plus(times(lines[end - count] ?? 0, power), hashes[count - 1] ?? 0);
    power = times(power, multiplier);
  }
  return hashes;
}
