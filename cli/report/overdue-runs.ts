import type { StoredRecord } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type AbsentRuns, describeAbsent } from '../../lambda/verify/due-runs';
import { NewestConfiguration } from '../archive/newest-configuration';

/** How long after its time a run may still be without a record, in milliseconds: its first attempt may take 15 minutes. */
const graceMs = 30 * 60_000;

/** Most runs that are counted. */
const mostCounted = 1000;

/** Says which runs the schedule was due to start since the newest record, as far as that record's configuration says. */
export class OverdueRuns {
  readonly #configuration = new NewestConfiguration();
  /** Undefined while every run was started by a person: the schedule may never have been deployed. */
  #lastScheduled: string | undefined;

  addRecord(record: StoredRecord): void {
    this.#configuration.addRecord(record);
    if (record.trigger === 'schedule') this.#lastScheduled = record.run;
  }

  /**
   * Undefined if there are none.
   * @throws ArchiveReadError if the archive cannot be read
   */
  async describe(reader: ArchiveReader, now: Date): Promise<string | undefined> {
    const { attempt } = this.#configuration;
    if (attempt === undefined || this.#lastScheduled === undefined) return undefined;
    const found = await this.#configuration.read(reader);
    if (found?.firings === undefined) return undefined;
    const times = [attempt.run, attempt.startedAt, this.#lastScheduled].map((time) => Date.parse(time));
    const from = Math.max(...times) + 1;
    const due: Date[] = [];
    for (const { at } of found.firings.between(new Date(from), new Date(now.getTime() - graceMs))) {
      if (due.length === mostCounted) return describe({ times: due, areMore: true });
      due.push(at);
    }
    return due.length === 0 ? undefined : describe({ times: due, areMore: false });
  }
}

/** A schedule fires at whole minutes. */
function describe(absent: AbsentRuns): string {
  return describeAbsent(absent).replaceAll('.000Z', 'Z');
}
