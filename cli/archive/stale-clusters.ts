import { Freshness, type StaleCluster, staleness } from '../../lambda/audit/freshness';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import type { Run } from '../../lambda/verify/read-run';
import type { RunConfiguration } from '../../lambda/verify/stored-configurations';

export interface FoundStale {
  /** Clusters that the last run that covers them did not archive whole, the longest first. */
  readonly stale: readonly StaleCluster[];
  /** Configured clusters that none of the runs covers. */
  readonly notCovered: readonly string[];
  /** Clusters that are archived in some of these runs, and not in a fifth of them or more; the worst first. */
  readonly flapping: readonly FlappingCluster[];
}

export interface FlappingCluster {
  readonly cluster: string;
  /** How many of the runs that cover it did not archive all of it. */
  readonly failed: number;
  readonly runs: number;
}

/** Fewest failures that are a habit, and least share of the runs. */
const leastFailures = 3;
const leastShare = 0.2;

const isRequired = ({ isOptional }: { readonly isOptional: boolean }) => !isOptional;

/** Finds the clusters that some runs do not archive any more, by the rules of the audit. Optional ones are left out. */
export class StaleClusters {
  readonly #freshness = new Freshness([]);
  /** Of each cluster, how many runs cover it, and how many of them did not archive all of it. */
  readonly #covered = new Map<string, { failed: number; runs: number }>();

  /** Takes note of a run. Runs come in the order of their times. */
  addRun({ run, outcomes }: Run): void {
    this.#freshness.add(run, outcomes);
    const failed = new Set(outcomes.filter(isMissed).map(({ cluster }) => cluster));
    for (const cluster of new Set(outcomes.map((outcome) => outcome.cluster))) {
      const counts = this.#covered.get(cluster) ?? { failed: 0, runs: 0 };
      this.#covered.set(cluster, counts);
      counts.runs += 1;
      if (failed.has(cluster)) counts.failed += 1;
    }
  }

  /**
   * @param configuration undefined: what the runs cover counts
   * @param at the time from which hours are counted back
   */
  find(configuration: RunConfiguration | undefined, at: Date): FoundStale {
    const required =
      configuration && [...configuration.clusters].filter(([, own]) => Object.values(own).some(isRequired));
    const configured = required?.map(([uid]) => uid) ?? [...this.#covered.keys()];
    const clusters = configured.map((uid) => ({ uid }));
    const stale = staleness(this.#freshness.failing(clusters), at);
    return {
      stale,
      notCovered: configured.filter((uid) => !this.#covered.has(uid)).sort(),
      flapping: this.#flapping(configured, stale),
    };
  }

  /** A cluster whose only failures are the last of these runs is stale, and no more. */
  #flapping(configured: readonly string[], stale: readonly StaleCluster[]): FlappingCluster[] {
    const lastFailures = new Map(stale.map(({ cluster, runs }) => [cluster, runs]));
    return configured
      .map((cluster) => ({ cluster, failed: 0, runs: 0, ...this.#covered.get(cluster) }))
      .filter(({ failed, runs }) => failed >= leastFailures && failed >= leastShare * runs && failed < runs)
      .filter(({ cluster, failed }) => failed !== lastFailures.get(cluster))
      .sort((a, b) => b.failed / b.runs - a.failed / a.runs);
  }
}

/** What is missing of an optional cluster is no failure. */
function isMissed(outcome: RunOutcome): boolean {
  return !isStored(outcome) && outcome.optional !== true;
}
