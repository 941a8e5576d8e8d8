import { isPart, isSame, type LogLines } from './log-lines';

/** How one line is to another: the same, or one of both may be a part of the other. */
export type Likeness = 'same' | 'cut' | 'other';

/** An overlap of so many lines, each unlike the line before it, does not happen by chance. */
const proofLines = 3;
/** Nor does one of so many bytes of such lines. */
const proofBytes = 200;

/**
 * The last place where `outer` has the lines of `inner` up to its last one, back to where one of both begins.
 * @param likeLast how a line of `outer` that is not the last one of `inner` is like it
 * @returns behind how many lines of `outer` that is
 */
export function lastEnd(
  inner: LogLines,
  outer: LogLines,
  isFramed: boolean,
  likeLast?: (line: number) => Likeness,
): number | undefined {
  if (isFramed) return lastFramedEnd(inner, outer);
  const isAlike = compareBetween(inner, outer, 1);
  const needed = [linesNeeded(inner, inner.count - 1), linesNeeded(inner, inner.count - 2)] as const;
  const lastHash = inner.hashes.at(-1);
  const isOneLine = inner.count === 1 || outer.count === 1;

  for (let end = outer.count; end > 0; end -= 1) {
    const last = outer.hashes[end - 1] === lastHash ? 'same' : likeLast?.(end - 1);
    if (last === undefined || last === 'other') continue;
    const between = Math.min(inner.count, end) - 2;
    if (!isAlike(end, between) || !isFirstAlike(inner, outer, end)) continue;
    // The first line may be cut, and proves nothing, unless it is the only one.
    const proof = isOneLine ? 1 : between + 1;
    if (last === 'same' ? proof >= needed[0] : proof - 1 >= needed[1]) return end;
  }
  return undefined;
}

/**
 * The same without the first and the last line of both, for twice the proof. The lines beside those may be cut:
 *
 *     inner   top 1       b       c d e f g       bottom 1
 *     outer     a         b       c d e f g       h i bottom 2
 *             nothing   cut?     the same         nothing
 */
function lastFramedEnd(inner: LogLines, outer: LogLines): number | undefined {
  const isAlike = compareBetween(inner, outer, 2);
  const needed = [linesNeeded(inner, inner.count - 2, 2), linesNeeded(inner, inner.count - 3, 2)] as const;
  for (let end = outer.count; end > 4; end -= 1) {
    const between = Math.min(inner.count, end) - 4;
    if (!isAlike(end, between)) continue;
    const first = beside(inner, outer, inner.count - end, 1);
    const last = beside(inner, outer, inner.count - end, Math.min(inner.count, end) - 2);
    if (first === 'other' || last === 'other') continue;
    const proof = between + (first === 'same' ? 1 : 0);
    if (last === 'same' ? proof + 1 >= needed[0] : proof >= needed[1]) return end;
  }
  return undefined;
}

/** How a line of either text is to that beside it. @param offset of the texts @param line from where the later one of both begins */
function beside(inner: LogLines, outer: LogLines, offset: number, line: number): Likeness {
  const [innerLine, outerLine] = [Math.max(offset, 0) + line, Math.max(-offset, 0) + line];
  if (isSame(inner, innerLine, outer, outerLine)) return 'same';
  return isPart(inner, innerLine, outer, outerLine) || isPart(outer, outerLine, inner, innerLine) ? 'cut' : 'other';
}

/** So many lines are compared one by one, times those of both texts, before a table is made of them. */
const mostComparedTwice = 4;

/**
 * Makes a function that says whether so many lines of `outer` up to one are those of `inner` up to its last one.
 * @param edge so many first and last lines of both do not count
 */
function compareBetween(inner: LogLines, outer: LogLines, edge: number): (end: number, between: number) => boolean {
  const to = inner.count - edge;
  let left = mostComparedTwice * (inner.count + outer.count);
  let table: Int32Array | undefined;
  return (end, between) => {
    if (left > 0) {
      let alike = 0;
      while (alike < between && inner.hashes[to - 1 - alike] === outer.hashes[end - edge - 1 - alike]) alike += 1;
      left -= 1 + alike;
      return alike >= between;
    }
    // Of lines that repeat, each place may have nearly all of them: then time would grow with the square of the lines.
    const most = Math.max(outer.count - edge, 0);
    table ??= commonEnds(inner.hashes, Math.max(edge, to - most), to, outer.hashes, most);
    return (table[end - edge - 1] ?? 0) >= between;
  };
}

/** Whether the first line of either is the one beside it, or the end of it. @param end lines of `outer` up to the last of `inner` */
function isFirstAlike(inner: LogLines, outer: LogLines, end: number): boolean {
  const innerLine = Math.max(inner.count - end, 0);
  const outerLine = Math.max(end - inner.count, 0);
  if (innerLine === inner.count - 1 || isSame(inner, innerLine, outer, outerLine)) return true;
  return (
    (innerLine === 0 && inner.isEndOf(innerLine, outer, outerLine)) ||
    (outerLine === 0 && outer.isEndOf(outerLine, inner, innerLine))
  );
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
  const length = Math.max(to - from, 0);
  const all = new Float64Array(length + 1 + whole);
  for (let at = 0; at < length; at += 1) all[at] = earlier[to - 1 - at] ?? 0;
  // No hash is NaN, and NaN is not itself.
  all[length] = Number.NaN;
  for (let at = 0; at < whole; at += 1) all[length + 1 + at] = later[whole - 1 - at] ?? 0;
  const lengths = new Int32Array(all.length);
  for (let at = 1, left = 0, right = 0; at < all.length; at += 1) {
    let alike = at < right ? Math.min(right - at, lengths[at - left] ?? 0) : 0;
    while (at + alike < all.length && all[alike] === all[at + alike]) alike += 1;
    lengths[at] = alike;
    if (at + alike > right) [left, right] = [at, at + alike];
  }
  return lengths.subarray(length + 1).reverse();
}

/**
 * How many lines up to one make a proof; Infinity if all of them do not. The first line, which may be cut, does not count
 * unless it is the only one.
 * @param times how much of a proof
 */
function linesNeeded({ hashes, lengths }: LogLines, last: number, times = 1): number {
  const first = hashes.length > 1 ? 1 : 0;
  let unlike = 0;
  let unlikeBytes = 0;
  for (let at = last; at >= first; at -= 1) {
    const length = lengths[at] ?? 0;
    // The overlap's first line has none before it.
    if (unlike + 1 >= times * proofLines || unlikeBytes + length >= times * proofBytes) return last + 1 - at;
    if (at > first && hashes[at] === hashes[at - 1]) continue;
    unlike += 1;
    unlikeBytes += length;
  }
  return Number.POSITIVE_INFINITY;
}
