import { CronError, day, minute, parseCron } from './cron';
import { firingsOf, instantsOf, zoneSpans } from './firings';

/** How far ahead gaps are looked for: in 28 years every date meets every weekday, leap days included. */
const horizon = 28 * 366 * day;

/** Most days that are looked at: a schedule of every day shows all its gaps long before. */
const mostDays = 1500;

/** The longest time between two firings of a schedule. */
export interface Gap {
  /** Infinite if only one firing is left. */
  readonly hours: number;
  /** The firing before the gap. */
  readonly from: Date;
  /** The firing after it, if there is one. */
  readonly to?: Date;
}

/**
 * The longest time between two firings from now on, clock changes included. EventBridge Scheduler skips a time that does
 * not exist, and fires once for a time that comes twice. Its documentation does not say at which of the two it fires, so
 * a gap starts at the first and ends at the second.
 * @param timeZone IANA name
 * @throws CronError for an expression that is rejected, that never fires again, or for an unknown time zone
 */
export function longestGap(expression: string, timeZone: string, now: Date = new Date()): Gap {
  const schedule = parseCron(expression, now);
  const days = schedule.days(now, mostDays).map((date) => date.getTime());
  const start = days[0] ?? now.getTime();
  const inHorizon = days.filter((date) => date <= start + horizon);
  const spans = zoneSpans(timeZone, start - 2 * day, (inHorizon.at(-1) ?? start) + 3 * day);

  let previous: number | undefined;
  let longest: Gap | undefined;
  const see = (first: number, last: number): void => {
    if (last <= now.getTime()) return;
    if (previous !== undefined) {
      const hours = (last - previous) / (60 * minute);
      if (longest === undefined || hours > longest.hours) {
        longest = { hours, from: new Date(previous), to: new Date(last) };
      }
    }
    previous = first;
  };

  let steadySeen = false;
  for (const date of inHorizon) {
    const steady =
      date > now.getTime() + day &&
      spans.some((span) => date - day - span.offset >= span.from && date + 2 * day - span.offset < span.to);
    // Days without a clock change nearby are alike inside: after the first, only their first and last firings matter.
    const repeats = steady && steadySeen;
    for (const time of repeats ? schedule.times.slice(0, 1) : schedule.times) {
      const instants = instantsOf(date + time * minute, spans);
      const [first, last] = [instants.at(0), instants.at(-1)];
      if (first !== undefined && last !== undefined) see(first, last);
    }
    if (repeats) [previous] = instantsOf(date + (schedule.times.at(-1) ?? 0) * minute, spans);
    steadySeen ||= steady;
  }
  if (previous === undefined) throw new CronError('expression', expression, `a firing after ${now.toISOString()}`);
  return longest ?? { hours: Number.POSITIVE_INFINITY, from: new Date(previous) };
}

/** How many firings are looked at for the shortest gap: a schedule shows its pattern long before. */
const mostFirings = 2000;

/**
 * The shortest time between two firings of the next year, in hours; undefined if there are no two.
 * @param timeZone IANA name
 * @throws CronError as {@link longestGap}
 */
export function shortestGapHours(expression: string, timeZone: string, now: Date = new Date()): number | undefined {
  let shortest: number | undefined;
  let previous: number | undefined;
  let seen = 0;
  for (const { at } of firingsOf(expression, timeZone).between(now, new Date(now.getTime() + 366 * day))) {
    const hours = previous === undefined ? undefined : (at.getTime() - previous) / (60 * minute);
    if (hours !== undefined && (shortest === undefined || hours < shortest)) shortest = hours;
    previous = at.getTime();
    seen += 1;
    if (seen === mostFirings) break;
  }
  return shortest;
}
