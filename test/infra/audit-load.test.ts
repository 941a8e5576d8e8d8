import { auditLoad } from '../../infra/audit';
import { operations } from './guides';

const now = new Date('2026-11-20T12:00:00Z');
const daily = { expression: 'cron(30 6 * * ? *)', timeZone: 'Etc/UTC' };

function load(count: number, expression: string, audits = daily) {
  const clusters = Array.from({ length: count }, (_, index) => ({ uid: `c-${index}` }));
  return auditLoad({ clusters, schedule: { expression, timeZone: 'Etc/UTC', enabled: true } }, audits, now);
}

const schedules = ['cron(0 * * * ? *)', 'cron(0 0/6 * * ? *)', 'cron(0 3 * * ? *)'];

describe('how often to audit', () => {
  it('is in the guide as it is calculated', () => {
    const rows = [1000, 5000, 10_000, 20_000, 50_000, 100_000].map((clusters) => {
      const perDay = schedules.map((expression) => load(clusters, expression).perDay);
      return `| ${clusters.toLocaleString('en-US')} | ${perDay.join(' | ')} |`;
    });
    expect(operations).toContain(rows.join('\n'));
    expect(load(142_500, 'cron(0 3 * * ? *)').perDay).toBeUndefined();
    expect(load(142_400, 'cron(0 3 * * ? *)').perDay).toBeDefined();
    expect(operations).toContain('With 142,500 clusters the listings alone fill an audit');
  });

  it('is enough if the audits of some weeks read what the runs archive', () => {
    expect(load(5000, 'cron(0 * * * ? *)').keepsUp).toBe(true);
    expect(load(6000, 'cron(0 * * * ? *)').keepsUp).toBe(false);
    expect(load(6000, 'cron(0 * * * ? *)', { ...daily, expression: 'cron(30 0/12 * * ? *)' }).keepsUp).toBe(true);
    expect(load(1000, 'cron(0 * * * ? *)', { ...daily, expression: 'cron(30 6 ? * SUN *)' }).keepsUp).toBe(false);
  });

  it('does not matter while nothing is collected', () => {
    const clusters = Array.from({ length: 50_000 }, (_, index) => ({ uid: `c-${index}` }));
    const schedule = { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: false };
    expect(auditLoad({ clusters, schedule }, daily, now).keepsUp).toBe(true);
  });
});
