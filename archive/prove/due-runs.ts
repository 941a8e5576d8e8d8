import { clockSlackMs, dayMs } from '../format/clocks';
import type { Finding } from '../format/finding';
import { runPrefix } from '../format/keys';
import { problems } from '../format/problems';
import type { Firings } from '../format/schedule/firings';
import type { NotSeen } from '../format/verdict';
import type { Period } from '../read/run-keys';
import type { SeenRun, UsedSchedule } from './seen-run';

/** Times at which the schedule was due, one after the other, and no run is there. */
export interface AbsentRuns {
  readonly times: readonly Date[];
  /** There are more of them than are looked at. */
  readonly areMore: boolean;
  /** Where nobody can tell what was due; undefined: nowhere. */
  readonly notJudged?: Span | undefined;
}

/** Two times, both included. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

/** Most absent runs between two others that are listed, and most firings that are looked at for that. */
const mostListed = 1000;
const mostFirings = 100_000;

/**
 * Finds the runs of the schedule that are missing. Runs come in the order of their times. Only what lies between two runs
 * that the schedule started is judged, because before and after them it may not have been deployed. Between two runs, a
 * configuration may have been deployed at any time. A firing is missed only if every schedule in force at the
 * two runs or between them has it.
 */
export class DueRuns {
  readonly #judged: Period;
  #previous: SeenRun | undefined;
  /** Schedules in force since the scheduled run before, as far as runs have shown. */
  #used: UsedSchedule[] = [];
  /** Times of the runs since then, and of the day before it: a time that comes twice may have been answered there. */
  #runs: number[] = [];

  /** @param judged only what was due in this period is judged */
  constructor(judged: Period) {
    this.#judged = judged;
  }

  /** @returns what was due between the scheduled run before and this one, and is not there */
  add(seen: SeenRun): AbsentRuns {
    const { run, isScheduled, used } = seen;
    this.#runs.push(run.getTime());
    for (const one of used) this.#used.push(one);
    if (!isScheduled) return nothing;
    const absent = this.#previous === undefined ? nothing : this.#absentBetween(this.#previous, seen);
    // Not what was given: the records of the run may come with it.
    this.#previous = { run, isScheduled, used };
    this.#used = this.#used.filter(({ usedAt }) => usedAt.getTime() >= run.getTime() - clockSlackMs);
    this.#runs = this.#runs.filter((other) => other > run.getTime() - dayMs);
    return absent;
  }

  /**
   * What was due since the last run that the schedule started, up to a time, and is not there. From when the newest schedule
   * was seen in force, it alone decides; before that, what all have.
   * @param plan a schedule that the runs do not show
   */
  upTo(until: Date, plan?: UsedSchedule): AbsentRuns {
    const used = [...this.#used, ...(plan === undefined ? [] : [plan])].sort(
      (a, b) => a.usedAt.getTime() - b.usedAt.getTime(),
    );
    const [newest, began] = [used.at(-1), this.#previous?.run ?? plan?.usedAt];
    if (newest === undefined || began === undefined) return nothing;
    const since = latest(began, this.#judged.from);
    const [from, to] = [latest(newest.usedAt, since), earliest(until, this.#judged.to)];
    const runs = new Set(this.#runs);
    const before = dueIn(schedulesOf(used), { from: since, to: earliest(from, to) }, runs);
    const after = dueIn(schedulesOf([newest]), { from, to }, runs);
    const times = [...before.times, ...after.times];
    const [notJudged] = joinSpans([before, after]);
    return { times, areMore: before.areMore || after.areMore, notJudged };
  }

  #absentBetween(before: SeenRun, after: SeenRun): AbsentRuns {
    const end = after.run.getTime() + clockSlackMs;
    const between = this.#used.filter(({ usedAt }) => usedAt.getTime() <= end);
    const used = [...startedBy(before), ...between, ...startedBy(after)];
    const judged = { from: latest(before.run, this.#judged.from), to: earliest(after.run, this.#judged.to) };
    return dueIn(schedulesOf(used), judged, new Set(this.#runs));
  }
}

/** The schedules under which the schedule started its attempts. */
function startedBy({ used }: SeenRun): UsedSchedule[] {
  return used.filter(({ isStart }) => isStart);
}

function schedulesOf(used: readonly UsedSchedule[]): (Firings | undefined)[] {
  return used.map(({ firings }) => firings);
}

/**
 * What was due in a period, both ends included. While the configuration changed, only what all schedules have was due for
 * sure. Nobody can tell while one of them was disabled, or cannot be read, which is undefined.
 * @param runs times of the runs that have a record, or of the audits that have a seal
 * @returns how many were due, and those of them that no run is of
 */
export function dueIn(
  schedules: readonly (Firings | undefined)[],
  { from, to }: Span,
  runs: ReadonlySet<number>,
): AbsentRuns & { readonly runs: number } {
  const distinct = new Set(schedules);
  const [schedule, ...others] = distinct;
  if (from > to || distinct.size === 0) return nothing;
  if (schedule === undefined || distinct.has(undefined)) return { ...nothing, notJudged: { from, to } };
  const times: Date[] = [];
  let due = 0;
  let absent = 0;
  let looked = 0;
  for (const { at, orAt = at } of schedule.between(from, to)) {
    looked += 1;
    if (looked > mostFirings) return { runs: due, times, areMore: true };
    if (!others.every((other) => other?.includes(at))) continue;
    due += 1;
    if (runs.has(at.getTime()) || runs.has(orAt.getTime())) continue;
    absent += 1;
    if (absent <= mostListed) times.push(at);
  }
  return { runs: due, times, areMore: absent > mostListed };
}

/** What is to be said of absent runs, if there are any. */
export function absentFindings(absent: AbsentRuns): Finding[] {
  const [first] = absent.times;
  return first === undefined ? [] : [{ kind: 'absent', key: `${runPrefix(first)}*`, problem: describeAbsent(absent) }];
}

export function describeAbsent({ times, areMore }: AbsentRuns): string {
  const [first = '', last = first] = [times[0]?.toISOString(), times.at(-1)?.toISOString()];
  if (times.length === 1 && !areMore) return problems.absentRun(first);
  return problems.absentRuns(areMore ? `more than ${times.length}` : `${times.length}`, first, last);
}

/** Where nobody could tell what was due: what follows each other is one. */
export function joinSpans(judged: readonly Pick<AbsentRuns, 'notJudged'>[]): Span[] {
  const spans: Span[] = [];
  const all = judged.flatMap(({ notJudged }) => notJudged ?? []);
  for (const next of all.sort((one, other) => one.from.getTime() - other.from.getTime())) {
    const last = spans.at(-1);
    if (last !== undefined && next.from <= last.to) spans[spans.length - 1] = { from: last.from, to: next.to };
    else spans.push(next);
  }
  return spans;
}

/** Where nobody can tell which runs are absent. */
export function notJudged({ from, to }: Span): NotSeen {
  return { what: `which runs were due from ${from.toISOString()} to ${to.toISOString()}`, why: problems.notJudged };
}

export function describeNotJudged({ from, to }: Span): string {
  return `Not judged from ${from.toISOString()} to ${to.toISOString()}: ${problems.notJudged}.`;
}

const nothing = { runs: 0, times: [] as Date[], areMore: false };

function latest(time: Date, other = time): Date {
  return other > time ? other : time;
}

export function earliest(time: Date, other = time): Date {
  return other < time ? other : time;
}
