import type { Firings } from '../format/schedule/firings';
import type { ArchiveReader } from '../read/archive-reader';
import { mapConcurrently } from '../read/map-concurrently';
import { newestFirst, take } from '../read/newest-first';
import type { StoredRun } from '../read/read-run';
import { type ListedRun, type Period, runsBetween } from '../read/run-keys';
import type { StoredConfigurations } from '../read/stored-configurations';

/** A schedule that was in force. */
export interface UsedSchedule {
  /** Undefined: it was disabled, or its configuration is not known. */
  readonly firings: Firings | undefined;
  readonly usedAt: Date;
}

/** The configuration of one attempt, as its record names it. */
export interface UsedConfiguration extends UsedSchedule {
  readonly sha256: string;
  /** Whether it can be used. */
  readonly isKnown: boolean;
  /** Whether the schedule started the attempt. */
  readonly isStart: boolean;
}

/** What the records of a run show of when runs are due and of how long objects are kept. */
export interface SeenRun {
  readonly run: Date;
  /**
   * Whether the schedule started it, and was due at its time: the trigger alone does not tell, a local run claims it at any
   * time. A run that a person started is never due.
   */
  readonly isScheduled: boolean;
  /** Of all its attempts, also of those that completed it much later. */
  readonly used: readonly UsedConfiguration[];
}

/** @throws ArchiveReadError if a configuration could be read another time */
export async function seenRun(
  { run, starts }: Pick<StoredRun, 'run' | 'starts'>,
  configurations: StoredConfigurations,
): Promise<SeenRun> {
  const used: UsedConfiguration[] = [];
  for (const { configuration: sha256, startedAt, trigger } of starts) {
    const configuration = await configurations.get(sha256);
    used.push({
      sha256,
      isKnown: configuration !== undefined,
      firings: configuration?.firings,
      usedAt: new Date(startedAt),
      isStart: trigger === 'schedule',
    });
  }
  return { run, isScheduled: used.some(({ isStart, firings }) => isStart && firings?.includes(run) === true), used };
}

/** Runs beside a period that are read at most to find the one that the schedule started: most are read by their first lines. */
export const mostRunsBeside = 1000;

/** Runs that are read at once. */
const readAtOnce = 4;

type Read = (listed: ListedRun) => Promise<SeenRun>;

/** The last run before a period that the schedule started, and the runs between it and the period, in order. */
export async function runsBefore(reader: ArchiveReader, { from }: Period, read: Read): Promise<SeenRun[]> {
  if (from === undefined) return [];
  const list = (period: Period) => runsBetween(reader, period);
  const before = newestFirst(list, { to: new Date(from.getTime() - 1) }, from);
  return (await untilScheduled(before, read)).reverse();
}

/** The runs after a period up to the first that the schedule started. */
export async function runsUntilScheduled(reader: ArchiveReader, { to }: Period, read: Read): Promise<SeenRun[]> {
  if (to === undefined) return [];
  return untilScheduled(runsBetween(reader, { from: new Date(to.getTime() + 1) }), read);
}

async function untilScheduled(listed: AsyncIterable<ListedRun>, read: Read): Promise<SeenRun[]> {
  const runs: SeenRun[] = [];
  for await (const run of mapConcurrently(take(mostRunsBeside, listed), readAtOnce, read)) {
    runs.push(run);
    if (run.isScheduled) break;
  }
  return runs;
}
