/** What one look found. */
export interface Check {
  /** What was looked at, such as `schedule`. */
  readonly what: string;
  /** `warning`: it works, but somebody should know. `unknown`: it was not looked at. */
  readonly state: 'ok' | 'warning' | 'problem' | 'unknown';
  readonly found: string;
  /** What to do about it; left out: nothing. */
  readonly act?: string;
}

/** A function that makes checks of one thing. */
export const checksOf = (what: string) => ({
  ok: (found: string): Check => ({ what, state: 'ok', found }),
  warning: (found: string, act: string): Check => ({ what, state: 'warning', found, act }),
  problem: (found: string, act: string): Check => ({ what, state: 'problem', found, act }),
  unknown: (found: string, act: string): Check => ({ what, state: 'unknown', found, act }),
});

/** Whether it is well, in one line: `2 problems, 1 warning; 5 looks found nothing`. */
export function verdictOf(checks: readonly Check[]): string {
  const count = (state: Check['state']) => checks.filter((check) => check.state === state).length;
  const parts = (
    [
      ['problem', 'problem', 'problems'],
      ['warning', 'warning', 'warnings'],
      ['unknown', 'not looked at', 'not looked at'],
    ] as const
  ).flatMap(([state, one, many]) => (count(state) === 0 ? [] : [`${count(state)} ${count(state) === 1 ? one : many}`]));
  return parts.length === 0 ? 'All is well.' : `${parts.join(', ')}; ${count('ok')} in order.`;
}
