import { Expiry } from '../../../lambda/verify/expiry';
import { StoredConfigurations } from '../../../lambda/verify/stored-configurations';
import { MemoryBucket } from './history/memory-bucket';

const at = (day: number, hour = 0) => new Date(Date.UTC(2026, 0, day, hour));

type Use = readonly [day: number, days: number | undefined];

/** An archive with a run on each of these days, under a configuration with so many days of retention. */
function expiryOf(runs: readonly Use[], late: readonly Use[] = []): Expiry {
  const reader = new MemoryBucket();
  const configurations = new StoredConfigurations(reader, () => undefined);
  const expiry = new Expiry({ reader, configurations, sealed: { mayHaveRemoved: () => undefined }, now: at(300) });
  const used = ([day, days]: Use) => ({
    sha256: `${days}`,
    days,
    usedAt: at(day),
    firings: undefined,
    isKnown: true,
    isStart: true,
  });
  for (const use of runs)
    expiry.add({ run: at(use[0]), isScheduled: true, used: [use, ...(use === runs.at(-1) ? late : [])].map(used) });
  return expiry;
}

describe('what the lifecycle may have removed', () => {
  it('is judged anew once the earlier configuration is back', async () => {
    const expiry = expiryOf([
      [10, 30],
      [20, undefined],
      [200, 30],
    ]);
    expect(await expiry.mayHaveRemoved(at(269))).toBe(true);
  });

  it('takes a configuration that a late completion used for one that is in force since then', async () => {
    const runs: Use[] = [
      [10, undefined],
      [20, undefined],
    ];
    const expiry = expiryOf(runs, [[100, 30]]);
    expect(await expiry.mayHaveRemoved(at(269))).toBe(true);
  });
});
