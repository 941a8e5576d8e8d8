import * as fc from 'fast-check';
import { firingsOf } from '../../../../archive/format/schedule/firings';
import { rounds } from '../../../support/rounds';

const times = (expression: string, timeZone: string, from: string, to: string) =>
  [...firingsOf(expression, timeZone).between(new Date(from), new Date(to))].map(({ at, orAt }) => {
    const text = at.toISOString().slice(0, 16);
    return orAt === undefined ? text : `${orAt.toISOString().slice(0, 16)} or ${text}`;
  });

describe('firings between two instants', () => {
  it('is once at a time that comes twice, at either instant', () => {
    expect(times('cron(0 * * * ? *)', 'Europe/Berlin', '2026-10-24T23:00:00Z', '2026-10-25T02:00:00Z')).toEqual([
      '2026-10-24T23:00',
      '2026-10-25T00:00 or 2026-10-25T01:00',
      '2026-10-25T02:00',
    ]);
  });

  it('has no firing outside the years of an expression, and looks for none there', () => {
    const firings = firingsOf('cron(0 0 1 1 ? *)', 'Europe/Berlin');
    expect(firings.includes(new Date('0001-01-01T00:00:00Z'))).toBe(false);
    const all = [...firings.between(new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T00:00:00Z'))];
    expect([all.length, all[0]?.at, all.at(-1)?.at]).toEqual([
      2200 - 1970,
      new Date('1969-12-31T23:00:00Z'),
      new Date('2198-12-31T23:00:00Z'),
    ]);
  });

  it('needs an expression and a time zone that can be read', () => {
    const thrown = (field: string) => expect.objectContaining({ name: 'CronError', field });
    expect(() => firingsOf('cron(0 24 * * ? *)', 'Etc/UTC')).toThrow(thrown('hours'));
    expect(() => firingsOf('cron(0 0 * * ? *)', 'Europe/Nowhere')).toThrow(thrown('time zone'));
  });
});

describe('beside a walk through every minute', () => {
  const minute = 60_000;
  /** Around changes of the clocks: by an hour, by half an hour, at midnight; and where there is none. */
  const places = [
    ['Europe/Berlin', '2026-10-24T20:00:00Z'],
    ['Europe/Berlin', '2027-03-27T20:00:00Z'],
    ['America/New_York', '2026-10-31T20:00:00Z'],
    ['Australia/Lord_Howe', '2027-04-03T06:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T06:00:00Z'],
    ['Africa/Cairo', '2026-10-29T12:00:00Z'],
    ['Africa/Cairo', '2026-04-23T12:00:00Z'],
    ['Asia/Kolkata', '2026-11-20T00:00:00Z'],
  ] as const;

  /** What clocks show at each minute of 36 hours. */
  const walks = places.map(([timeZone, from]) => {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    const start = Date.parse(from);
    const steps = Array.from({ length: 36 * 60 }, (_, index) => {
      const instant = start + index * minute;
      const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
      return { ...parts, instant } as { day: string; weekday: string; hour: string; minute: string; instant: number };
    });
    return { timeZone, steps };
  });

  it('finds the same, in the same order', async () => {
    const some = (values: readonly string[], maxLength: number) =>
      fc.subarray([...values], { minLength: 1, maxLength });
    const weekdays = some(['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'], 7);
    const numbers = (count: number) => Array.from({ length: count }, (_, number) => String(number));
    await fc.assert(
      fc.property(
        fc.constantFrom(...walks),
        weekdays,
        some(numbers(24), 8),
        some(numbers(60), 3),
        ({ timeZone, steps }, days, hours, minutes) => {
          const due = steps.filter(
            (step) =>
              days.includes(step.weekday.toUpperCase()) &&
              hours.includes(String(Number(step.hour))) &&
              minutes.includes(String(Number(step.minute))),
          );
          const byWallClock = new Map<string, number[]>();
          for (const { day, hour, minute: at, instant } of due) {
            const wallClock = `${day} ${hour}:${at}`;
            byWallClock.set(wallClock, [...(byWallClock.get(wallClock) ?? []), instant]);
          }
          const [from, to] = [steps[0]?.instant ?? 0, steps.at(-1)?.instant ?? 0];
          const firings = firingsOf(`cron(${minutes} ${hours} ? * ${days} *)`, timeZone);
          const found = [...firings.between(new Date(from), new Date(to))].map(({ at, orAt }) =>
            [orAt, at].flatMap((time) => time?.getTime() ?? []),
          );
          expect(found).toEqual([...byWallClock.values()].sort((a, b) => (a.at(-1) ?? 0) - (b.at(-1) ?? 0)));
          const instants = new Set(due.map(({ instant }) => instant));
          for (const { instant } of steps) {
            if (firings.includes(new Date(instant)) !== instants.has(instant)) throw new Error(`wrong at ${instant}`);
          }
          expect(firings.includes(new Date(from + 1))).toBe(false);
        },
      ),
      rounds(40),
    );
  });
});
