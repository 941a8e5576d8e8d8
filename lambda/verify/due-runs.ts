import { runPrefix } from '../archive/archive-layout';
import type { Firings } from '../schedule/firings';
import type { Find } from './finding';
import type { Period } from './run-keys';
import { clockSlackMs, dayMs } from './time-limits';

/** A schedule, as a run record shows that it was in force. */
export interface UsedSchedule {
  /** Undefined: it was disabled, or its configuration is not known. */
  readonly firings: Firings | undefined;
  readonly usedAt: Date;
}

/** A run as its records show it. */
export interface SeenRun {
  readonly run: Date;
  /** Whether the schedule started it. A run that a person started is never due. */
  readonly isScheduled: boolean;
  /** The schedules under which the schedule started its attempts. */
  readonly startedBy: readonly UsedSchedule[];
  /** The schedules that were in force at all its attempts, also at those that completed it much later. */
  readonly used: readonly UsedSchedule[];
}

/** Times at which the schedule was due, one after the other, and no run is there. */
export interface AbsentRuns {
  readonly times: readonly Date[];
  /** There are more of them than are looked at. */
  readonly areMore: boolean;
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
  #previous: Pick<SeenRun, 'run' | 'startedBy'> | undefined;
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
    const { run, isScheduled, startedBy, used } = seen;
    this.#runs.push(run.getTime());
    for (const one of used) this.#used.push(one);
    if (!isScheduled) return nothing;
    const absent = this.#previous === undefined ? nothing : this.#absentBetween(this.#previous, seen);
    // Not all of it: it may come with the outcomes of a large fleet.
    this.#previous = { run, startedBy };
    this.#used = this.#used.filter(({ usedAt }) => usedAt.getTime() >= run.getTime() - clockSlackMs);
    this.#runs = this.#runs.filter((other) => other > run.getTime() - dayMs);
    return absent;
  }

  /**
   * What was due since the last run that the schedule started, up to a time, and is not there. From when the newest schedule
   * was seen in force, it alone decides; before that, what all have.
   * @param plan a schedule that the runs do not show
   */
  upTo(until: Date, plan: readonly UsedSchedule[] = []): AbsentRuns {
    const used = [...this.#used, ...plan].sort((a, b) => a.usedAt.getTime() - b.usedAt.getTime());
    const [newest, began] = [used.at(-1), this.#previous?.run ?? plan[0]?.usedAt];
    if (newest === undefined || began === undefined) return nothing;
    const since = latest(began, this.#judged.from);
    const [from, to] = [latest(newest.usedAt, since), earliest(until, this.#judged.to)];
    const before = absentIn(used, { from: since, to: earliest(from, to) }, this.#runs);
    const after = absentIn([newest], { from, to }, this.#runs);
    return { times: [...before.times, ...after.times], areMore: before.areMore || after.areMore };
  }

  #absentBetween(before: Pick<SeenRun, 'run' | 'startedBy'>, after: SeenRun): AbsentRuns {
    const end = after.run.getTime() + clockSlackMs;
    const between = this.#used.filter(({ usedAt }) => usedAt.getTime() <= end);
    const used = [...before.startedBy, ...between, ...after.startedBy];
    const judged = { from: latest(before.run, this.#judged.from), to: earliest(after.run, this.#judged.to) };
    return absentIn(used, judged, this.#runs);
  }
}

/** What all these schedules had due in a period, and is not among the times of runs. */
function absentIn(
  used: readonly UsedSchedule[],
  { from, to }: { from: Date; to: Date },
  times: readonly number[],
): AbsentRuns {
  const schedules = new Set(used.map(({ firings }) => firings));
  const [schedule, ...others] = schedules;
  if (schedule === undefined || schedules.has(undefined)) return nothing;
  const runs = new Set(times);
  const absent: Date[] = [];
  let looked = 0;
  for (const { at, orAt } of schedule.between(from, to)) {
    looked += 1;
    if (looked > mostFirings || absent.length === mostListed) return { times: absent, areMore: true };
    if (runs.has(at.getTime()) || (orAt !== undefined && runs.has(orAt.getTime()))) continue;
    if (others.every((other) => other?.includes(at))) absent.push(at);
  }
  return { times: absent, areMore: false };
}

/** Makes a finding of absent runs, if there are any. */
export function findAbsent(find: Find, absent: AbsentRuns): void {
  const [first] = absent.times;
  if (first !== undefined) find('absent', `${runPrefix(first)}*`, describeAbsent(absent));
}

export function describeAbsent({ times, areMore }: AbsentRuns): string {
  const [first, last] = [times[0]?.toISOString(), times.at(-1)?.toISOString()];
  if (times.length === 1 && !areMore) return `the schedule was due at ${first}, and no run of this time has a record`;
  const count = areMore ? `more than ${times.length}` : times.length;
  return `the schedule was due ${count} times from ${first} to ${last}, and no run of these times has a record`;
}

const nothing: AbsentRuns = { times: [], areMore: false };

function latest(time: Date, other = time): Date {
  return other > time ? other : time;
}

function earliest(time: Date, other = time): Date {
  return other < time ? other : time;
}
