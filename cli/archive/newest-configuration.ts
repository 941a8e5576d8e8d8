import type { StoredRecord } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type RunConfiguration, StoredConfigurations } from '../../lambda/verify/stored-configurations';

/** The configuration of the attempt that started last, of those whose records were added. */
export class NewestConfiguration {
  #record: Pick<StoredRecord, 'run' | 'startedAt' | 'configuration'> | undefined;

  /** That attempt's run, and when the attempt started. */
  get attempt(): Pick<StoredRecord, 'run' | 'startedAt'> | undefined {
    return this.#record;
  }

  addRecord({ run, startedAt, configuration }: StoredRecord): void {
    if (this.#record === undefined || startedAt >= this.#record.startedAt)
      this.#record = { run, startedAt, configuration };
  }

  /**
   * Undefined if no record was added, or the archive has no usable configuration: `verify` says what is wrong with it.
   * @throws ArchiveReadError
   */
  async read(reader: ArchiveReader): Promise<RunConfiguration | undefined> {
    return this.#record && new StoredConfigurations(reader, undefined).get(this.#record.configuration);
  }
}
