import { CronError, day, minute, parseCron } from './cron';
import { firingsOf } from './firings';

/** How far ahead gaps are looked for: in 28 years every date meets every weekday, leap days included. */
const horizon = 28 * 366 * day;

/** Most days that are looked at: those of weekdays in some months show all their gaps only after years. */
const mostDays = 1500;

/** Fewest, however many firings they have: a schedule of every day shows all its gaps within a year. */
const fewestDays = 400;

/** Firings after which no more days are looked at: 1500 days of a schedule of every minute would take seconds. */
const manyFirings = 50_000;

/** The longest time between two firings of a schedule. */
export interface Gap {
  /** Infinite if only one firing is left. */
  readonly hours: number;
  /** The firing before the gap. */
  readonly from: Date;
  /** The firing after it, if there is one. */
  readonly to?: Date;
  /** The shortest time between two firings; infinite if only one is left. */
  readonly shortestHours: number;
}

/**
 * The longest time between two firings from now on, clock changes included. EventBridge Scheduler skips a time that does
 * not exist, and fires once for a time that comes twice. Its documentation does not say at which of the two it fires, so
 * a gap starts at the first and ends at the second.
 * @param timeZone IANA name
 * @throws CronError for an expression that is rejected, that never fires again, or for an unknown time zone
 */
export function longestGap(expression: string, timeZone: string, now: Date): Gap {
  const schedule = parseCron(expression, now);
  const most = Math.min(mostDays, Math.max(fewestDays, manyFirings / schedule.times.length));
  const days = [...schedule.days(now, most)];
  const [first = now, last = first] = [days.at(0), days.at(-1)];
  const until = Math.min(last.getTime() + 2 * day, first.getTime() + horizon);
  let previous: Date | undefined;
  let longest: Omit<Gap, 'shortestHours'> | undefined;
  let shortestHours = Number.POSITIVE_INFINITY;
  for (const { at, orAt = at } of firingsOf(expression, timeZone).between(
    new Date(now.getTime() + 1),
    new Date(until),
  )) {
    if (previous !== undefined) {
      const hours = (at.getTime() - previous.getTime()) / (60 * minute);
      if (longest === undefined || hours > longest.hours) longest = { hours, from: previous, to: at };
      shortestHours = Math.min(shortestHours, hours);
    }
    previous = orAt;
  }
  if (previous === undefined) throw new CronError('expression', expression, `a firing after ${now.toISOString()}`);
  return { ...(longest ?? { hours: Number.POSITIVE_INFINITY, from: previous }), shortestHours };
}
