import type { ComparedText } from './find-overlap';
import { isPart, isSame, type LogLines } from './log-lines';

/** Where in a later text of a log the lines are that the earlier one does not have. Numbers of lines, from 0. */
export interface Place {
  /** Lines at its top that are new. */
  readonly above: number;
  /** The first line at its bottom that is new, or went on. */
  readonly newAt: number;
  /** That line is the earlier text's last one, which had no LF. */
  readonly wentOn: boolean;
  /** The first or the last line is a line of the moment: it is another one in each text. */
  readonly isFirstOther: boolean;
  readonly isLastOther: boolean;
  /** First and last lines of the earlier text that give way to those that stand there now: they are cut or of the moment. */
  readonly replacedAbove: number;
  readonly replacedBelow: number;
  /** Whether it has the earlier text's first and last line. */
  readonly reachesTop: boolean;
  readonly reachesBottom: boolean;
}

/**
 * Compares the first and the last lines of two texts that overlap.
 * @param at where they do, as `Overlap` says it in find-overlap.ts
 */
export function placeText(earlier: ComparedText, later: ComparedText, at: number): Place {
  const first = placeFirst(earlier.lines, later.lines, at);
  const last = placeLast(earlier, later, at);
  const { total } = later.lines;
  return {
    above: Math.min(first.above, last.newAt),
    newAt: last.newAt,
    wentOn: last.wentOn === true,
    isFirstOther: first.isOther,
    replacedAbove: first.replaced,
    replacedBelow: last.replaced,
    isLastOther: last.isOther,
    reachesTop: at <= 0,
    reachesBottom: last.isCut !== true && at + total >= earlier.lines.total,
  };
}

interface FirstPlace extends Pick<Place, 'above'> {
  readonly isOther: boolean;
  readonly replaced: number;
}

function placeFirst(earlier: LogLines, later: LogLines, at: number): FirstPlace {
  const [earlierLine, laterLine] = [Math.max(at, 0) - earlier.from, Math.max(-at, 0) - later.from];
  const above = Math.max(-at, 0);
  const isKnown = isKept(earlier, earlierLine) && isKept(later, laterLine);
  if (!isKnown || isSame(earlier, earlierLine, later, laterLine)) return { above, isOther: false, replaced: 0 };
  if (at >= 0 && later.isEndOf(laterLine, earlier, earlierLine)) return { above, isOther: false, replaced: 0 };
  if (at > 0) return { above: above + (later.from === 0 ? 1 : 0), isOther: later.from === 0, replaced: 0 };
  const isOther = !earlier.isEndOf(earlierLine, later, laterLine);
  // Behind a line of the moment, another one may be cut.
  const [next, laterNext] = [earlierLine + 1, laterLine + 1];
  const isNextCut =
    isOther && !isSame(earlier, next, later, laterNext) && !(at === 0 && isPart(later, laterNext, earlier, next));
  const replaced = isNextCut ? 2 : 1;
  return { above: above + replaced, isOther, replaced };
}

interface LastPlace extends Pick<Place, 'newAt'> {
  readonly isOther: boolean;
  readonly replaced: number;
  readonly wentOn?: boolean;
  readonly isCut?: boolean;
}

function placeLast(
  { lines: earlier, isOpen }: ComparedText,
  { lines: later, beginnings }: ComparedText,
  at: number,
): LastPlace {
  const newAt = Math.min(earlier.total - at, later.total);
  const [earlierLine, laterLine] = [at + newAt - 1 - earlier.from, newAt - 1 - later.from];
  if (!isKept(earlier, earlierLine) || !isKept(later, laterLine)) return { newAt, isOther: false, replaced: 0 };
  const isEarlierLast = at + newAt === earlier.total;
  const isLaterLast = newAt === later.total;
  if (isEarlierLast && isOpen && beginnings?.[laterLine] === earlier.hashes[earlierLine])
    return { newAt: newAt - 1, isOther: false, replaced: 1, wentOn: true };
  if (isSame(earlier, earlierLine, later, laterLine)) return { newAt, isOther: false, replaced: 0 };
  if (isLaterLast && isPart(later, laterLine, earlier, earlierLine))
    return { newAt, isOther: false, replaced: 0, isCut: true };
  if (!isEarlierLast) return { newAt: newAt - 1, isOther: true, replaced: 0 };
  const [next, laterNext] = [earlierLine - 1, laterLine - 1];
  const isNextCut =
    !isSame(earlier, next, later, laterNext) && !(isLaterLast && isPart(later, laterNext, earlier, next));
  const replaced = isNextCut ? 2 : 1;
  return { newAt: newAt - replaced, isOther: true, replaced };
}

function isKept({ count }: LogLines, line: number): boolean {
  return line >= 0 && line < count;
}
