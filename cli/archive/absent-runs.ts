import { hourMs } from '../../archive/format/clocks';
import { problems } from '../../archive/format/problems';
import {
  type AbsentRuns,
  DueRuns,
  mostRunsBeside,
  planOf,
  readHead,
  runsBefore,
  runsUntilScheduled,
  type SeenRun,
  type Span,
  seenRun,
} from '../../archive/prove';
import {
  ArchiveReadError,
  isWithin,
  type ListedRun,
  type Period,
  readStarts,
  type StoredConfigurations,
} from '../../archive/read';
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

export interface DueNow {
  /** What was due up to now, and is not there. */
  readonly due: AbsentRuns;
  /** Undefined if nothing is. */
  readonly overdue?: Overdue | undefined;
  /** Why nobody can say what is due; undefined: it can be said. */
  readonly unknown?: string | undefined;
}

/**
 * What is overdue by the archive's own time. Nothing is in an archive without a clock: that is a folder, a copy or one that
 * `npm start` fills, and nothing fires there. It looks back to the last run that the schedule started, however many a person
 * started since.
 * @throws ArchiveReadError
 */
export async function findOverdue(
  { archive, now, isLive }: OpenedArchive,
  configurations: StoredConfigurations,
): Promise<DueNow> {
  if (!isLive) return { due: { times: [], areMore: false } };
  let shards = 1;
  const read = async (listed: ListedRun) => {
    for (const { shard } of listed.records) shards = Math.max(shards, shard?.count ?? 1);
    return seenRun(await readStarts(archive, listed), configurations);
  };
  const dueRuns = new DueRuns({});
  const runs = await runsBefore(archive, { from: new Date(now.getTime() + 1) }, read);
  for (const run of runs) dueRuns.add(run);
  // Whoever may not list the seals, as a stack's own function, goes by the configurations alone.
  const chain = await readHead(archive, {}, () => undefined).catch((error: unknown) => {
    if (error instanceof ArchiveReadError && error.isLasting) return undefined;
    throw error;
  });
  const plan = chain?.head && planOf(chain.head);
  const isUnknown = plan === undefined && runs.length === mostRunsBeside && runs[0]?.isScheduled !== true;
  const unknown = isUnknown
    ? `the schedule started none of the newest ${formatCount(mostRunsBeside, 'run')}`
    : undefined;
  // The archive does not say whether one run waits for another: so it may.
  const until = new Date(now.getTime() - runMarginHours(plan?.shards ?? shards, true) * hourMs);
  const due = dueRuns.upTo(until, plan);
  const absent = rowOf(due);
  const isSealed = runs.every(({ used }) => used.every(({ usedAt }) => plan !== undefined && usedAt <= plan.usedAt));
  return { due, overdue: absent && { ...absent, text: describeOverdue(absent, isSealed) }, unknown };
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
  const read = async (listed: ListedRun) => seenRun(await readStarts(archive, listed), configurations);
  const seen: SeenRun[] = [];
  for (const { run, record } of passed.toReversed())
    seen.push(await seenRun(record ?? { run, starts: [] }, configurations));
  if (seen[0]?.isScheduled !== true) seen.unshift(...(await runsBefore(archive, period, read)));
  const next = await runsUntilScheduled(archive, period, read);
  const due = new DueRuns(period);
  const absent = [...seen, ...next].map((run) => due.add(run));
  const isLast = isLive && next.every(({ isScheduled }) => !isScheduled);
  if (isLast) absent.push((await findOverdue(opened, configurations)).due);
  return describeTimes(absent, { from: new Date(period.from.getTime() + 1), to: period.to });
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

/** @param isSealed whether a seal says that the schedule was in force: its plan is newer than every stored configuration */
function describeOverdue({ run, times, areMore }: AbsentRow, isSealed: boolean): string {
  const count = `${areMore ? 'more than ' : ''}${times.length}`;
  const missing =
    times.length === 1 ? problems.absentRun(formatTime(run)) : problems.absentRunsSince(count, formatTime(run));
  return `${missing}${isSealed ? '' : ', unless the schedule was switched off or the stack removed'}`;
}
