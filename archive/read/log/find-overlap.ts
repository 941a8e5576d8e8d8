import type { LogEnd } from './log-end';

/** What a later text has of an earlier one's end. */
export interface Overlap {
  /** Lines of the later text up to the earlier one's end. Behind them is what is new. */
  readonly lines: number;
  /** Where what is new begins, in bytes of the later text. Where the earlier text's last line went on, that is inside a line. */
  readonly newFrom: number;
  /** Where the first line that is new or went on begins, in bytes of the later text. */
  readonly lineFrom: number;
}

/** An overlap of so many lines, each unlike the line before it, does not happen by chance. */
const proofLines = 3;
/** Nor does one of so many bytes of such lines. */
const proofBytes = 200;

/**
 * Finds the end of an earlier text in a later one. It takes, in this order,
 * - all of the earlier text from its first byte, where the later text begins: the log grew;
 * - the last place at which the lines of the later text end as the earlier text does, back to where one of both begins.
 *
 * The first line of either text may be cut at its beginning. If another follows, it is compared only with a line of the same
 * length: one that is cut has another. The earlier text's last line may have gone on in the later one.
 * @param later read with the earlier text's {@link LogEnd.openBytes}
 * @param startsAlike whether all of the earlier text at the beginning of the later one counts without a proof
 * @returns undefined if the texts do not overlap, or by too little to prove anything
 */
export function findOverlap(base: LogEnd, later: LogEnd, startsAlike = true): Overlap | undefined {
  const open = base.isOpen ? 1 : 0;
  // Lines that are compared whole: neither the earlier text's first known one, which may be cut, nor an open one.
  const from = base.hashes.length > 1 ? 1 : 0;
  const to = Math.max(base.hashes.length - open, from);
  const whole = later.hashes.length - (later.isOpen ? 1 : 0);
  const alike = commonEnds(base.hashes, from, to, later.hashes, whole);
  const needed = linesNeeded(base, from);

  /** How many lines up to this one are the earlier text's last ones; -1 if they are not. */
  const matched = (line: number) => {
    // The first line is not compared.
    const length = Math.min(line, to - from);
    return line >= 0 && (alike[line] ?? 0) >= length && !differ(to - length - 1, line - length) ? length : -1;
  };
  /** Whether two lines are others, even if one of them is cut. */
  const differ = (earlier: number, line: number) =>
    earlier >= 0 && base.bytes[earlier] === later.bytes[line] && base.hashes[earlier] !== later.hashes[line];
  // Of texts that are too long to be kept from their first byte, the same length says so.
  const isAligned = base.from === later.from && (base.from === 0 || base.size === later.size);
  /** Whether the lines before one are the whole lines of the earlier text, from its first byte. */
  const isAll = (lines: number) =>
    isAligned &&
    lines === to &&
    (lines === 0 || (later.hashes[0] === base.hashes[0] && (alike[lines - 1] ?? 0) >= to - from));

  let all: number | undefined;
  let last: number | undefined;
  for (const end of endsOf(base, later, whole)) {
    if (startsAlike && isAll(end)) all = end;
    const isOnly = later.hashes.length === 1 && needed <= 1 && (open === 1 || later.hashes[0] === base.hashes.at(-1));
    const proof = matched(end - 1);
    if (isOnly || (proof >= 0 && proof + open >= needed)) last = end;
  }
  const end = all ?? last;
  return end === undefined ? undefined : placeOf(base, later, end);
}

/** Where the earlier text can end in the later one: behind so many of its kept lines, and in the next one if it went on. */
function* endsOf(base: LogEnd, later: LogEnd, whole: number): Generator<number> {
  const openHash = base.hashes.at(-1);
  if (!base.isOpen) for (let lines = 1; lines <= whole; lines += 1) yield lines;
  else for (let line = 0; line < later.hashes.length; line += 1) if (later.beginnings[line] === openHash) yield line;
}

/** What is new behind the end of the earlier text. A line that only got its LF is not new. */
function placeOf(base: LogEnd, later: LogEnd, end: number): Overlap {
  let behind = later.isOpen ? -1 : 0;
  for (let line = end; line < later.bytes.length; line += 1) behind += (later.bytes[line] ?? 0) + 1;
  const start = later.size - (end === later.hashes.length ? 0 : behind);
  const lines = later.from + end;
  if (!base.isOpen) return { lines, newFrom: start, lineFrom: start };
  const newFrom = start + base.openBytes;
  const isWhole = later.bytes[end] === base.openBytes;
  return { lines: isWhole ? lines + 1 : lines, newFrom, lineFrom: isWhole ? newFrom + 1 : start };
}

/**
 * For each line of the later text: how many lines up to it are the earlier text's last ones. This is the Z algorithm over both
 * from behind, whose time does not grow with repeated lines.
 * @param from the first line of the earlier text that counts; the last one is before `to`
 * @param whole how many lines of the later text count
 */
function commonEnds(
  earlier: readonly number[],
  from: number,
  to: number,
  later: readonly number[],
  whole: number,
): Int32Array {
  const all = new Float64Array(to - from + 1 + whole);
  for (let at = 0; at < to - from; at += 1) all[at] = earlier[to - 1 - at] ?? 0;
  // No hash is NaN, and NaN is not itself.
  all[to - from] = Number.NaN;
  for (let at = 0; at < whole; at += 1) all[to - from + 1 + at] = later[whole - 1 - at] ?? 0;
  const lengths = new Int32Array(all.length);
  for (let at = 1, left = 0, right = 0; at < all.length; at += 1) {
    let length = at < right ? Math.min(right - at, lengths[at - left] ?? 0) : 0;
    while (at + length < all.length && all[length] === all[at + length]) length += 1;
    lengths[at] = length;
    if (at + length > right) [left, right] = [at, at + length];
  }
  return lengths.subarray(to - from + 1).reverse();
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
