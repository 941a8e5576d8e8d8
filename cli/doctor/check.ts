import { formatCount } from '../terminal/format';

export interface Check {
  /** What was looked at, such as `schedule`. */
  readonly what: string;
  /** `warning`: it works, but somebody should know. `unknown`: it was not looked at. */
  readonly state: 'ok' | 'warning' | 'problem' | 'unknown';
  readonly found: string;
  /** What to do about it; left out: nothing. */
  readonly act?: string;
}

/** What one look has shown. */
export type Shown = Omit<Check, 'what'>;

export const ok = (found: string): Shown => ({ state: 'ok', found });
export const warning = (found: string, act: string): Shown => ({ state: 'warning', found, act });
export const problem = (found: string, act: string): Shown => ({ state: 'problem', found, act });
export const unknown = (found: string, act: string): Shown => ({ state: 'unknown', found, act });

/** All checks in one line: `2 problems, 1 warning; 5 in order.` */
export function verdictOf(checks: readonly Check[]): string {
  const count = (state: Check['state']) => checks.filter((check) => check.state === state).length;
  const parts = [
    [count('problem'), 'problem', 'problems'],
    [count('warning'), 'warning', 'warnings'],
    [count('unknown'), 'not looked at', 'not looked at'],
  ] as const;
  const worth = parts.filter(([found]) => found > 0).map(([found, one, many]) => formatCount(found, one, many));
  return worth.length === 0 ? 'All is well.' : `${worth.join(', ')}; ${count('ok')} in order.`;
}
