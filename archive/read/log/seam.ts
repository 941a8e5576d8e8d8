import { type JoinedLog, mostLeaning } from './joined-log';
import type { LineEnds } from './log-end';
import type { Place } from './place-text';

/**
 * How an archived log follows those before it.
 * - `unchanged`: nothing is new at its end. The end of a log that is newest first is its top.
 * - `continues`: it goes on from where they end.
 * - `older`: it ends before they do: a stale answer.
 * - `gap`: nothing of their end is in it. Lines may be lost, or the log was started again.
 * - `unknown`: there is no text to compare.
 */
export type SeamKind = 'unchanged' | 'continues' | 'older' | 'gap' | 'unknown';

/** All lines of a log that no log before it has are above or below those that it shares. */
export interface Seam {
  readonly kind: SeamKind;
  /** Lines that are new above those that are shared, and the first of them, from 0: nearly always the first of the text. */
  readonly above: number;
  readonly aboveFrom: number;
  /** Lines that a log before has. */
  readonly shared: number;
  /** Lines below them that are new. All of the text at a gap. */
  readonly added: number;
  /** Where what is new below begins, in bytes of the text. Where the last line before went on, that is inside a line. */
  readonly newFrom: number;
  /** Where the first line that is new below, or went on, begins. */
  readonly lineFrom: number;
  /** New lines stand above older ones. */
  readonly isNewestFirst: boolean;
  /** Its lines are in the opposite order to those of the log before. */
  readonly isTurned: boolean;
  /** The lines without which it was compared: they are others in each log. */
  readonly without: JoinedLog['without'];
  /** What its lines end with now, if those of the log before ended with something else. */
  readonly lineEnds: LineEnds | undefined;
}

/** What a seam says where both logs have nothing in common. */
export const noOverlap = {
  above: 0,
  aboveFrom: 0,
  shared: 0,
  newFrom: 0,
  lineFrom: 0,
  isNewestFirst: false,
  isTurned: false,
  without: [],
  lineEnds: undefined,
} as const;

/**
 * Judges a place by the side on which lines are new: that is the end of the log.
 * @param before which side it was so far, see {@link JoinedLog.leaning}
 * @param added lines that are new at the bottom
 */
export function judgeSeam(
  before: number,
  place: Place,
  added: number,
): Pick<Seam, 'kind' | 'isNewestFirst'> & { leaning: number } {
  // A line of the moment is new each time, and says nothing.
  const above = place.above - (place.isFirstOther && place.above > 0 ? 1 : 0);
  const below = added - (place.isLastOther && added > 0 ? 1 : 0);
  const side = below > 0 && above === 0 ? 1 : above > 0 && below === 0 ? -1 : 0;
  const leaning = Math.max(-mostLeaning, Math.min(mostLeaning, before + side));
  const isNewestFirst = leaning < 0 || (leaning === 0 && before < 0);
  const [reachesEnd, atEnd] = isNewestFirst ? [place.reachesTop, above] : [place.reachesBottom, below];
  return { kind: !reachesEnd ? 'older' : atEnd > 0 ? 'continues' : 'unchanged', isNewestFirst, leaning };
}
