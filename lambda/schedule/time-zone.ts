import { CronError } from './cron';

const minute = 60_000;
const day = 24 * 60 * minute;

/** A time during which a zone keeps one offset from UTC, in milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

/** The instants at which clocks show a wall-clock time: none if it is skipped, two if the clocks are set back over it. */
export function instantsOf(wallClock: number, spans: readonly Span[]): number[] {
  return spans
    .map((span) => ({ span, instant: wallClock - span.offset }))
    .filter(({ span, instant }) => instant >= span.from && instant < span.to)
    .map(({ instant }) => instant);
}

/**
 * The spans of a zone between two instants, in milliseconds, ascending and without gaps.
 * @param timeZone IANA name
 * @throws CronError for an unknown time zone
 */
export function zoneSpans(timeZone: string, first: number, last: number): Span[] {
  // Clocks change at whole minutes. From others on, the search would not end, or end beside the change.
  const [from, to] = [Math.floor(first / minute) * minute, Math.ceil(last / minute) * minute];
  const offsetAt = zoneOffset(timeZone);
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

/**
 * A function that gives the offset of a zone from UTC at an instant, both in milliseconds.
 * @param timeZone IANA name
 * @throws CronError for an unknown time zone
 */
export function zoneOffset(timeZone: string): (instant: number) => number {
  const format = formatOf(timeZone);
  // UTC never changes, and is what most schedules go by: formatting an instant takes microseconds, for thousands of them.
  if (format.resolvedOptions().timeZone === 'UTC') return () => 0;
  return (instant) => {
    const name = format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minute;
  };
}

/** The last one that was made: that takes as long as twenty uses of it. */
let latest: { readonly timeZone: string; readonly format: Intl.DateTimeFormat } | undefined;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  if (latest?.timeZone === timeZone) return latest.format;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    latest = { timeZone, format };
    return format;
  } catch (error) {
    if (error instanceof RangeError) throw new CronError('time zone', timeZone, 'the name of an IANA time zone');
    throw error;
  }
}
