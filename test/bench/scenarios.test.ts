import { quickVersion, scenarios } from '../../bench/scenarios';

describe('the scenarios', () => {
  it.each(scenarios)('$name compares our row with others, and no two rows have the same name', ({ entries }) => {
    const names = entries.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const [first, ...others] = entries;
    expect(['ours, gzip', 'verify']).toContain(first?.contender);
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
