import type { RunRecord } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type AbsentRuns, describeAbsent } from '../../lambda/verify/due-runs';
import { StoredConfigurations } from '../../lambda/verify/stored-configurations';

/** How long after its time a run may still be without a record, in milliseconds: its first attempt may take 15 minutes. */
const graceMs = 30 * 60_000;

/** Most runs that are counted. */
const mostCounted = 1000;

/** Says which runs the schedule was due to start since the newest record, as far as that record's configuration says. */
export class OverdueRuns {
  #newest: RunRecord | undefined;
  /** Undefined while every run was started by a person: the schedule may never have been deployed. */
  #lastScheduled: string | undefined;

  addRecord(record: RunRecord): void {
    if (this.#newest === undefined || record.startedAt >= this.#newest.startedAt) this.#newest = record;
    if (record.trigger === 'schedule') this.#lastScheduled = record.run;
  }

  /**
   * Undefined if there are none.
   * @throws ArchiveReadError if the archive cannot be read
   */
  async describe(reader: ArchiveReader, now: Date): Promise<string | undefined> {
    if (this.#newest === undefined || this.#lastScheduled === undefined) return undefined;
    const { configuration, run, startedAt } = this.#newest;
    // What is wrong with a configuration, `verify` says.
    const found = await new StoredConfigurations(reader, () => undefined).get(configuration);
    if (found?.firings === undefined) return undefined;
    const from = Math.max(...[run, startedAt, this.#lastScheduled].map((time) => Date.parse(time))) + 1;
    const times: Date[] = [];
    for (const { at } of found.firings.between(new Date(from), new Date(now.getTime() - graceMs))) {
      if (times.length === mostCounted) return describe({ times, areMore: true });
      times.push(at);
    }
    return times.length === 0 ? undefined : describe({ times, areMore: false });
  }
}

/** A schedule fires at whole minutes. */
function describe(absent: AbsentRuns): string {
  return describeAbsent(absent).replaceAll('.000Z', 'Z');
}
