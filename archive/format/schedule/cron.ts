import { Cron } from 'croner';

/**
 * The fields of a cron expression in their order, as EventBridge Scheduler documents them.
 */
const fields = [
  { name: 'minutes', min: 0, max: 59, names: [] },
  { name: 'hours', min: 0, max: 23, names: [] },
  { name: 'day-of-month', min: 1, max: 31, names: [] },
  {
    name: 'month',
    min: 1,
    max: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  {
    name: 'day-of-week',
    min: 1,
    max: 7,
    names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
  },
  { name: 'year', min: 1970, max: 2199, names: [] },
] as const satisfies readonly Field[];

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

/** The part of an expression that an error is about; `expression` is the whole of it. */
export type CronField = (typeof fields)[number]['name'] | 'expression' | 'time zone';

/** A cron expression that EventBridge Scheduler would reject, or that would never fire. */
export class CronError extends Error {
  override readonly name = 'CronError';
  readonly field: CronField;
  readonly received: string;
  readonly expected: string;

  constructor(field: CronField, received: string, expected: string) {
    super(`Reading the schedule failed: ${field} is ${JSON.stringify(received)}, expected ${expected}`);
    this.field = field;
    this.received = received;
    this.expected = expected;
  }
}

export const minute = 60_000;
export const day = 24 * 60 * minute;

/**
 * Reads a cron expression of EventBridge Scheduler: `cron(minutes hours day-of-month month day-of-week year)`. What the
 * scheduler does not document is rejected, because a deployment that fails costs more than writing it another way.
 * @param now an expression that is not due after this time is an error
 * @returns when it is due, in the wall-clock time of its time zone: `times` are minutes of the day, ascending
 * @throws CronError
 */
export function parseCron(expression: string, now: Date) {
  const texts = /^cron\(([^()]*)\)$/.exec(expression)?.[1]?.split(/ +/);
  if (texts?.length !== fields.length) {
    // The scheduler takes rate() too, but it fires at the deployment, before anybody could set the API key.
    throw new CronError('expression', expression, `cron(${fields.map((field) => field.name).join(' ')}), six fields`);
  }
  const [minutes = '', hours = '', dayOfMonth = '', month = '', dayOfWeek = '', year = ''] = texts;
  if ((dayOfMonth === '?') === (dayOfWeek === '?')) {
    throw new CronError('expression', expression, '? in exactly one of day-of-month and day-of-week');
  }
  const times = numbers(fields[0], minutes)
    .flatMap((minute) => numbers(fields[1], hours).map((hour) => hour * 60 + minute))
    .sort((a, b) => a - b);
  const pattern = [
    '0 0 0',
    daysOfMonth(dayOfMonth),
    list(fields[3], month),
    daysOfWeek(dayOfWeek),
    year === '*' ? `${fields[5].min}-${fields[5].max}` : list(fields[5], year),
  ].join(' ');
  // In UTC every day exists and has 24 hours: clock changes matter only where days become instants. As an offset, and not
  // as a time zone, it costs croner a sixth.
  const cron = new Cron(pattern, { mode: '7-part', alternativeWeekdays: true, utcOffset: 0, paused: true });
  /**
   * The days on which it is due, each as midnight in UTC, ascending. They begin on the day before a moment, because today
   * in UTC may still be yesterday in the schedule's time zone.
   * @param most of them; left out: all
   */
  function* days(moment: Date, most = Number.POSITIVE_INFINITY): Generator<Date> {
    let date = cron.nextRun(new Date(moment.getTime() - 2 * day));
    for (let left = most; date !== null && left > 0; left -= 1) {
      yield date;
      date = cron.nextRun(date);
    }
  }
  const [next] = days(now);
  if (next === undefined) {
    throw new CronError('expression', expression, `days that exist and are not past on ${now.toISOString()}`);
  }
  return { times, days };
}

function daysOfMonth(text: string): string {
  if (text === '?' || text === 'L') return text === '?' ? '*' : 'L';
  const weekday = /^(\d{1,2})W$/.exec(text)?.[1];
  return weekday === undefined ? list(fields[2], text) : `${value(fields[2], weekday, text)}W`;
}

function daysOfWeek(text: string): string {
  if (text === '?') return '*';
  // The last day of the week.
  if (text === 'L') return '7';
  const [, day, nth] = /^([A-Z0-9]+?)(L|#[1-5])$/.exec(text) ?? [];
  if (day === undefined || nth === undefined) return list(fields[4], text);
  return `${value(fields[4], day, text)}${nth === 'L' ? '#L' : nth}`;
}

function list(field: (typeof fields)[number], text: string): string {
  return text === '*' ? '*' : numbers(field, text).join(',');
}

/** The values a field selects, ascending, each once. */
function numbers(field: (typeof fields)[number], text: string): number[] {
  const items = text.split(',');
  const found = items.flatMap((item) => {
    const [, start = '', end, step] = /^(\*|[A-Z0-9]+)(?:-([A-Z0-9]+))?(?:\/(\d{1,3}))?$/.exec(item) ?? [];
    if (start === '*' && (items.length > 1 || end !== undefined)) throw rejected(field, text);
    if (step !== undefined && field.name === 'day-of-week') throw rejected(field, text);
    const first = start === '*' ? field.min : value(field, start, text);
    const last = end !== undefined ? value(field, end, text) : start === '*' || step !== undefined ? field.max : first;
    const by = Number(step ?? 1);
    if (last < first || by < 1 || by > field.max) throw rejected(field, text);
    return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, index) => first + index * by);
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

function value(field: (typeof fields)[number], text: string, whole: string): number {
  const names: readonly string[] = field.names;
  const named = names.indexOf(text);
  const number = named >= 0 ? named + field.min : /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= field.min && number <= field.max)) throw rejected(field, whole);
  return number;
}

function rejected(field: (typeof fields)[number], text: string): CronError {
  const names = field.names.length === 0 ? '' : ` or ${field.names[0]} to ${field.names.at(-1)}`;
  const range = `${field.min} to ${field.max}${names}`;
  return new CronError(field.name, text, `*, ${range}, and what EventBridge Scheduler documents for ${field.name}`);
}
