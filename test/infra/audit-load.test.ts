import { auditsKeepUp, rereadDaysFor } from '../../infra/audit-load';

const now = new Date('2026-11-20T12:00:00Z');
const daily = { expression: 'cron(30 6 * * ? *)', timeZone: 'Etc/UTC', enabled: true };

function keepUp(count: number, expression: string, audits = daily) {
  const clusters = Array.from({ length: count }, (_, index) => ({ uid: `c-${index}` }));
  return auditsKeepUp({ clusters, schedule: { expression, timeZone: 'Etc/UTC', enabled: true } }, audits, now);
}

describe('how often to audit', () => {
  it('is enough if the audits of some weeks read what the runs archive', () => {
    expect(keepUp(5000, 'cron(0 * * * ? *)')).toBe(true);
    expect(keepUp(6000, 'cron(0 * * * ? *)')).toBe(false);
    expect(keepUp(6000, 'cron(0 * * * ? *)', { ...daily, expression: 'cron(30 0/12 * * ? *)' })).toBe(true);
    expect(keepUp(1000, 'cron(0 * * * ? *)', { ...daily, expression: 'cron(30 6 ? * SUN *)' })).toBe(false);
    // The listings alone fill an audit.
    expect(keepUp(142_500, 'cron(0 3 * * ? *)', { ...daily, expression: 'cron(30 * * * ? *)' })).toBe(false);
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
