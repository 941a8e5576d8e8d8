import { dueSince } from '../../../lambda/verify/due-since';

const six = { expression: 'cron(0 0/6 * * ? *)', timeZone: 'Etc/UTC', enabled: true };
const twelve = { ...six, expression: 'cron(0 0/12 * * ? *)' };
const day = { from: new Date('2026-11-20T00:00:00Z'), to: new Date('2026-11-21T00:00:00Z') };
const runs = (...hours: number[]) => new Set(hours.map((hour) => Date.UTC(2026, 10, 20, hour)));

describe('what was due', () => {
  it('is counted without the beginning and with the end of a period, and is absent without a run', () => {
    expect(dueSince([six], day, runs(6, 18))).toEqual({
      runs: 4,
      absent: [new Date('2026-11-20T12:00:00Z'), new Date('2026-11-21T00:00:00Z')],
    });
  });

  it('is what all schedules have while they changed, and nothing while one is disabled', () => {
    expect(dueSince([six, twelve], day, runs(12, 24))).toEqual({ runs: 2, absent: [] });
    expect(dueSince([six, { ...six, enabled: false }], day, runs())).toEqual({ runs: 0, absent: [] });
  });

  it('is nothing in a period that ends before it begins', () => {
    expect(dueSince([six], { from: day.to, to: day.from }, runs())).toEqual({ runs: 0, absent: [] });
  });

  it('may be at either of two times that clocks show the same', () => {
    const berlin = { expression: 'cron(30 2 * * ? *)', timeZone: 'Europe/Berlin', enabled: true };
    const night = { from: new Date('2026-10-24T12:00:00Z'), to: new Date('2026-10-25T12:00:00Z') };
    for (const time of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'])
      expect(dueSince([berlin], night, new Set([Date.parse(time)]))).toEqual({ runs: 1, absent: [] });
  });
});
