import { isInShard, shardOf } from '../../../archive/format/shard';

describe('shards', () => {
  it('take every cluster exactly once', () => {
    for (let i = 0; i < 500; i += 1) {
      const owners = [0, 1, 2, 3, 4].filter((index) => isInShard(`cluster-${i}`, { index, count: 5 }));
      expect(owners).toHaveLength(1);
    }
  });

  it('are even: of 100,000 clusters over 64 the largest has at most 1.15 times the smallest', () => {
    const sizes = new Array<number>(64).fill(0);
    for (let i = 0; i < 100_000; i += 1) {
      const index = shardOf(`cluster-${i}`, 64);
      sizes[index] = (sizes[index] ?? 0) + 1;
    }
    expect(Math.max(...sizes) / Math.min(...sizes)).toBeLessThanOrEqual(1.15);
  });

  it('are a matter of the uid alone, for ever: a change would collect a run in the middle twice', () => {
    expect([shardOf('cluster-1', 4), shardOf('cluster-2', 4), shardOf('é', 64)]).toEqual([0, 0, 62]);
  });
});
