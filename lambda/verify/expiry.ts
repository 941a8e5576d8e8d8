import { configurationsPrefix, parseConfigurationKey } from '../archive/archive-layout';
import type { ArchiveReader } from './archive-reader';
import { Retention } from './retention';
import type { StoredConfigurations } from './stored-configurations';
import type { ConfiguredRun } from './verify-run';

/**
 * Judges what the lifecycle may have removed by the configurations that the archive has, or by a number of days that the
 * user gives instead.
 */
export class Expiry {
  readonly #reader: ArchiveReader;
  readonly #configurations: StoredConfigurations;
  readonly #now: Date;
  readonly #retention = new Retention();
  #isComplete: boolean;

  /** @param days after which the lifecycle removes objects; undefined: as the configurations say */
  constructor(reader: ArchiveReader, configurations: StoredConfigurations, now: Date, days: number | undefined) {
    this.#reader = reader;
    this.#configurations = configurations;
    this.#now = now;
    this.#isComplete = days !== undefined;
    if (days !== undefined) this.#retention.addUse({ sha256: '', days, usedAt: now });
  }

  /** Takes note of a run. Runs come in the order of their times. */
  add({ run, retentions }: ConfiguredRun): void {
    if (this.#isComplete) return;
    this.#retention.addRun(run);
    for (const used of retentions) this.#retention.addUse(used);
  }

  /**
   * Whether the lifecycle may have removed by now what was written at a time.
   * @param later the runs after those that were added; read once, and only if it matters
   * @throws ArchiveReadError if the archive cannot be read
   */
  async mayHaveRemoved(writtenAt: Date, later: () => AsyncIterable<ConfiguredRun>): Promise<boolean> {
    if (!this.#isComplete) {
      for await (const run of later()) this.add(run);
      await this.#addUnnamed();
      this.#isComplete = true;
    }
    return this.#retention.mayHaveRemoved(writtenAt, this.#now);
  }

  /** Configurations that no run names any more, because the lifecycle has removed all records that did. */
  async #addUnnamed(): Promise<void> {
    for await (const { key, writtenAt } of this.#reader.list(configurationsPrefix)) {
      const sha256 = parseConfigurationKey(key);
      if (sha256 === undefined || this.#retention.has(sha256)) continue;
      const days = (await this.#configurations.get(sha256))?.retentionDays;
      this.#retention.addUse({ sha256, days, usedAt: writtenAt });
    }
  }
}
