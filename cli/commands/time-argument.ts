import { InvalidArgumentError } from 'commander';
import { dayMs } from '../../archive/format/clocks';
import { dateOf, parseStamp } from '../../archive/format/keys';
import { parseIsoTime } from '../../lambda/read-event';

const expected =
  'expected a date (2026-11-20), a date and time (2026-11-20T10:00, with Z or an offset like +01:00; UTC without), ' +
  'a time as keys write it (20261120T100000.000Z), or one counted from now (yesterday, today 03:00, 2h ago, 3 days ago)';

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
  const time = parseStamp(typed) ?? timeBefore(typed, now) ?? parseDateTime(withDate(typed, now), edge);
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
  const time = parseStamp(typed) ?? (isDay ? undefined : parseDateTime(typed, 'start'));
  if (time === undefined)
    throw new InvalidArgumentError(`${expectedRun}${isDay ? '; --from and --to take a day' : ''}.`);
  return time;
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs } as const;

const ago = /^(\d{1,6})\s*(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?|w(?:eeks?)?)\s+ago$/i;

/** `now`, `2h ago`, `3 days ago`. */
function timeBefore(text: string, now: Date): Date | undefined {
  if (/^now$/i.test(text)) return now;
  const [, count, unit] = ago.exec(text) ?? [];
  if (unit === undefined) return undefined;
  const agoMs = Number(count) * unitMs[unit.charAt(0).toLowerCase() as keyof typeof unitMs];
  return new Date(Math.max(0, now.getTime() - agoMs));
}

/** Puts the date in the place of `today` or `yesterday`. */
function withDate(text: string, now: Date): string {
  const yesterday = new Date(now.getTime() - dayMs);
  return text.replace(/^(today|yesterday)(?=$|[T ])/i, (day) => dateOf(/^y/i.test(day) ? yesterday : now));
}

function parseDateTime(text: string, edge: Edge): Date | undefined {
  const time = parseIsoTime(text);
  if (Number.isNaN(time?.getTime())) throw new InvalidArgumentError('this time does not exist.');
  return time === undefined || edge === 'start' || text.length > 10 ? time : new Date(time.getTime() + dayMs - 1);
}
