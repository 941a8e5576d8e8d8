import { lastEnd } from './last-end';
import { isPart, type LogLines } from './log-lines';

/** A text whose lines are compared with those of another one. */
export interface ComparedText {
  readonly lines: LogLines;
  /** The last line has no LF: it may go on in a later text. */
  readonly isOpen: boolean;
  /** Of each line, the hash of as many first bytes as the other text's open line has. */
  readonly beginnings?: readonly (number | undefined)[];
}

/** How two texts lie beside each other. */
export interface Overlap {
  /** The number of the earlier text's line that the later one's first line lies beside; negative above the earlier one's first. */
  readonly at: number;
  /** Lines that both have there. */
  readonly shared: number;
}

/**
 * Finds the longest overlap of two texts of a log. Between where one of both begins and where one of both ends, they have to
 * be the same, line by line. There are two cases: the earlier text ends inside the later one, or the later one inside the
 * earlier one. The first line of either may be cut at its beginning.
 * @param isFramed compares without the first and the last line of either, which may be of the moment; that takes twice the proof
 * @returns undefined if the texts do not overlap, or by too little to prove anything
 */
export function findOverlap(earlier: ComparedText, later: ComparedText, isFramed = false): Overlap | undefined {
  const one = earlierEndsInLater(earlier, later, isFramed);
  const shorter = Math.min(earlier.lines.count, later.lines.count);
  if (one !== undefined && 2 * one.shared >= shorter) return one;
  const other = laterEndsInEarlier(earlier, later, isFramed);
  return one === undefined || (other !== undefined && other.shared > one.shared) ? other : one;
}

/**
 * The log went on below, or it is newest first, and all of the earlier text is still in it.
 *
 *     earlier   a b c d e            earlier       c b a
 *     later         c d e f g        later     e d c b a
 *                       ^                              ^ the end of the earlier text in the later one
 */
function earlierEndsInLater(earlier: ComparedText, later: ComparedText, isFramed: boolean): Overlap | undefined {
  const { lines, isOpen } = earlier;
  const { beginnings } = later;
  const open = isOpen ? lines.hashes.at(-1) : undefined;
  const goesOn = (line: number) => (beginnings?.[line] === open ? 'same' : 'other');
  const end = lastEnd(lines, later.lines, isFramed, open === undefined ? undefined : goesOn);
  if (end === undefined) return undefined;
  const at = lines.from + lines.count - end - later.lines.from;
  return { at, shared: Math.min(end, lines.count) };
}

/**
 * The log is newest first, and its window moved up; or it is a stale answer.
 *
 *     earlier       d c b a          earlier   a b c d e
 *     later     f e d c              later       b c d
 *                     ^                              ^ the end of the later text in the earlier one
 */
function laterEndsInEarlier(earlier: ComparedText, later: ComparedText, isFramed: boolean): Overlap | undefined {
  const { lines } = later;
  const last = lines.count - 1;
  const end = lastEnd(lines, earlier.lines, isFramed, (line) =>
    isPart(lines, last, earlier.lines, line) ? 'cut' : 'other',
  );
  if (end === undefined) return undefined;
  const at = earlier.lines.from + end - lines.count - lines.from;
  return { at, shared: Math.min(end, lines.count) };
}
