import { compare, median } from '../../bench/compare';
import type { RunResult } from '../../bench/run-contender';
import type { Entry } from '../../bench/scenarios';

const workload = {
  clusters: 1000,
  resources: ['log'],
  logBytes: 1,
  manifestBytes: 1,
  serviceLatencyMs: 0,
  sinkLatencyMs: 0,
  concurrency: 1,
} as const;

const entries: Entry[] = [
  { name: 'ours', contender: 'ours, gzip', workload },
  { name: 'theirs', contender: 'Promise.all', workload: { ...workload, clusters: 100 } },
];

const runs = (ours: RunResult[], theirs: RunResult[]) =>
  new Map([
    ['ours', ours],
    ['theirs', theirs],
  ]);

describe('comparing two rows', () => {
  it('divides within each round, so that a slow round counts for both rows', () => {
    const measured = runs(
      [{ wallMs: 10 }, { wallMs: 100 }, { wallMs: 12 }],
      [{ wallMs: 20 }, { wallMs: 200 }, { wallMs: 20 }],
    );
    const { ratio, isReached } = compare(
      { measure: 'wallMs', of: 'ours', to: 'theirs', atMost: 0.5 },
      entries,
      measured,
    );
    expect(ratio).toBe(0.5);
    expect(isReached).toBe(true);
  });

  it('says whether a goal is reached, and nothing where there is none', () => {
    const measured = runs([{ wallMs: 3 }], [{ wallMs: 2 }]);
    const reached = (goal: { atMost?: number }) =>
      compare({ measure: 'wallMs', of: 'ours', to: 'theirs', ...goal }, entries, measured).isReached;
    expect(reached({ atMost: 1.6 })).toBe(true);
    expect(reached({ atMost: 1.4 })).toBe(false);
    expect(reached({})).toBeUndefined();
  });

  it('has no ratio where one row has no figure, and uses the rounds in which both have one', () => {
    const failed = { failed: 'no memory' };
    const comparison = { measure: 'wallMs', of: 'ours', to: 'theirs', atMost: 1 } as const;
    expect(compare(comparison, entries, runs([{ wallMs: 1 }], [failed]))).toMatchObject({
      ratio: undefined,
      isReached: undefined,
    });
    expect(compare(comparison, entries, runs([{ wallMs: 1 }, { wallMs: 3 }], [failed, { wallMs: 4 }])).ratio).toBe(
      0.75,
    );
  });

  it('divides the wall time by the number of clusters to compare fleets of different sizes', () => {
    const measured = runs([{ wallMs: 1000 }], [{ wallMs: 100 }]);
    const comparison = { measure: 'wallMsPerCluster', of: 'ours', to: 'theirs' } as const;
    expect(compare(comparison, entries, measured).ratio).toBe(1);
    const [ours, theirs] = entries as [Entry, Entry];
    const tenTimes = { ...theirs, workload: { ...theirs.workload, runs: 10 } };
    expect(compare(comparison, [ours, tenTimes], measured).ratio).toBe(10);
  });
});

describe('the median', () => {
  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 9, 100, 1], 9.5],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('of no values is NaN', () => {
    expect(median([])).toBeNaN();
  });
});
