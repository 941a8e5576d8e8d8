import { contenders, unavailableReason } from '../../bench/contenders';
import { quickVersion, scenarios } from '../../bench/scenarios';

const everything = { hasBoto3: true, hasRclone: true };

describe('the scenarios', () => {
  it.each(scenarios)('$name compares our row with others, and no two rows have the same name', ({ entries }) => {
    const names = entries.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const [first, ...others] = entries;
    expect(first?.contender).toBe('ours, gzip');
    expect(first?.goals ?? {}).toEqual({});
    expect(others.some(({ goals = {} }) => Object.keys(goals).length > 0)).toBe(true);
  });

  it('have a quick version with a hundredth of the work and no goals', () => {
    for (const { workload, goals } of scenarios.map(quickVersion).flatMap(({ entries }) => entries)) {
      expect(workload.clusters * workload.resources.length * workload.logBytes).toBeLessThanOrEqual(40_000_000);
      expect(workload.logBytes).toBeLessThanOrEqual(10_000_000);
      expect(goals).toBeUndefined();
    }
  });
});

describe('a contender', () => {
  it('runs where everything it needs is installed', () => {
    for (const contender of Object.values(contenders)) expect(unavailableReason(contender, everything)).toBeUndefined();
  });

  it.each([
    ['boto3', { hasBoto3: false }, 'boto3 was not found'],
    ['rclone, unchecked', { hasRclone: false }, 'rclone was not found'],
  ] as const)('%s is left out, with the reason, where something is not installed', (name, missing, reason) => {
    expect(unavailableReason(contenders[name], { ...everything, ...missing })).toContain(reason);
  });
});
