import { CronError, parseCron } from './cron';

const minute = 60_000;
const day = 24 * 60 * minute;

/** After so many years every date has met every weekday, and leap days have come and gone. */
const horizon = 28 * 366 * day;

/** Bounds the work for a schedule of every day, which has shown all of its gaps long before. */
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
 * The longest time between two firings from now on, clock changes included: EventBridge Scheduler skips a time that does
 * not exist, and fires once for a time that comes twice. Its documentation does not say at which of the two, so a gap
 * starts at the first and ends at the second.
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
    // Without a clock change, one day is inside like any other: after the first, only the ends of such days matter.
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

/** A time during which a zone keeps one offset from UTC, in milliseconds. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

/** The instants at which clocks show a wall-clock time: none or two of them where the clocks change. */
function instantsOf(wallClock: number, spans: readonly Span[]): number[] {
  return spans
    .map((span) => ({ span, instant: wallClock - span.offset }))
    .filter(({ span, instant }) => instant >= span.from && instant < span.to)
    .map(({ instant }) => instant);
}

function zoneSpans(timeZone: string, from: number, to: number): Span[] {
  const offsetAt = offsets(timeZone);
  const spans: Span[] = [];
  let start = from;
  // No zone changes its clocks and changes them back within a week.
  for (let at = from; at < to; at += 7 * day) {
    const next = Math.min(at + 7 * day, to);
    if (offsetAt(at) === offsetAt(next)) continue;
    let [before, after] = [at, next];
    while (after - before > minute) {
      const middle = before + Math.floor((after - before) / 2 / minute) * minute;
      if (offsetAt(middle) === offsetAt(at)) before = middle;
      else after = middle;
    }
    spans.push({ from: start, to: after, offset: offsetAt(at) });
    start = after;
  }
  spans.push({ from: start, to, offset: offsetAt(to) });
  return spans;
}

function offsets(timeZone: string): (instant: number) => number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch (error) {
    if (error instanceof RangeError) throw new CronError('time zone', timeZone, 'the name of an IANA time zone');
    throw error;
  }
  return (instant) => {
    const name = format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minute;
  };
}
