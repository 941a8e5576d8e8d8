import { CronError, day, minute, parseCron } from './cron';
import type { Schedule } from './schedule';

/** The years of a cron expression, and a day more at both ends. */
const [earliest, latest] = [Date.UTC(1969, 11, 31), Date.UTC(2200, 0, 2)];

/** One time at which a schedule is due. */
export interface Firing {
  /** Of a time that comes twice because the clocks are set back: the second. */
  readonly at: Date;
  /** The first of a time that comes twice. The scheduler fires at one of the two and does not document at which. */
  readonly orAt?: Date;
}

/**
 * When a schedule is due, as EventBridge Scheduler documents it: a time that the clocks skip does not fire, and a time
 * that comes twice fires once.
 */
export type Firings = ReturnType<typeof readFirings>;

/** Undefined for a schedule that is disabled, and for one that cannot be read: nobody can tell when it was due. */
export function firingsOfSchedule({ expression, timeZone, enabled }: Schedule): Firings | undefined {
  try {
    return enabled ? firingsOf(expression, timeZone) : undefined;
  } catch (error) {
    if (error instanceof CronError) return undefined;
    throw error;
  }
}

/** The schedule that was read last. Nearly all configurations and seals of an archive have the same one. */
let last: { readonly expression: string; readonly timeZone: string; readonly firings: Firings } | undefined;

/**
 * @param timeZone IANA name
 * @throws CronError for an expression or a time zone that cannot be read
 */
export function firingsOf(expression: string, timeZone: string): Firings {
  if (last?.expression !== expression || last.timeZone !== timeZone)
    last = { expression, timeZone, firings: readFirings(expression, timeZone) };
  return last.firings;
}

function readFirings(expression: string, timeZone: string) {
  // What fires no more was due once: the expression is read as if nothing of it were past.
  const { times, days } = parseCron(expression, new Date(0));
  const offsetAt = zoneOffset(timeZone);
  const timesOfDay = new Set(times);

  /** Whether the schedule may fire at this instant. */
  function includes(instant: Date): boolean {
    if (instant.getTime() < earliest || instant.getTime() > latest) return false;
    const wallClock = instant.getTime() + offsetAt(instant.getTime());
    const midnight = Math.floor(wallClock / day) * day;
    if (!timesOfDay.has((wallClock - midnight) / minute)) return false;
    const [due] = days(new Date(midnight + day));
    return due?.getTime() === midnight;
  }

  /** What is due from one instant to another, both included, in the order of {@link Firing.at}. */
  function* between(first: Date, last: Date): Generator<Firing> {
    const [from, to] = [Math.max(first.getTime(), earliest), Math.min(last.getTime(), latest)];
    if (from > to) return;
    // Clocks differ from UTC by less than a day.
    for (const date of days(new Date(from - day))) {
      const midnight = date.getTime();
      if (midnight > to + day) return;
      // No zone changes its clocks twice within three days.
      const offsets = [...new Set([offsetAt(midnight - day), offsetAt(midnight + 2 * day)])];
      for (const time of times) {
        const wallClock = midnight + time * minute;
        // None if the clocks skip it, two if they are set back over it.
        const instants = offsets
          .map((offset) => wallClock - offset)
          .filter((instant) => offsets.length === 1 || instant + offsetAt(instant) === wallClock)
          .sort((a, b) => a - b);
        const [orAt, at] = [instants.at(0), instants.at(-1)];
        if (at === undefined || orAt === undefined || at < from || at > to) continue;
        yield orAt === at ? { at: new Date(at) } : { at: new Date(at), orAt: new Date(orAt) };
      }
    }
  }

  return { includes, between };
}

/**
 * A function that gives the offset of a zone from UTC at an instant, both in milliseconds.
 * @param timeZone IANA name
 * @throws CronError for an unknown time zone
 */
function zoneOffset(timeZone: string): (instant: number) => number {
  const format = formatOf(timeZone);
  // UTC never changes, and is what most schedules go by: formatting an instant takes microseconds, for thousands of them.
  if (format.resolvedOptions().timeZone === 'UTC') return () => 0;
  return (instant) => {
    const name = format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minute;
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch (error) {
    if (error instanceof RangeError) throw new CronError('time zone', timeZone, 'the name of an IANA time zone');
    throw error;
  }
}
