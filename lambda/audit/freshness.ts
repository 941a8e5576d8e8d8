import type { Failure } from '../run/group-reasons';
import { isStored, type RunOutcome } from '../run/run-record';
import { hourMs } from '../time-limits';
import type { Failing } from '../verify/seals/seal-state';

/** A cluster that runs do not archive. */
export interface FailingCluster extends Failing {
  /** Why the last of them did not: of two resources, the first. Undefined: none of the runs that were added covers it. */
  readonly failure: Failure | undefined;
}

export interface StaleCluster extends Pick<Failing, 'cluster' | 'runs' | 'lastArchived'> {
  /** Since `lastArchived`, or since the first of the `runs` where that is null. */
  readonly hours: number;
}

/** A cluster that fails now and then: in a fifth of the runs that cover it or more. */
export interface FlappingCluster {
  readonly cluster: string;
  /** How many of the runs that cover it did not archive all of it. */
  readonly failed: number;
  readonly runs: number;
}

/** Fewest failures that are a habit, and least share of the runs. */
const leastFailures = 3;
const leastShare = 0.2;

/** Knows since when and for how many runs clusters were not archived. */
export class Freshness {
  /** Of each cluster, how many of the runs that were added cover it, and how many of them did not archive all of it. */
  readonly #covered = new Map<string, { failed: number; runs: number }>();
  readonly #failing = new Map<string, FailingCluster>();
  /** Last run that archived all of a cluster, as far as this audit has seen runs. */
  readonly #archived = new Map<string, string>();

  /** @param failing as the seal before has it */
  constructor(failing: readonly Failing[]) {
    for (const one of failing) this.#failing.set(one.cluster, { ...one, failure: undefined });
  }

  /**
   * Takes note of a run. Runs come in the order of their times; one that is completed comes again.
   * @param isNew false: a run before those that are new, which tells only what was archived
   */
  add(run: Date, outcomes: Iterable<RunOutcome>, isNew = true): void {
    const time = run.toISOString();
    for (const [cluster, failures] of failuresOf(outcomes)) {
      const known = this.#archived.get(cluster) ?? null;
      if (failures.length === 0) this.#archived.set(cluster, time);
      if (!isNew) continue;
      const isFailed = failures.some(({ optional }) => !optional);
      const counts = this.#covered.get(cluster) ?? { failed: 0, runs: 0 };
      this.#covered.set(cluster, { failed: counts.failed + Number(isFailed), runs: counts.runs + 1 });
      const [failure] = failures;
      const first = { cluster, since: time, last: '', runs: 0, lastArchived: known, failure };
      const before = this.#failing.get(cluster) ?? first;
      if (isFailed && time >= before.last)
        this.#failing.set(cluster, { ...before, last: time, runs: before.runs + Number(time > before.last), failure });
      else if (failures.length === 0 && time >= before.last) this.#failing.delete(cluster);
      else if (failures.length === 0 && time > (before.lastArchived ?? ''))
        this.#failing.set(cluster, { ...before, lastArchived: time });
    }
  }

  /** Clusters that the runs cover that were added. */
  get covered(): Pick<ReadonlySet<string>, 'has' | 'keys'> {
    return this.#covered;
  }

  /**
   * Those of the clusters that fail now and then, by the runs that were added; the worst first. One whose only failures are
   * the last of these runs fails, and no more.
   */
  flapping(clusters: readonly string[]): FlappingCluster[] {
    return clusters
      .map((cluster) => ({ cluster, failed: 0, runs: 0, ...this.#covered.get(cluster) }))
      .filter(({ failed, runs }) => failed >= leastFailures && failed >= leastShare * runs && failed < runs)
      .filter(({ cluster, failed }) => failed > (this.#failing.get(cluster)?.runs ?? 0))
      .sort((a, b) => b.failed / b.runs - a.failed / a.runs);
  }

  /** Those of the clusters that fail, the longest first. */
  failing(clusters: readonly string[]): FailingCluster[] {
    return clusters
      .flatMap((cluster) => this.#failing.get(cluster) ?? [])
      .sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : a.cluster < b.cluster ? -1 : 1));
  }
}

/** Hours since each failing cluster was archived, or since it first failed if it never was; the longest first. */
export function staleness(failing: readonly Failing[], now: Date): StaleCluster[] {
  return failing
    .map(({ cluster, runs, lastArchived, since }) => ({
      cluster,
      runs,
      lastArchived,
      hours: hoursBetween(Date.parse(lastArchived ?? since), now),
    }))
    .sort((a, b) => b.hours - a.hours);
}

/** Never negative: clocks may be off. */
export function hoursBetween(time: number, now: Date): number {
  return Math.max(0, (now.getTime() - time) / hourMs);
}

const none: readonly RunOutcome[] = [];

/** What was not archived, of every cluster that the outcomes cover. */
function failuresOf(outcomes: Iterable<RunOutcome>): ReadonlyMap<string, readonly RunOutcome[]> {
  const clusters = new Map<string, readonly RunOutcome[]>();
  for (const outcome of outcomes) {
    const own = clusters.get(outcome.cluster) ?? none;
    clusters.set(outcome.cluster, isStored(outcome) ? own : [...own, outcome]);
  }
  return clusters;
}
