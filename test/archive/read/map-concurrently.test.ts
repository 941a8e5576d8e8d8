import { mapConcurrently } from '../../../archive/read/map-concurrently';

describe('mapping concurrently', () => {
  it('gives results in the order of the inputs, with at most the limit under way', async () => {
    let underWay = 0;
    let most = 0;
    const results: number[] = [];
    const finish: (() => void)[] = [];
    const map = async (input: number) => {
      underWay += 1;
      most = Math.max(most, underWay);
      // The later of two that are under way ends first.
      await new Promise<void>((resolve) => {
        finish.unshift(resolve);
        if (finish.length === 2) for (const end of finish.splice(0)) end();
      });
      underWay -= 1;
      return input * 10;
    };
    for await (const result of mapConcurrently([1, 2, 3, 4], 2, map)) results.push(result);
    expect(results).toEqual([10, 20, 30, 40]);
    expect(most).toBe(2);
  });

  it('ends with the first error, after what is under way has settled', async () => {
    const settled: number[] = [];
    const map = async (input: number) => {
      if (input === 1) throw new Error('one');
      await Promise.resolve();
      settled.push(input);
      return input;
    };
    const all = async () => {
      for await (const _ of mapConcurrently([1, 2, 3], 3, map)) throw new Error('nothing comes before the error');
    };
    await expect(all()).rejects.toThrow('one');
    expect(settled).toEqual([2, 3]);
  });
});
