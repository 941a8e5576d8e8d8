import type { LineListener } from './line-reader';
import { isWhole, type LogEnd } from './log-end';

/** What a later text has of an earlier one's end. */
export interface Overlap {
  /** Lines of the later text up to the earlier one's end. Behind them is what is new. */
  readonly lines: number;
  /** Bytes of the later text up to there. Where the earlier text's last line went on, that is inside a line. */
  readonly bytes: number;
  /** Where the first line begins that the earlier text does not have whole, in bytes of the later text. */
  readonly lineFrom: number;
  /** Lines that both have. */
  readonly shared: number;
  /** The overlap is less than a proof, but all of the earlier text from its first byte. */
  readonly isShort: boolean;
  /** Lines that repeat allow another overlap too. */
  readonly isAmbiguous: boolean;
}

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
 * length: one that is cut has another. The earlier text's last line may have gone on. Time is linear in the lines, and memory in those of the earlier text
 * (Knuth, Morris and Pratt 1977), however often lines repeat.
 */
export class OverlapSearch implements LineListener {
  readonly #base: LogEnd;
  /** Hashes of the earlier text's lines that are compared whole. */
  readonly #pattern: Float64Array;
  readonly #borders: Int32Array;
  /** Lines of the earlier text before the pattern: its first one, which may be cut. */
  readonly #skipped: number;
  /** Whether each of the later text's last lines cannot be the one before the pattern: a ring, one longer than that. */
  readonly #others: Uint8Array;
  /** Lines of the earlier text, from its end, that make a proof. */
  readonly #needed: number;
  /** Which of the beginnings that the reader tells is that of the earlier text's open line. */
  readonly #beginning: number;
  /** The later text's first lines, as many as an overlap at its beginning can have. */
  readonly #first: FirstLines;
  #lines = 0;
  #bytes = 0;
  #matched = 0;
  /** Hash of the lines so far. */
  #text = 0;
  #anchored: Place | undefined;
  #last: Place | undefined;
  #places = 0;

  /** @param beginning the index, among the beginnings that the reader tells, of {@link openBytes} */
  constructor(base: LogEnd, beginning: number) {
    this.#base = base;
    this.#beginning = beginning;
    const { length } = base.hashes;
    const from = isWhole(base) && length > 1 ? 1 : 0;
    this.#pattern = base.hashes.subarray(from, base.isOpen ? length - 1 : length);
    this.#borders = bordersOf(this.#pattern);
    this.#skipped = from;
    this.#others = new Uint8Array(this.#pattern.length + 1);
    this.#first = new FirstLines(this.#pattern.length + 2);
    this.#needed = linesNeeded(base, from);
  }

