import { mapAll, mapConcurrently } from '../../../archive/read/map-concurrently';

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

  it('keeps the order where some results are there at once', async () => {
    const map = (input: number) => (input % 3 === 0 ? Promise.resolve(-input) : input);
    const results: number[] = [];
    for await (const result of mapConcurrently([1, 2, 3, 4, 5, 6, 7], 3, map)) results.push(result);
    expect(results).toEqual([1, 2, -3, 4, 5, -6, 7]);
  });
});

describe('mapping all', () => {
  it('keeps the order, with at most the limit under way', async () => {
    let underWay = 0;
    let most = 0;
    const map = (input: number) => {
      if (input % 2 === 0) return input;
      underWay += 1;
      most = Math.max(most, underWay);
      return Promise.resolve().then(() => {
        underWay -= 1;
        return -input;
      });
    };
    expect(await mapAll([1, 2, 3, 4, 5, 6, 7, 8, 9], 2, map)).toEqual([-1, 2, -3, 4, -5, 6, -7, 8, -9]);
    expect(most).toBe(2);
  });

  it('ends with the first error, after what is under way has settled, and begins nothing behind it', async () => {
    const [begun, settled]: number[][] = [[], []];
    const map = async (input: number) => {
      begun?.push(input);
      if (input === 1) throw new Error('one');
      await Promise.resolve();
      await Promise.resolve();
      settled?.push(input);
      return input;
    };
    await expect(mapAll([1, 2, 3, 4], 2, map)).rejects.toThrow('one');
    expect([begun, settled]).toEqual([[1, 2], [2]]);
  });
});
