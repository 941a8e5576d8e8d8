import * as fc from 'fast-check';
import { longestGap } from '../../../../archive/format/schedule/cron-gap';
import { firingsOf } from '../../../../archive/format/schedule/firings';
import { rounds } from '../../../support/rounds';

const now = new Date('2026-11-20T12:00:00Z');
const hours = (fields: string, timeZone = 'Etc/UTC') => longestGap(`cron(${fields})`, timeZone, now).hours;

describe('the longest gap of a schedule', () => {
  it.each([
    ['0 * * * ? *', 1],
    ['* * * * ? *', 1 / 60],
    ['0 6 * * ? *', 24],
    ['0 6 ? * MON-FRI *', 72],
    ['0 0 1 * ? *', 31 * 24],
    ['0 0 ? 1-11 MON-SAT *', 33 * 24],
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
        shortestHours: 24,
      });
    });

    it.each([
      ['a time that comes twice fires once', '0 * * * ? *', 'Europe/Berlin', 2],
      ['the first firing is one of two, and counts', '0 2 29-30 10 ? 2028', 'Europe/Berlin', 25],
      ['they change at midnight', '0 0 * * ? *', 'Africa/Cairo', 47],
      ['they change by half an hour', '0 12 * * ? *', 'Australia/Lord_Howe', 24.5],
      ['a weekly run falls into the missing hour', '30 2 ? * SUN *', 'Europe/Berlin', 14 * 24 - 1],
      ['every minute is due', '* * * * ? *', 'America/New_York', 1 + 1 / 60],
    ])('%s: cron(%s) in %s has %p hours', (_, fields, timeZone, expected) => {
      expect(hours(fields, timeZone)).toBeCloseTo(expected, 10);
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
      shortestHours: Number.POSITIVE_INFINITY,
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

  it('is the longest of all between firings of a year', async () => {
    const some = (values: readonly unknown[], maxLength: number) =>
      fc.subarray(values.map(String), { minLength: 1, maxLength });
    const weekdays = some(['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'], 7);
    const someHours = some([...Array(24).keys()], 8);
    await fc.assert(
      fc.property(weekdays, someHours, (days, at) => {
        const expression = `cron(0 ${at} ? * ${days} 2027)`;
        const firings = [...firingsOf(expression, 'Europe/Berlin').between(now, new Date('2028-02-01'))];
        const gaps = firings.slice(1).map((next, before) => {
          const from = firings[before]?.orAt ?? firings[before]?.at;
          return (next.at.getTime() - (from?.getTime() ?? Number.NaN)) / 3_600_000;
        });
        expect(longestGap(expression, 'Europe/Berlin', now).hours).toBe(Math.max(...gaps));
      }),
      rounds(25),
    );
  });
});

describe('the shortest gap', () => {
  it.each([
    ['cron(0/15 * * * ? *)', 0.25],
    ['cron(0,10 3 1 * ? *)', 1 / 6],
    ['cron(0 23,1 * * ? *)', 2],
    ['cron(0 0 1 1 ? 2027)', Number.POSITIVE_INFINITY],
  ])('of %s is %p hours', (expression, hours) => {
    expect(longestGap(expression, 'Etc/UTC', now).shortestHours).toBeCloseTo(hours);
  });
});
