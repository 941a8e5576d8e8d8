import { Freshness, type StaleCluster, staleness } from '../../lambda/audit/freshness';
import type { StoredRecord } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import type { Run } from '../../lambda/verify/read-run';
import { NewestConfiguration } from './newest-configuration';

export interface FoundStale {
  /** Clusters that the last run that covers them did not archive whole, the longest first. */
  readonly stale: readonly StaleCluster[];
  /** Configured clusters that none of the runs covers. */
  readonly notCovered: readonly string[];
}

const isRequired = ({ isOptional }: { readonly isOptional: boolean }) => !isOptional;

/** Finds the clusters that some runs do not archive any more, by the rules of the audit. Optional ones are left out. */
export class StaleClusters {
  readonly #freshness = new Freshness([]);
  readonly #covered = new Set<string>();
  readonly #configuration = new NewestConfiguration();

  addRecord(record: StoredRecord): void {
    this.#configuration.addRecord(record);
  }

  /** Takes note of a run. Runs come in the order of their times. */
  addRun({ run, outcomes }: Run): void {
    this.#freshness.add(run, outcomes);
    for (const { cluster } of outcomes) this.#covered.add(cluster);
  }

  /**
   * @param at the time from which hours are counted back
   * @throws ArchiveReadError
   */
  async find(reader: ArchiveReader, at: Date): Promise<FoundStale> {
    const configuration = await this.#configuration.read(reader);
    const required =
      configuration && [...configuration.clusters].filter(([, own]) => Object.values(own).some(isRequired));
    const configured = required?.map(([uid]) => uid) ?? [...this.#covered];
    const clusters = configured.map((uid) => ({ uid }));
    return {
      stale: staleness(this.#freshness.failing(clusters), at),
      notCovered: configured.filter((uid) => !this.#covered.has(uid)).sort(),
    };
  }
}
