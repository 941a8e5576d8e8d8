import fc from 'fast-check';
import { firstOf, newestFirst, take } from '../../../archive/read/newest-first';
import type { Period } from '../../../archive/read/run-keys';

const dayMs = 86_400_000;
const now = new Date('2026-11-20T12:00:00Z');

/** Items of a listing by time; counts how many were listed. */
class Listing {
  listed = 0;
  requests = 0;
  readonly #times: readonly number[];

  constructor(times: readonly number[]) {
    this.#times = [...times].sort((a, b) => a - b);
  }

  list = async function* (this: Listing, { from, to }: Period) {
    this.requests += 1;
    for (const time of this.#times) {
      if (from !== undefined && time < from.getTime()) continue;
      if (to !== undefined && time > to.getTime()) return;
      this.listed += 1;
      yield { run: new Date(time) };
    }
  }.bind(this);
}

async function timesOf(items: AsyncIterable<{ run: Date }>): Promise<number[]> {
  const times: number[] = [];
  for await (const { run } of items) times.push(run.getTime());
  return times;
}

describe('newest first', () => {
  it('finds exactly the items of the period, each once, newest first', async () => {
    // Ten years around now, and some in the future.
    const time = fc.integer({ min: now.getTime() - 3650 * dayMs, max: now.getTime() + 30 * dayMs });
    const end = fc.option(time, { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(time, { maxLength: 40 }), end, end, async (times, from, to) => {
        const period = { from: from === undefined ? from : new Date(from), to: to === undefined ? to : new Date(to) };
        const expected = times
          .filter((one) => one >= (from ?? 0) && one <= (to ?? Number.POSITIVE_INFINITY))
          .sort((a, b) => b - a);
        expect(await timesOf(newestFirst(new Listing(times).list, period, now))).toEqual(expected);
      }),
    );
  });

  it('the newest of years of hourly runs are found without listing them all', async () => {
    const listing = new Listing(Array.from({ length: 3 * 365 * 24 }, (_, at) => now.getTime() - at * 3_600_000));
    const newest = await timesOf(take(30, newestFirst(listing.list, {}, now)));
    expect(newest).toEqual(Array.from({ length: 30 }, (_, at) => now.getTime() - at * 3_600_000));
    expect(listing.listed).toBeLessThan(100);
  });

  it('the newest of an archive that ended long ago is found with few requests', async () => {
    const listing = new Listing([now.getTime() - 3649 * dayMs, now.getTime() - 3650 * dayMs]);
    const newest = await firstOf(newestFirst(listing.list, {}, now));
    expect(newest?.run.getTime()).toBe(now.getTime() - 3649 * dayMs);
    expect(listing.requests).toBeLessThan(15);
  });
});
