import { configurationsPrefix, parseConfigurationKey } from '../archive/archive-layout';
import type { ArchiveReader } from './archive-reader';
import { Retention } from './retention';
import type { SeenRun } from './seen-run';
import type { StoredConfigurations } from './stored-configurations';

export interface ExpiryOptions {
  readonly reader: ArchiveReader;
  readonly configurations: StoredConfigurations;
  readonly now: Date;
  /** After how many days the lifecycle removes objects; left out: as the configurations say. */
  readonly days?: number | undefined;
  /** The runs after those that are added; read once, and only if it matters. Left out: there are none. */
  readonly later?: () => AsyncIterable<SeenRun>;
}

/** Judges what the lifecycle may have removed by the configurations that the archive has, or by a number of days. */
export class Expiry {
  readonly #options: ExpiryOptions;
  readonly #retention = new Retention();
  #isComplete: boolean;

  constructor(options: ExpiryOptions) {
    const { days, now } = options;
    this.#options = options;
    this.#isComplete = days !== undefined;
    if (days !== undefined) this.#retention.addUse({ sha256: '', days, usedAt: now });
  }

  /** Takes note of a run. Runs come in the order of their times. */
  add({ run, used }: SeenRun): void {
    if (this.#isComplete) return;
    this.#retention.addRun(run);
    for (const one of used) this.#retention.addUse(one);
  }

  /**
   * Whether the lifecycle may have removed by now what was written at a time.
   * @throws ArchiveReadError if the archive cannot be read
   */
  async mayHaveRemoved(writtenAt: Date): Promise<boolean> {
    const { now, later } = this.#options;
    if (!this.#isComplete) {
      for await (const run of later?.() ?? []) this.add(run);
      await this.#addUnnamed();
      this.#isComplete = true;
    }
    return this.#retention.mayHaveRemoved(writtenAt, now);
  }

  /** Configurations that no run names any more, because the lifecycle has removed all records that did. */
  async #addUnnamed(): Promise<void> {
    const { reader, configurations } = this.#options;
    for await (const { key, writtenAt } of reader.list(configurationsPrefix)) {
      const sha256 = parseConfigurationKey(key);
      if (sha256 === undefined || this.#retention.has(sha256)) continue;
      const days = (await configurations.get(sha256))?.retentionDays;
      this.#retention.addUse({ sha256, days, usedAt: writtenAt });
    }
  }
}
