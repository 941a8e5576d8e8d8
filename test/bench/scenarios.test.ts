import { contenders, unavailableReason } from '../../bench/contenders';
import { quickVersion, scenarios } from '../../bench/scenarios';

const machine = {
  node: 'node',
  nodeVersion: '24.0.0',
  hasZstd: true,
  isPinned: true,
  python: 'python3',
  rclone: 'rclone',
  processor: '',
  cores: 2,
  memoryBytes: 0,
};

describe('the scenarios', () => {
  it.each(scenarios)('$name compares rows that exist, and no two rows have the same name', ({
    entries,
    comparisons,
  }) => {
    const names = entries.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { of, to } of comparisons) expect(names).toEqual(expect.arrayContaining([of, to]));
  });

  it('have a quick version with a hundredth of the work and no goals', () => {
    for (const scenario of scenarios.map(quickVersion)) {
      for (const { workload } of scenario.entries) {
        expect(workload.clusters * workload.resources.length * workload.logBytes).toBeLessThanOrEqual(40_000_000);
        expect(workload.logBytes).toBeLessThanOrEqual(10_000_000);
      }
      for (const { atMost } of scenario.comparisons) expect(atMost).toBeUndefined();
    }
  });
});

describe('a contender', () => {
  it('runs where everything it needs is installed', () => {
    for (const contender of Object.values(contenders)) expect(unavailableReason(contender, machine)).toBeUndefined();
  });

  it.each([
    ['ours, zstd', { hasZstd: false }, 'has no zstd'],
    ['boto3', { python: undefined }, 'boto3 was not found'],
    ['rclone, unchecked', { rclone: undefined }, 'rclone was not found'],
  ] as const)('%s is left out, with the reason, where something is not installed', (name, missing, reason) => {
    expect(unavailableReason(contenders[name], { ...machine, ...missing })).toContain(reason);
  });
});
