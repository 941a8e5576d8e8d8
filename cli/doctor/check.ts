import type { VerdictValue } from '../../archive/format/verdict';
import { formatCount } from '../terminal/format';

export interface Check {
  /** What was looked at, such as `schedule`. */
  readonly what: string;
  /** What the look ended with. What was not looked at is neither right nor wrong. */
  readonly verdict: VerdictValue;
  readonly found: string;
  /** What to do about it. Of what is right: somebody should know of it, and it works. Left out: nothing. */
  readonly act?: string;
  /** What was not seen here shows elsewhere, such as in the next run: doctor does not fail over it. */
  readonly showsElsewhere?: true;
}

/** What one look has shown. */
export type Shown = Omit<Check, 'what'>;

export const right = (found: string): Shown => ({ verdict: 'right', found });
/** It works, but somebody should know. */
export const worthKnowing = (found: string, act: string): Shown => ({ verdict: 'right', found, act });
export const wrong = (found: string, act: string): Shown => ({ verdict: 'wrong', found, act });
export const notSeen = (found: string, act: string): Shown => ({ verdict: 'not seen', found, act });
/** Not seen, and shown elsewhere: {@link Check.showsElsewhere}. */
export const notSeenHere = (found: string, act: string): Shown => ({ ...notSeen(found, act), showsElsewhere: true });

/** Of all checks: right only if everything was seen that shows nowhere else. */
export function verdictOf(checks: readonly Check[]): VerdictValue {
  if (checks.some(({ verdict }) => verdict === 'wrong')) return 'wrong';
  return checks.some(({ verdict, showsElsewhere }) => verdict === 'not seen' && !showsElsewhere) ? 'not seen' : 'right';
}

/** All checks in one line: `2 wrong, 1 not seen, 1 worth knowing; 5 right.` */
export function summaryOf(checks: readonly Check[]): string {
  const count = (which: (check: Check) => boolean) => checks.filter(which).length;
  const parts = [
    [count(({ verdict }) => verdict === 'wrong'), 'wrong'],
    [count(({ verdict }) => verdict === 'not seen'), 'not seen'],
    [count(isWorthKnowing), 'worth knowing'],
  ] as const;
  const worth = parts.filter(([found]) => found > 0).map(([found, what]) => formatCount(found, what, what));
  const all = count((check) => check.verdict === 'right' && !isWorthKnowing(check));
  return worth.length === 0 ? 'All is well.' : `${worth.join(', ')}; ${all} right.`;
}

export const isWorthKnowing = ({ verdict, act }: Check): boolean => verdict === 'right' && act !== undefined;