  line(hash: number, bytes: number, isOpen: boolean, text: number, beginnings: readonly (number | undefined)[]): void {
    const { isOpen: baseIsOpen, lines: baseLines } = this.#base;
    const goesOn = baseIsOpen && beginnings[this.#beginning] === this.#base.hashes.at(-1);
    const isFirst = this.#lines === 0;
    if (goesOn && !isFirst && this.#matched === this.#pattern.length) this.#found(this.#placeInLine(bytes));
    this.#first.add(isOpen ? Number.NaN : hash, bytes, this.#bytes, goesOn);
    if (goesOn && this.#lines === baseLines - 1 && this.#text === this.#base.text)
      this.#anchored = this.#placeInLine(bytes);
    // The first line may be cut; where no other follows, the beginning is looked at in the end.
    if (!isFirst) this.#advance(isOpen ? Number.NaN : hash);
    this.#others[this.#lines % this.#others.length] = this.#skipped > 0 && this.#isOther(0, hash, bytes) ? 1 : 0;
    this.#lines += 1;
    this.#bytes += bytes + (isOpen ? 0 : 1);
    if (!baseIsOpen && this.#matched === this.#pattern.length) this.#found(this.#place());
    if (!baseIsOpen && !isOpen && this.#lines === baseLines && text === this.#base.text) this.#anchored = this.#place();
    this.#text = text;
  }

  /** The overlap; undefined if there is none, or only one that proves nothing. */
  end(): Overlap | undefined {
    const { lines } = this.#base;
    const isProven = this.#needed <= this.#pattern.length + (this.#base.isOpen ? 1 : 0);
    const atBeginning = this.#atBeginning();
    if (this.#anchored !== undefined) {
      const isShort = linesNeeded(this.#base, 0) > lines;
      const isAmbiguous = this.#places > 1 || atBeginning?.isAmbiguous === true;
      return { ...this.#anchored, shared: lines, isShort, isAmbiguous };
    }
    if (this.#last !== undefined && isProven) {
      const isElsewhere = atBeginning !== undefined && atBeginning.bytes !== this.#last.bytes;
      const isAmbiguous = this.#places > 1 || isElsewhere;
      return { ...this.#last, shared: Math.min(lines, this.#last.lines), isShort: false, isAmbiguous };
    }
    return atBeginning;
  }

  #advance(hash: number): void {
    const pattern = this.#pattern;
    if (pattern.length === 0) return;
    let matched = this.#matched;
    while (matched > 0 && pattern[matched] !== hash) matched = this.#borders[matched - 1] ?? 0;
    this.#matched = pattern[matched] === hash ? matched + 1 : 0;
  }

  #found(place: Place): void {
    if (this.#others[this.#lines % this.#others.length] === 1) return;
    this.#last = place;
    this.#places += 1;
  }

  /** Whether a line cannot be that of the earlier text, even if one of them is cut at its beginning. */
  #isOther(at: number, hash: number, bytes: number): boolean {
    return this.#base.bytes[at] === bytes && this.#base.hashes[at] !== hash;
  }

  #place(): Place {
    return { lines: this.#lines, bytes: this.#bytes, lineFrom: this.#bytes };
  }

  #placeInLine(bytes: number): Place {
    return placeInLine(this.#lines, this.#bytes, bytes, this.#base.bytes.at(-1) ?? 0);
  }

  #atBeginning(): Overlap | undefined {
    const skipped = this.#lines > 1 ? 1 : 0;
    const hashes = this.#first.hashesFrom(skipped);
    const borders = bordersOf(hashes);
    let length = longestBeginning(hashes, borders, this.#pattern);
    const found: Overlap[] = [];
    for (; length >= 0 && found.length < 2; length = length === 0 ? -1 : (borders[length - 1] ?? 0)) {
      const overlap = this.#overlapOf(length, skipped);
      if (overlap !== undefined) found.push(overlap);
    }
    return found[0] && { ...found[0], isAmbiguous: found.length > 1 };
  }

  /** The overlap of so many whole lines behind the first, which is not compared. */
  #overlapOf(length: number, skipped: number): Overlap | undefined {
    const { isOpen, bytes: baseBytes } = this.#base;
    if (length + (isOpen ? 1 : 0) < this.#needed) return undefined;
    const cut = skipped > 0 ? this.#first.at(0) : undefined;
    const at = this.#skipped + this.#pattern.length - length - 1;
    if (cut !== undefined && this.#isOther(at, cut.hash, cut.bytes)) return undefined;
    const lines = length + skipped;
    const next = this.#first.at(lines);
    const shared = lines + (isOpen ? 1 : 0);
    const common = { shared, isShort: false, isAmbiguous: false };
    const bytes = next?.start ?? this.#bytes;
    if (!isOpen) return { ...common, lines, bytes, lineFrom: bytes };
    if (next?.goesOn !== true) return undefined;
    return { ...common, ...placeInLine(lines, next.start, next.bytes, baseBytes.at(-1) ?? 0) };
  }
}

interface FirstLine {
  /** NaN for a last line without LF: it equals no other. */
  readonly hash: number;
  readonly bytes: number;
  /** Where it begins, in bytes of the text. */
  readonly start: number;
  /** It begins with the earlier text's open line. */
  readonly goesOn: boolean;
}

/** The first lines of a text, in arrays: an object for each of 100,000 lines would keep the garbage collector busy. */
class FirstLines {
  readonly #hashes: Float64Array;
  readonly #bytes: Float64Array;
  readonly #starts: Float64Array;
  readonly #goOn: Uint8Array;
  #length = 0;

  /** @param most lines that are kept */
  constructor(most: number) {
    this.#hashes = new Float64Array(most);
    this.#bytes = new Float64Array(most);
    this.#starts = new Float64Array(most);
    this.#goOn = new Uint8Array(most);
  }

  add(hash: number, bytes: number, start: number, goesOn: boolean): void {
    const at = this.#length;
    if (at === this.#hashes.length) return;
    this.#hashes[at] = hash;
    this.#bytes[at] = bytes;
    this.#starts[at] = start;
    this.#goOn[at] = goesOn ? 1 : 0;
    this.#length += 1;
  }

  at(index: number): FirstLine | undefined {
    if (index >= this.#length) return undefined;
    const [hash, bytes, start] = [this.#hashes[index] ?? 0, this.#bytes[index] ?? 0, this.#starts[index] ?? 0];
    return { hash, bytes, start, goesOn: this.#goOn[index] === 1 };
  }

  hashesFrom(index: number): Float64Array {
    return this.#hashes.subarray(index, this.#length);
  }
}

type Place = Pick<Overlap, 'lines' | 'bytes' | 'lineFrom'>;

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

/** For each beginning of the lines: the length of the longest shorter one that it ends with. */
function bordersOf(lines: Float64Array): Int32Array {
  const borders = new Int32Array(lines.length);
  let length = 0;
  for (let at = 1; at < lines.length; at += 1) {
    while (length > 0 && lines[at] !== lines[length]) length = borders[length - 1] ?? 0;
    if (lines[at] === lines[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** The longest beginning of the lines that a text ends with. */
function longestBeginning(lines: Float64Array, borders: Int32Array, text: Float64Array): number {
  let length = 0;
  for (const line of text) {
    while (length > 0 && (length === lines.length || lines[length] !== line)) length = borders[length - 1] ?? 0;
    if (length < lines.length && lines[length] === line) length += 1;
  }
  return length;
}
