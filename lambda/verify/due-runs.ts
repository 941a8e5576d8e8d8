import type { Firings } from '../schedule/firings';
import type { Period } from './run-keys';
import { dayMs } from './time-limits';

/** A run as its records show it. */
export interface SeenRun {
  readonly run: Date;
  /** Whether the schedule started it. A run that a person started is never due. */
  readonly isScheduled: boolean;
  /** The schedules of the configurations that its records name; undefined: one that is disabled or unknown. */
  readonly firings: readonly (Firings | undefined)[];
}

/** Times at which the schedule was due, one after the other, and no run is there. */
export interface AbsentRuns {
  readonly first: Date;
  readonly last: Date;
  readonly count: number;
}

/** Most firings that are looked at between two runs: a run that was planted centuries away must not cost hours. */
const mostFirings = 100_000;

/**
 * Which runs of the schedule are missing. Runs come in the order of their times. Only what lies between two runs that the
 * schedule started is judged: before and after them nobody knows whether it was deployed. Nobody knows when between two
 * runs a configuration was deployed either, so only what both configurations have in their schedules was due for sure.
 */
export class DueRuns {
  readonly #judged: Period;
  #previous: SeenRun | undefined;
  /** Schedules of what people started since then. */
  #since = new Set<Firings | undefined>();
  /** Times of the runs since then, and of the day before it: a time that comes twice may have been answered there. */
  #runs: number[] = [];

  /** @param judged only what was due in this period is judged */
  constructor(judged: Period) {
    this.#judged = judged;
  }

  /** @returns what was due between the scheduled run before and this one, and is not there */
  add(seen: SeenRun): AbsentRuns | undefined {
    this.#runs.push(seen.run.getTime());
    for (const firings of seen.firings) this.#since.add(firings);
    if (!seen.isScheduled) return undefined;
    const absent = this.#previous && this.#absentBetween(this.#previous.run, seen.run);
    this.#previous = seen;
    this.#since = new Set(seen.firings);
    this.#runs = this.#runs.filter((run) => run > seen.run.getTime() - dayMs);
    return absent;
  }

  #absentBetween(from: Date, to: Date): AbsentRuns | undefined {
    const [schedule, ...others] = this.#since;
    if (schedule === undefined || this.#since.has(undefined)) return undefined;
    const start = latest(from, this.#judged.from);
    const end = earliest(to, this.#judged.to);
    const runs = new Set(this.#runs);
    let absent: AbsentRuns | undefined;
    let seen = 0;
    for (const { at, orAt } of schedule.between(start, end)) {
      seen += 1;
      if (seen > mostFirings) break;
      if (runs.has(at.getTime()) || (orAt !== undefined && runs.has(orAt.getTime()))) continue;
      if (others.some((other) => other?.includes(at) !== true)) continue;
      absent = { first: absent?.first ?? at, last: at, count: (absent?.count ?? 0) + 1 };
    }
    return absent;
  }
}

function latest(time: Date, other = time): Date {
  return other > time ? other : time;
}

function earliest(time: Date, other = time): Date {
  return other < time ? other : time;
}
