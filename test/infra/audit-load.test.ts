import { auditLoad, rereadDaysFor } from '../../infra/audit-load';

const now = new Date('2026-11-20T12:00:00Z');
const daily = { expression: 'cron(30 6 * * ? *)', timeZone: 'Etc/UTC' };

function load(count: number, expression: string, audits = daily) {
  const clusters = Array.from({ length: count }, (_, index) => ({ uid: `c-${index}` }));
  return auditLoad({ clusters, schedule: { expression, timeZone: 'Etc/UTC', enabled: true } }, audits, now);
}

const schedules = ['cron(0 * * * ? *)', 'cron(0 0/6 * * ? *)', 'cron(0 3 * * ? *)'];

describe('how often to audit', () => {
  it('grows with clusters and runs; the listings alone fill an audit of 142,500 clusters', () => {
    const perDay = (clusters: number) => schedules.map((expression) => load(clusters, expression).perDay);
    expect([1000, 10_000, 50_000, 100_000].map(perDay)).toEqual([
      [1, 1, 1],
      [2, 1, 1],
      [13, 3, 1],
      [57, 10, 3],
    ]);
    expect(load(142_500, 'cron(0 3 * * ? *)').perDay).toBeUndefined();
    expect(load(142_400, 'cron(0 3 * * ? *)').perDay).toBeDefined();
  });

  it('is enough if the audits of some weeks read what the runs archive', () => {
    expect(load(5000, 'cron(0 * * * ? *)').keepsUp).toBe(true);
    expect(load(6000, 'cron(0 * * * ? *)').keepsUp).toBe(false);
    expect(load(6000, 'cron(0 * * * ? *)', { ...daily, expression: 'cron(30 0/12 * * ? *)' }).keepsUp).toBe(true);
    expect(load(1000, 'cron(0 * * * ? *)', { ...daily, expression: 'cron(30 6 ? * SUN *)' }).keepsUp).toBe(false);
  });
});

describe('the days within which everything is read again', () => {
  const daysFor = (
    count: number,
    retentionDays: number | undefined,
    expression = 'cron(0 * * * ? *)',
    audits = daily,
  ) => {
    const clusters = Array.from({ length: count }, (_, index) => ({ uid: `c-${index}` }));
    const archive = { retentionDays, formerKmsKeyArns: [], readers: [] };
    return rereadDaysFor(
      { clusters, archive, schedule: { expression, timeZone: 'Etc/UTC', enabled: true } },
      audits,
      now,
    );
  };

  it('are 90, or the shortest longer time for which half of the audits suffices', () => {
    expect(daysFor(400, 365)).toBe(90);
    // 17,520,000 objects at 210 a second in half of 855 seconds.
    expect(daysFor(1000, 365)).toBe(196);
    expect(daysFor(2000, 365)).toBe(391);
    expect(daysFor(1000, 365, 'cron(0 3 * * ? *)')).toBe(90);
    expect(daysFor(1000, 365, 'cron(0 * * * ? *)', { ...daily, expression: 'cron(30 0/6 * * ? *)' })).toBe(90);
  });

  it('count two years of runs if nothing expires, and at least one audit in four weeks', () => {
    expect(daysFor(1000, undefined)).toBe(daysFor(1000, 730));
    expect(daysFor(10, 365, 'cron(0 3 * * ? *)', { ...daily, expression: 'cron(30 6 1 1 ? *)' })).toBe(90);
  });
});
