import { median } from './median';
import type { RunResult } from './run-contender';
import type { Comparison, Entry } from './scenario';

export interface ComparisonResult extends Comparison {
  /** Median over the rounds of the ratio within a round; undefined where one side has no figure. */
  readonly ratio: number | undefined;
  readonly isReached: boolean | undefined;
}

/** Compares two rows round by round: what slows the machine for a while slows both. */
export function compare(
  comparison: Comparison,
  entries: readonly Entry[],
  runs: ReadonlyMap<string, readonly RunResult[]>,
): ComparisonResult {
  const { measure, of, to, atMost } = comparison;
  const value = (name: string, round: number) => {
    const run = runs.get(name)?.[round];
    if (measure !== 'wallMsPerCluster') return run?.[measure];
    const { clusters = 1, runs: times = 1 } = entries.find((entry) => entry.name === name)?.workload ?? {};
    return run?.wallMs === undefined ? undefined : run.wallMs / (clusters * times);
  };
  const ratios = (runs.get(of) ?? []).flatMap((_, round) => {
    const [a, b] = [value(of, round), value(to, round)];
    return a === undefined || b === undefined || b === 0 ? [] : [a / b];
  });
  if (ratios.length === 0) return { ...comparison, ratio: undefined, isReached: undefined };
  const ratio = median(ratios);
  return { ...comparison, ratio, isReached: atMost === undefined ? undefined : ratio <= atMost };
}
