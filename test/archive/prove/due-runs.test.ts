import { firingsOfSchedule } from '../../../archive/format/schedule/firings';
import type { Schedule } from '../../../archive/format/schedule/schedule';
import { dueIn } from '../../../archive/prove/due-runs';

const six = { expression: 'cron(0 0/6 * * ? *)', timeZone: 'Etc/UTC', enabled: true };
const day = { from: new Date('2026-11-20T00:00:00Z'), to: new Date('2026-11-21T00:00:00Z') };
const due = (schedules: readonly Schedule[], period: typeof day, times: ReadonlySet<number>) =>
  dueIn(schedules.map(firingsOfSchedule), period, times);
const runs = (...hours: number[]) => new Set(hours.map((hour) => Date.UTC(2026, 10, 20, hour)));

describe('what was due', () => {
  it('is counted with both ends of a period, and is absent without a run', () => {
    expect(due([six], day, runs(0, 6, 18))).toEqual({
      runs: 5,
      times: [new Date('2026-11-20T12:00:00Z'), new Date('2026-11-21T00:00:00Z')],
      areMore: false,
    });
  });

  it('is nothing in a period that ends before it begins', () => {
    expect(due([six], { from: day.to, to: day.from }, runs())).toEqual({ runs: 0, times: [], areMore: false });
  });

  it('names the first 1,000 that are absent, and counts them all', () => {
    const always = { ...six, expression: 'cron(* * * * ? *)' };
    const { runs: count, times, areMore } = due([always], day, runs());
    expect([count, times.length, areMore]).toEqual([1441, 1000, true]);
  });
});
