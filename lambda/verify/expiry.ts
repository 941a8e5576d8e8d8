import { configurationsPrefix, parseConfigurationKey } from '../archive/archive-layout';
import type { ArchiveReader } from './archive-reader';
import { Retention } from './retention';
import type { StoredConfigurations } from './stored-configurations';
import type { VerifiedRun } from './verify-run';

/**
 * Judges what the lifecycle may have removed by the configurations that the archive has, or by a number of days that the
 * user gives instead.
 */
export class Expiry {
  readonly #reader: ArchiveReader;
  readonly #configurations: StoredConfigurations;
  readonly #now: Date;
  readonly #retention = new Retention();
  readonly #isGiven: boolean;
  #hasRuns = false;
  #isComplete = false;

  /** @param days after which the lifecycle removes objects; undefined: as the configurations say */
  constructor(reader: ArchiveReader, configurations: StoredConfigurations, now: Date, days: number | undefined) {
    this.#reader = reader;
    this.#configurations = configurations;
    this.#now = now;
    this.#isGiven = days !== undefined;
    if (days !== undefined) this.#retention.add(new Date(0), [days]);
  }

  /** Takes note of a run. Runs come in the order of their times. */
  add({ run, retentions }: VerifiedRun): void {
    if (this.#isGiven || retentions === undefined) return;
    this.#hasRuns = true;
    this.#retention.add(run, retentions);
  }

  /**
   * Whether the lifecycle may have removed by now what was written at a time.
   * @param later the runs after those that were added; read once, and only if it matters
   * @throws ArchiveReadError if the archive cannot be read
   */
  async mayHaveRemoved(writtenAt: Date, later: () => AsyncIterable<VerifiedRun>): Promise<boolean> {
    if (!this.#isComplete && !this.#isGiven) {
      for await (const run of later()) this.add(run);
      // All run records have expired: nobody knows which of the configurations was the last.
      if (!this.#hasRuns) this.#retention.add(this.#now, await this.#allRetentions());
    }
    this.#isComplete = true;
    return this.#retention.mayHaveRemoved(writtenAt, this.#now);
  }

  async #allRetentions(): Promise<number[]> {
    const days: number[] = [];
    for await (const { key } of this.#reader.list(configurationsPrefix)) {
      const sha256 = parseConfigurationKey(key);
      const configuration = sha256 === undefined ? undefined : await this.#configurations.get(sha256);
      if (configuration?.retentionDays !== undefined) days.push(configuration.retentionDays);
    }
    return days;
  }
}
