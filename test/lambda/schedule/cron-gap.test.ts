import * as fc from 'fast-check';
import { longestGap, shortestGapHours } from '../../../lambda/schedule/cron-gap';
import { rounds } from '../../support/rounds';

const now = new Date('2026-11-20T12:00:00Z');
const hours = (fields: string, timeZone = 'Etc/UTC') => longestGap(`cron(${fields})`, timeZone, now).hours;

describe('the longest gap of a schedule', () => {
  it.each([
    ['0 * * * ? *', 1],
    ['*/5 * * * ? *', 1 / 12],
    ['0 6 * * ? *', 24],
    ['0 6,7 * * ? *', 23],
    ['0 1,9,18 * * ? *', 9],
    ['0 6 ? * MON-FRI *', 72],
    ['0 6 ? * SUN *', 7 * 24],
    ['0 0 1,8,15,22 * ? *', 10 * 24],
    ['0 0 1 * ? *', 31 * 24],
    ['0 0 29 2 ? 2000-2099', 4 * 366 * 24 - 3 * 24],
  ])('of cron(%s) has %p hours', (fields, expected) => {
    expect(hours(fields)).toBeCloseTo(expected, 10);
  });

  describe('if the clocks change', () => {
    it('a time that does not exist is skipped, which makes the gap almost two days', () => {
      expect(longestGap('cron(30 2 * * ? *)', 'Europe/Berlin', now)).toEqual({
        hours: 47,
        from: new Date('2027-03-27T01:30:00Z'),
        to: new Date('2027-03-29T00:30:00Z'),
      });
    });

    it('a time that comes twice fires once, so an hourly schedule may pause for two hours', () => {
      expect(hours('0 * * * ? *', 'Europe/Berlin')).toBe(2);
      expect(hours('0 * * * ? *', 'Etc/UTC')).toBe(1);
    });

    it('a day of 25 hours makes a daily gap of 25 hours', () => {
      expect(hours('0 12 * * ? *', 'America/New_York')).toBe(25);
      expect(hours('0 12 * * ? *', 'Asia/Tokyo')).toBe(24);
    });

    it('a change at midnight and a change by half an hour are seen', () => {
      expect(hours('0 0 * * ? *', 'Africa/Cairo')).toBe(47);
      expect(hours('0 12 * * ? *', 'Australia/Lord_Howe')).toBe(24.5);
    });

    it('a weekly run that falls into the missing hour leaves a gap of two weeks', () => {
      expect(hours('30 2 ? * SUN *', 'Europe/Berlin')).toBe(14 * 24 - 1);
    });
  });

  it('is looked for from now on only', () => {
    expect(hours('0 12 20-22 11 ? 2026')).toBe(24);
    expect(hours('0 0 1 1,12 ? 2026-2027')).toBe(334 * 24);
  });

  it('is endless if one firing is left', () => {
    expect(longestGap('cron(0 0 1 1 ? 2199)', 'Etc/UTC', now)).toEqual({
      hours: Number.POSITIVE_INFINITY,
      from: new Date('2199-01-01T00:00:00Z'),
    });
  });

  it.each([
    ['cron(0 11 20 11 ? 2026)', 'Etc/UTC', 'expression'],
    ['cron(30 2 28 3 ? 2027)', 'Europe/Berlin', 'expression'],
    ['cron(0 24 * * ? *)', 'Etc/UTC', 'hours'],
    ['cron(0 0 * * ? *)', 'Europe/Nowhere', 'time zone'],
  ])('is an error for %s in %s', (expression, timeZone, field) => {
    expect(() => longestGap(expression, timeZone, now)).toThrow(expect.objectContaining({ name: 'CronError', field }));
  });

  it('is as exact for the busiest schedule as for a daily one', () => {
    expect(hours('* * * * ? *', 'America/New_York')).toBeCloseTo(1 + 1 / 60, 10);
    expect(hours('* * * * ? *')).toBeCloseTo(1 / 60, 10);
  });

  describe('a walk through every hour of a year', () => {
    const timeZone = 'Europe/Berlin';
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      hour: '2-digit',
      day: '2-digit',
      month: '2-digit',
    });
    const start = Date.UTC(2026, 11, 31, 23);
    const walk = Array.from({ length: 365 * 24 }, (_, index) => {
      const parts = Object.fromEntries(format.formatToParts(start + index * 3_600_000).map((p) => [p.type, p.value]));
      return {
        index,
        weekday: `${parts.weekday}`.toUpperCase(),
        hour: Number(parts.hour),
        date: `${parts.month}${parts.day}`,
      };
    });

    it('finds the same gap', async () => {
      const weekdays = fc.subarray(['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'], { minLength: 1 });
      const someHours = fc.subarray(
        Array.from({ length: 24 }, (_, hour) => hour),
        { minLength: 1, maxLength: 8 },
      );
      await fc.assert(
        fc.property(weekdays, someHours, (days, at) => {
          const found = walk.filter((step) => days.includes(step.weekday) && at.includes(step.hour));
          // A time that comes twice fires once: a gap starts at the first and ends at the second.
          const gaps = found.flatMap((step, position) => {
            const next = found.slice(position + 1).filter((s) => s.date !== step.date || s.hour !== step.hour);
            const [first] = next;
            const last = next.filter((s) => s.date === first?.date && s.hour === first.hour).at(-1);
            return last === undefined ? [] : [last.index - step.index];
          });
          const longest = longestGap(`cron(0 ${at.join(',')} ? * ${days.join(',')} 2027)`, timeZone, now).hours;
          expect(longest).toBe(Math.max(...gaps));
        }),
        rounds(25),
      );
    });
  });
});

describe('the shortest gap', () => {
  const now = new Date('2026-11-20T12:00:00Z');

  it.each([
    ['cron(0/15 * * * ? *)', 0.25],
    ['cron(0,10 3 1 * ? *)', 1 / 6],
    ['cron(0 3 * * ? *)', 24],
    ['cron(0 6 ? * MON-FRI *)', 24],
    ['cron(0 23,1 * * ? *)', 2],
    ['cron(0 0 1 1 ? 2027)', undefined],
  ])('of %s is %p hours', (expression, hours) => {
    const gap = shortestGapHours(expression, 'Etc/UTC', now);
    if (hours === undefined) expect(gap).toBeUndefined();
    else expect(gap).toBeCloseTo(hours);
  });
});
