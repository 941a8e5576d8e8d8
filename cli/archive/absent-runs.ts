import { hourMs } from '../../archive/format/clocks';
import { problems } from '../../archive/format/problems';
import { type AbsentRuns, dueBetween, dueNow, type Span } from '../../archive/prove';
import { isWithin, type Period, type StoredConfigurations } from '../../archive/read';
import { runMarginHours } from '../../lambda/time-limits';
import { formatCount, formatTime } from '../terminal/format';
import type { OpenedArchive } from './open-archive';
import type { HeldPlace } from './recorded-object';

/** Runs that were due one after the other and are not there. */
export interface AbsentRow extends AbsentRuns {
  /** The first of them. */
  readonly run: Date;
  readonly outcomes: readonly [];
  readonly records: readonly [];
}

export function isAbsent<Row extends object>(row: Row | AbsentRow): row is AbsentRow {
  return 'times' in row;
}

export function rowOf(absent: AbsentRuns): AbsentRow | undefined {
  const [run] = absent.times;
  return run && { ...absent, run, outcomes: [], records: [] };
}

/** Runs that were due since the last scheduled run, have had their time, and are not there. */
export interface Overdue extends AbsentRow {
  /** In a sentence. */
  readonly text: string;
}

export interface OverdueNow {
  /** What was due up to now, and is not there. */
  readonly due: AbsentRuns;
  /** Undefined if nothing is. */
  readonly overdue?: Overdue | undefined;
  /** Why nobody can say what is due; undefined: it can be said. */
  readonly unknown?: string | undefined;
}

/**
 * What is overdue by the archive's own time. Nothing is in an archive without a clock: that is a folder, a copy or one that
 * `npm start` fills, and nothing fires there.
 * @throws ArchiveReadError
 */
export async function findOverdue(
  { archive, now, isLive }: OpenedArchive,
  configurations: StoredConfigurations,
): Promise<OverdueNow> {
  if (!isLive) return { due: { times: [], areMore: false } };
  // The archive does not say whether one run waits for another: so it may.
  const longestMs = (shards: number) => runMarginHours(shards, true) * hourMs;
  const { due, isSealed, unscheduled } = await dueNow(archive, configurations, now, longestMs);
  const absent = rowOf(due);
  return {
    due,
    overdue: absent && { ...absent, text: describeOverdue(absent, isSealed) },
    unknown:
      unscheduled === undefined
        ? undefined
        : `the schedule started none of the newest ${formatCount(unscheduled, 'run')}`,
  };
}

/**
 * Which scheduled runs between a run and a time left no record, in words; undefined: none.
 * @param passed that run, and those behind it up to the time, the newest first
 * @throws ArchiveReadError
 */
export async function findAbsent(
  opened: OpenedArchive,
  configurations: StoredConfigurations,
  period: Span,
  passed: readonly Pick<HeldPlace, 'run' | 'record'>[],
): Promise<string | undefined> {
  const { archive, isLive } = opened;
  const read = passed.toReversed().map(({ run, record }) => record ?? { run, starts: [] });
  const { absent, isOpen } = await dueBetween(archive, configurations, period, read);
  const sinceThen = isLive && isOpen ? [(await findOverdue(opened, configurations)).due] : [];
  return describeTimes([...absent, ...sinceThen], { from: new Date(period.from.getTime() + 1), to: period.to });
}

/** `2 scheduled runs left no record: 2026-11-20T10:00:00Z to 2026-11-20T11:00:00Z`; undefined: none. */
export function describeTimes(absent: readonly AbsentRuns[], period: Period): string | undefined {
  const times = absent.flatMap((one) => one.times).filter((time) => isWithin(time, period));
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const more = absent.some(({ areMore }) => areMore) ? 'more than ' : '';
  const when = first === last ? formatTime(first) : `${formatTime(first)} to ${formatTime(last)}`;
  return `${more}${formatCount(times.length, 'scheduled run')} left no record: ${when}`;
}

function describeOverdue({ run, times, areMore }: AbsentRow, isSealed: boolean): string {
  const count = `${areMore ? 'more than ' : ''}${times.length}`;
  const missing =
    times.length === 1 ? problems.absentRun(formatTime(run)) : problems.absentRunsSince(count, formatTime(run));
  return `${missing}${isSealed ? '' : ', unless the schedule was switched off or the stack removed'}`;
}
