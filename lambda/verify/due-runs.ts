import type { Firings } from '../schedule/firings';
import type { Period } from './run-keys';
import { dayMs } from './time-limits';

/** Schedules of configurations; undefined: one that is disabled or not known. */
export type Schedules = readonly (Firings | undefined)[];

/** A run as its records show it. */
export interface SeenRun {
  readonly run: Date;
  /** Whether the schedule started it. A run that a person started is never due. */
  readonly isScheduled: boolean;
  /** The schedules that may have been in force when it began, and since then. */
  readonly schedules: { readonly before: Schedules; readonly since: Schedules };
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
 * configuration may have been deployed at any time. So only what the schedules of both have was due for sure.
 */
export class DueRuns {
  readonly #judged: Period;
  #previous: SeenRun | undefined;
  /** Schedules that may have been in force since then. */
  #schedules = new Set<Firings | undefined>();
  /** Times of the runs since then, and of the day before it: a time that comes twice may have been answered there. */
  #runs: number[] = [];

  /** @param judged only what was due in this period is judged */
  constructor(judged: Period) {
    this.#judged = judged;
  }

  /** @returns what was due between the scheduled run before and this one, and is not there */
  add(seen: SeenRun): AbsentRuns {
    const { run, schedules, isScheduled } = seen;
    this.#runs.push(run.getTime());
    for (const schedule of schedules.before) this.#schedules.add(schedule);
    if (!isScheduled) {
      for (const schedule of schedules.since) this.#schedules.add(schedule);
      return nothing;
    }
    const absent = this.#previous === undefined ? nothing : this.#absentBetween(this.#previous.run, run);
    this.#previous = seen;
    this.#schedules = new Set(schedules.since);
    this.#runs = this.#runs.filter((other) => other > run.getTime() - dayMs);
    return absent;
  }

  #absentBetween(from: Date, to: Date): AbsentRuns {
    const [schedule, ...others] = this.#schedules;
    if (schedule === undefined || this.#schedules.has(undefined)) return nothing;
    const runs = new Set(this.#runs);
    const times: Date[] = [];
    let looked = 0;
    for (const { at, orAt } of schedule.between(latest(from, this.#judged.from), earliest(to, this.#judged.to))) {
      looked += 1;
      if (looked > mostFirings || times.length === mostListed) return { times, areMore: true };
      if (runs.has(at.getTime()) || (orAt !== undefined && runs.has(orAt.getTime()))) continue;
      if (others.every((other) => other?.includes(at))) times.push(at);
    }
    return { times, areMore: false };
  }
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
