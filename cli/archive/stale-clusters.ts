import { type FlappingCluster, Freshness, type StaleCluster, staleness } from '../../lambda/audit/freshness';
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

const isRequired = ({ isOptional }: { readonly isOptional: boolean }) => !isOptional;

/** Finds the clusters that some runs do not archive any more, by the rules of the audit. Optional ones are left out. */
export class StaleClusters {
  readonly #freshness = new Freshness([]);

  /** Takes note of a run. Runs come in the order of their times. */
  addRun({ run, outcomes }: Run): void {
    this.#freshness.add(run, outcomes);
  }

  /**
   * @param configuration undefined: what the runs cover counts
   * @param at the time from which hours are counted back
   */
  find(configuration: RunConfiguration | undefined, at: Date): FoundStale {
    const required =
      configuration && [...configuration.clusters].filter(([, own]) => Object.values(own).some(isRequired));
    const configured = required?.map(([uid]) => uid) ?? [...this.#freshness.covered.keys()];
    const clusters = configured.map((uid) => ({ uid }));
    const stale = staleness(this.#freshness.failing(clusters), at);
    return {
      stale,
      notCovered: configured.filter((uid) => !this.#freshness.covered.has(uid)).sort(),
      flapping: this.#freshness.flapping(clusters),
    };
  }
}
