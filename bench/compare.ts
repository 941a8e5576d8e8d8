import type { RunResult } from './run-contender';
import type { Comparison, Entry } from './scenarios';

export interface ComparisonResult extends Comparison {
  /** The ratio of each round, then the median of these; undefined where one row has no figure. */
  readonly ratio: number | undefined;
  /** Undefined where there is no goal, or no ratio. */
  readonly isReached: boolean | undefined;
}

/** Compares two rows round by round, because a machine that is slow for a while slows both. */
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

/** The middle value. For an even number of values it is the mean of the two in the middle; for none it is NaN. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
