import type { StoredRecord } from '../run/run-record';
import type { ArchiveReader } from './archive-reader';
import type { SeenRun, UsedSchedule } from './due-runs';
import { type RunConfiguration, StoredConfigurations } from './stored-configurations';

type ScheduledRecord = Readonly<{
  record: Pick<StoredRecord, 'trigger' | 'startedAt'>;
  configuration: Pick<RunConfiguration, 'firings'> | undefined;
}>;

/** What the records of a run show of when runs are due. */
export function seenRun(run: Date, records: readonly ScheduledRecord[]): SeenRun {
  const isScheduled = records.some((one) => isFiring(one, run));
  const startedBy = isScheduled ? records.filter(isStarted) : [];
  return { run, isScheduled, startedBy: startedBy.map(usedSchedule), used: records.map(usedSchedule) };
}

export function isStarted({ record }: ScheduledRecord): boolean {
  return record.trigger === 'schedule';
}

function usedSchedule({ record, configuration }: ScheduledRecord): UsedSchedule {
  return { firings: configuration?.firings, usedAt: new Date(record.startedAt) };
}

/** Whether the schedule was really due at the run's time. The trigger alone does not tell: a local run claims it at any time. */
function isFiring({ record, configuration }: ScheduledRecord, run: Date): boolean {
  return record.trigger === 'schedule' && configuration?.firings?.includes(run) === true;
}

/** Follows what runs show of their schedules, for a reader that does not verify them. */
export class SeenRuns {
  readonly #configurations: StoredConfigurations;
  #records: Pick<StoredRecord, 'trigger' | 'startedAt' | 'configuration'>[] = [];

  constructor(reader: ArchiveReader) {
    this.#configurations = new StoredConfigurations(reader, undefined);
  }

  /** Takes note of a record. Its outcomes are not kept. */
  addRecord({ trigger, startedAt, configuration }: StoredRecord): void {
    this.#records.push({ trigger, startedAt, configuration });
  }

  /** The run whose records were added since the call before. @throws ArchiveReadError */
  async endRun(run: Date): Promise<SeenRun> {
    const records = this.#records;
    this.#records = [];
    const configured: ScheduledRecord[] = [];
    for (const record of records)
      configured.push({ record, configuration: await this.#configurations.get(record.configuration) });
    return seenRun(run, configured);
  }
}
