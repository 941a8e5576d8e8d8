import type { Failure } from '../run/group-reasons';
import { isStored, type RunOutcome } from '../run/run-record';
import type { ConfiguredCluster } from '../stack-contract';
import type { Failing } from '../verify/seals/seal';

const hourMs = 3_600_000;

/** A cluster that runs do not archive, with why the last of them did not. */
export interface FailingCluster extends Failing {
  readonly failures: readonly Failure[];
}

export interface StaleCluster extends Pick<Failing, 'cluster' | 'runs' | 'lastArchived'> {
  /** Since `lastArchived`, or since the first of the `runs` where that is null. */
  readonly hours: number;
}

/** Knows since when and for how many runs clusters were not archived. Optional clusters are left out. */
export class Freshness {
  readonly #failing = new Map<string, FailingCluster>();
  /** Last run that archived all of a cluster, as far as this audit has seen runs. */
  readonly #archived = new Map<string, string>();

  /** @param failing as the seal before has it */
  constructor(failing: readonly Failing[]) {
    for (const one of failing) this.#failing.set(one.cluster, { ...one, failures: [] });
  }

  /** Takes note of what a run archived before those that are new. */
  addKnown(run: Date, outcomes: Iterable<RunOutcome>): void {
    const time = run.toISOString();
    for (const [cluster, failures] of failuresOf(outcomes))
      if (failures.length === 0) this.#archived.set(cluster, time);
  }

  /** Takes note of a run with new records. Runs come in the order of their times; one that is completed comes again. */
  add(run: Date, outcomes: Iterable<RunOutcome>): void {
    const time = run.toISOString();
    for (const [cluster, failures] of failuresOf(outcomes)) {
      const before = this.#failing.get(cluster);
      if (failures.length === 0) {
        this.#archived.set(cluster, time);
        if (before !== undefined && time >= before.last) this.#failing.delete(cluster);
        else if (before !== undefined && time > (before.lastArchived ?? ''))
          this.#failing.set(cluster, { ...before, lastArchived: time });
      } else if (failures.some(({ optional }) => !optional)) {
        this.#failing.set(cluster, this.#failed(cluster, time, failures, before));
      }
    }
  }

  #failed(
    cluster: string,
    time: string,
    failures: readonly Failure[],
    before: FailingCluster | undefined,
  ): FailingCluster {
    if (before === undefined) {
      const lastArchived = this.#archived.get(cluster) ?? null;
      return { cluster, since: time, last: time, runs: 1, lastArchived, failures };
    }
    if (time < before.last) return before;
    return { ...before, last: time, runs: before.runs + (time > before.last ? 1 : 0), failures };
  }

  /** Configured clusters that fail, the longest first. */
  failing(clusters: readonly Pick<ConfiguredCluster, 'uid' | 'optional'>[]): FailingCluster[] {
    const configured = new Set(clusters.filter(({ optional }) => !optional).map(({ uid }) => uid));
    return [...this.#failing.values()]
      .filter(({ cluster }) => configured.has(cluster))
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
