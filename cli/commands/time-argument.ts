import { InvalidArgumentError } from 'commander';
import { dayMs } from '../../archive/format/clocks';
import { dateOf } from '../../archive/format/keys';
import { parseIsoTime } from '../../lambda/read-event';

const expected =
  'expected a date (2026-11-20), a date and time (2026-11-20T10:00, with Z or an offset like +01:00; UTC without), ' +
  'a time as keys write it (20261120T100000.000Z), or one counted from now (yesterday, today 03:00, tuesday, 2h, 3 days ago, last week)';

const expectedRun =
  'expected the time of one run, as `runs` prints it (2026-11-20T10:00:00Z) or as its keys write it ' +
  '(20261120T100000.000Z)';

/** One end of a period: a date alone means the day's first moment for `start` and its last for `end`. */
export type Edge = 'start' | 'end';

/**
 * A time as a person types it; UTC where no zone is given.
 * @throws InvalidArgumentError (of the argument parser) that says what is accepted
 */
export function parseTime(text: string, edge: Edge, now: Date): Date {
  const typed = text.trim();
  const time = timeBefore(typed, now) ?? parseDateTime(withDate(typed, now), edge);
  if (time === undefined) throw new InvalidArgumentError(`${expected}.`);
  return time;
}

/**
 * The time of one run: never a whole day, and never counted from now.
 * @throws InvalidArgumentError (of the argument parser) that says what is accepted
 */
export function parseRunTime(text: string): Date {
  const typed = text.trim();
  const isDay = /^\d{4}-\d\d-\d\d$/.test(typed);
  const time = isDay ? undefined : parseDateTime(typed, 'start');
  if (time === undefined)
    throw new InvalidArgumentError(`${expectedRun}${isDay ? '; --from and --to take a day' : ''}.`);
  return time;
}

/**
 * The time of one run, or all runs of a day, or all since a time: what names a single run is that.
 * @throws InvalidArgumentError (of the argument parser) that says what is accepted
 */
export function parseRuns(text: string, now: Date): { run?: Date; from?: Date; to?: Date } {
  const typed = text.trim();
  if (timeBefore(typed, now) !== undefined) return { from: parseTime(typed, 'start', now) };
  const isDay = /^\d{4}-\d\d-\d\d$/.test(withDate(typed, now));
  if (isDay) return { from: parseTime(typed, 'start', now), to: parseTime(typed, 'end', now) };
  return { run: parseRunTime(withDate(typed, now)) };
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs } as const;

const units = 's(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?|w(?:eeks?)?';
const age = new RegExp(`^(\\d{1,6})\\s*(${units})$`, 'i');
const lastUnit = new RegExp(`^last\\s+(${units})$`, 'i');

/** How long ago: `24h`, `3 days`, in milliseconds. @throws InvalidArgumentError (of the argument parser) that says what is accepted */
export function parseAge(text: string): number {
  const ageMs = ageOf(text.trim());
  if (ageMs === undefined) throw new InvalidArgumentError('expected how long ago: 90m, 24h, 3 days, 2 weeks.');
  return ageMs;
}

function ageOf(text: string): number | undefined {
  const [, count, unit] = age.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * unitMs[unit.charAt(0).toLowerCase() as keyof typeof unitMs];
}

/** `now`, `2h`, `2h ago`, `3 days ago`, `last week`. */
function timeBefore(text: string, now: Date): Date | undefined {
  if (/^now$/i.test(text)) return now;
  const [, unit] = lastUnit.exec(text) ?? [];
  const agoMs = unit === undefined ? ageOf(text.replace(/\s+ago$/i, '')) : ageOf(`1${unit}`);
  return agoMs === undefined ? undefined : new Date(Math.max(0, now.getTime() - agoMs));
}

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const dayName = new RegExp(`^(today|yesterday|(?:last\\s+)?(${days.join('|')}))(?=$|[T ])`, 'i');

/** Puts the date in the place of `today`, `yesterday` or a weekday, which is the last one before today. */
function withDate(text: string, now: Date): string {
  return text.replace(dayName, (word: string, _, weekday: string | undefined) => {
    if (/^today$/i.test(word)) return dateOf(now);
    const back = weekday === undefined ? 1 : ((now.getUTCDay() - days.indexOf(weekday.toLowerCase()) + 6) % 7) + 1;
    return dateOf(new Date(now.getTime() - back * dayMs));
  });
}

function parseDateTime(text: string, edge: Edge): Date | undefined {
  const time = parseIsoTime(text);
  if (Number.isNaN(time?.getTime())) throw new InvalidArgumentError('this time does not exist.');
  return time === undefined || edge === 'start' || text.length > 10 ? time : new Date(time.getTime() + dayMs - 1);
}
