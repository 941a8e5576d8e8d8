import type { Finding } from '../../lambda/verify/finding';
import type { VerifyCounts } from '../../lambda/verify/verify-archive';
import { runCollector } from './run-collector';

export interface Verified {
  readonly code: number;
  readonly result: VerifyCounts & { readonly ok: boolean; readonly findings: readonly Finding[] };
  /** `kind key` of each finding. */
  readonly kinds: readonly string[];
  readonly problems: readonly string[];
}

/** Long after the tests wrote their archive, so that nothing counts as just written. */
export const longAfter = new Date('2100-01-01T00:00:00Z');

/** Runs `verify --json` over an archive. */
export async function runVerify(location: string, args: readonly string[] = [], now = longAfter): Promise<Verified> {
  const { code, out, err } = await runCollector(['verify', '--archive', location, '--json', ...args], { now });
  if (out === '') throw new Error(err);
  const result = JSON.parse(out) as Verified['result'];
  return {
    code,
    result,
    kinds: result.findings.map(({ kind, key }) => `${kind} ${key}`),
    problems: result.findings.map(({ problem }) => problem),
  };
}
