import { Retention } from '../../../lambda/verify/retention';

const at = (day: number, hour = 0) => new Date(Date.UTC(2026, 0, day, hour));
const now = at(300);

/** An archive with a run on each of these days, under a configuration with so many days of retention. */
function retentionOf(runs: readonly (readonly [day: number, days: number | undefined])[]): Retention {
  const retention = new Retention();
  for (const [day, days] of runs) {
    retention.addRun(at(day));
    retention.addUse({ sha256: `${days}`, days, usedAt: at(day) });
  }
  return retention;
}

describe('what the lifecycle may have removed', () => {
  it('is what is older than the retention in force, but for what clocks differ', () => {
    const retention = retentionOf([[100, 30]]);
    expect(retention.mayHaveRemoved(at(270, 2), now)).toBe(true);
    expect(retention.mayHaveRemoved(at(270, 3), now)).toBe(false);
  });

  it('is nothing without a retention', () => {
    expect(retentionOf([[100, undefined]]).mayHaveRemoved(at(1), now)).toBe(false);
    expect(retentionOf([]).mayHaveRemoved(at(1), now)).toBe(false);
  });

  it('is what was too old while an earlier configuration was in force', () => {
    const retention = retentionOf([
      [10, 30],
      [50, 30],
      [60, undefined],
    ]);
    expect(retention.mayHaveRemoved(at(30), now)).toBe(true);
    expect(retention.mayHaveRemoved(at(31), now)).toBe(false);
  });

  it('is judged anew once the earlier configuration is back', () => {
    const retention = retentionOf([
      [10, 30],
      [20, undefined],
      [200, 30],
    ]);
    expect(retention.mayHaveRemoved(at(269), now)).toBe(true);
  });

  it('takes a configuration that a late completion used for one that is in force since then', () => {
    const retention = retentionOf([
      [10, undefined],
      [20, undefined],
    ]);
    retention.addUse({ sha256: 'late', days: 30, usedAt: at(100) });
    expect(retention.mayHaveRemoved(at(269), now)).toBe(true);
  });
});
