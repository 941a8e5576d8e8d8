import { findOverlap, type Overlap } from './find-overlap';
import type { LogEnd } from './log-end';

/**
 * How an archived log follows the one before it.
 * - `unchanged`: nothing is new at its end.
 * - `continues`: it goes on from the earlier one's end.
 * - `older`: it ends before the earlier one does: a stale answer, which adds nothing.
 * - `gap`: nothing of the earlier one's end is in it. Lines may be lost, or the log was started again.
 * - `unknown`: there is no text to compare.
 */
export type SeamKind = 'unchanged' | 'continues' | 'older' | 'gap' | 'unknown';

export interface Seam extends Omit<Overlap, 'lines'> {
  readonly kind: SeamKind;
  /** Lines that both logs have. */
  readonly shared: number;
  /** Lines behind them. All of the log at a gap. */
  readonly added: number;
}

/** What a seam says where both logs have nothing in common. */
export const noOverlap = { shared: 0, newFrom: 0, lineFrom: 0 } as const;

/** How a text follows an earlier one. @param later read with the earlier text's {@link LogEnd.openBytes} */
export function seamBetween(base: LogEnd, later: LogEnd): Seam {
  const { lines } = later;
  if (lines === 0) return { ...noOverlap, kind: 'unknown', added: 0 };
  const overlap = findOverlap(base, later);
  if (overlap !== undefined) {
    const { lines: upTo, ...place } = overlap;
    const added = lines - upTo;
    return { ...place, kind: added === 0 ? 'unchanged' : 'continues', shared: Math.min(base.lines, upTo), added };
  }
  if (endsWithin(later, base)) return { ...noOverlap, kind: 'older', added: 0 };
  return { ...noOverlap, kind: 'gap', added: lines };
}

/**
 * Whether a text ends inside an earlier one, by the same proof. Of a last line without LF only the length is compared: of
 * the earlier text's lines, the hashes of beginnings are not known.
 */
function endsWithin(later: LogEnd, earlier: LogEnd): boolean {
  const overlap = findOverlap(later.wholeLines(), earlier, false);
  if (overlap === undefined || overlap.lines === earlier.lines) return false;
  return (earlier.bytes[overlap.lines - earlier.from] ?? 0) >= later.openBytes;
}
