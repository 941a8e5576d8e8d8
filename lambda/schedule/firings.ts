import { parseCron } from './cron';
import { instantsOf, zoneOffset, zoneSpans } from './time-zone';

const minute = 60_000;
const day = 24 * 60 * minute;

/** The years of a cron expression, and a day more at both ends. */
const [earliest, latest] = [Date.UTC(1969, 11, 31), Date.UTC(2200, 0, 2)];

/** Most days that are read from an expression at once. */
const mostDaysAtOnce = 100;

/** One time at which a schedule is due. */
export interface Firing {
  /** Of a time that comes twice because the clocks are set back: the second. */
  readonly at: Date;
  /** The first of a time that comes twice. The scheduler fires at one of the two and does not document at which. */
  readonly orAt?: Date;
}

/** When a schedule starts something. */
export interface Schedule {
  /** EventBridge Scheduler's cron expression. */
  readonly expression: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly enabled: boolean;
}

/**
 * When a schedule is due, as EventBridge Scheduler documents it: a time that the clocks skip does not fire, and a time
 * that comes twice fires once.
 */
export interface Firings {
  /** Whether the schedule may fire at this instant. */
  includes(instant: Date): boolean;
  /** What is due from one instant to another, both included, in the order of {@link Firing.at}. */
  between(from: Date, to: Date): Generator<Firing>;
}

/**
 * Undefined for a schedule that is disabled.
 * @throws CronError as {@link firingsOf}
 */
export function firingsOfSchedule({ expression, timeZone, enabled }: Schedule): Firings | undefined {
  return enabled ? firingsOf(expression, timeZone) : undefined;
}

/**
 * @param timeZone IANA name
 * @throws CronError for an expression or a time zone that cannot be read
 */
export function firingsOf(expression: string, timeZone: string): Firings {
  // What fires no more was due once: the expression is read as if nothing of it were past.
  const { times, days } = parseCron(expression, new Date(0));
  const offsetAt = zoneOffset(timeZone);
  const timesOfDay = new Set(times);

  function includes(instant: Date): boolean {
    if (instant.getTime() < earliest || instant.getTime() > latest) return false;
    const wallClock = instant.getTime() + offsetAt(instant.getTime());
    const midnight = Math.floor(wallClock / day) * day;
    return (
      timesOfDay.has((wallClock - midnight) / minute) && days(new Date(midnight + day), 1)[0]?.getTime() === midnight
    );
  }

  function* between(first: Date, last: Date): Generator<Firing> {
    const [from, to] = [Math.max(first.getTime(), earliest), Math.min(last.getTime(), latest)];
    if (from > to) return;
    const spans = zoneSpans(timeZone, from - 3 * day, to + 3 * day);
    // Clocks differ from UTC by less than a day.
    for (const midnight of daysFrom(new Date(from - day))) {
      if (midnight > to + day) return;
      for (const time of times) {
        const instants = instantsOf(midnight + time * minute, spans);
        const [orAt, at] = [instants.at(0), instants.at(-1)];
        if (at === undefined || orAt === undefined || at < from || at > to) continue;
        yield { at: new Date(at), ...(orAt !== at && { orAt: new Date(orAt) }) };
      }
    }
  }

  /** The days that the expression selects, each as midnight in UTC. */
  function* daysFrom(first: Date): Generator<number> {
    let seen = Number.NEGATIVE_INFINITY;
    let next = first;
    for (let count = 4; ; count = Math.min(2 * count, mostDaysAtOnce)) {
      const found = days(next, count);
      for (const date of found) {
        if (date.getTime() <= seen) continue;
        seen = date.getTime();
        yield seen;
      }
      if (found.length < count) return;
      next = new Date(seen + day);
    }
  }

  return { includes, between };
}
