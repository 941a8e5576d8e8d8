import { contenders } from '../../bench/contenders';
import { missingFor } from '../../bench/missing-for';
import { quickly, scenarios } from '../../bench/scenarios';

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
  it.each(scenarios)('$name compares rows it has, each of its own name', ({ entries, comparisons }) => {
    const names = entries.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { of, to } of comparisons) expect(names).toEqual(expect.arrayContaining([of, to]));
  });

  it('become a hundredth of the work without goals when it has to be quick', () => {
    for (const scenario of scenarios.map(quickly)) {
      for (const { workload } of scenario.entries) {
        expect(workload.clusters * workload.resources.length * workload.logBytes).toBeLessThanOrEqual(40_000_000);
        expect(workload.logBytes).toBeLessThanOrEqual(10_000_000);
      }
      for (const { atMost } of scenario.comparisons) expect(atMost).toBeUndefined();
    }
  });
});

describe('a contender', () => {
  it('takes part where all it needs is found', () => {
    for (const contender of Object.values(contenders)) expect(missingFor(contender, machine)).toBeUndefined();
  });

  it.each([
    ['ours, zstd', { hasZstd: false }, 'has no zstd'],
    ['boto3', { python: undefined }, 'boto3 is not found'],
    ['rclone, unchecked', { rclone: undefined }, 'rclone is not found'],
  ] as const)('%s stays away, and says why, where something is missing', (name, missing, reason) => {
    expect(missingFor(contenders[name], { ...machine, ...missing })).toContain(reason);
  });
});
