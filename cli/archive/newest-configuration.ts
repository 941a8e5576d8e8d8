import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import type { AttemptStart } from '../../lambda/verify/merge-records';
import type { Run } from '../../lambda/verify/read-run';
import { type RunConfiguration, StoredConfigurations } from '../../lambda/verify/stored-configurations';

/** The configuration of the attempt that started last, of those of the runs that were added. */
export class NewestConfiguration {
  #newest: AttemptStart | undefined;

  addRun({ starts }: Pick<Run, 'starts'>): void {
    for (const start of starts)
      if (this.#newest === undefined || start.startedAt >= this.#newest.startedAt) this.#newest = start;
  }

  /**
   * Undefined if no record was added, or the archive has no usable configuration: `verify` says what is wrong with it.
   * @throws ArchiveReadError
   */
  async read(reader: ArchiveReader): Promise<RunConfiguration | undefined> {
    return this.#newest && new StoredConfigurations(reader, undefined).get(this.#newest.configuration);
  }
}
