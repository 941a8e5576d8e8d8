import { type FetchContext, fetchResource } from '../../../lambda/service/fetch-resource';
import { Pace } from '../../../lambda/service/pace';
import { RejectionGuard } from '../../../lambda/service/rejection-guard';
import { Stop } from '../../../lambda/stop';
import { FakeReporter } from '../../support/fake-reporter';
import { answer, statusError } from '../../support/fake-service';
import { VirtualClock } from '../../support/virtual-clock';

/** When requests start over a whole run of many workers, on a clock that no load disturbs. */

const answerMs = 90;

async function startsOf(requestsPerSecond: number | undefined, throttledAt?: number): Promise<number[]> {
  const clock = new VirtualClock();
  const stop = new Stop(() => 600_000);
  const reporter = new FakeReporter();
  const starts: number[] = [];
  const context: FetchContext = {
    clock,
    stop,
    service: {
      get: async () => {
        const nth = starts.push(clock.monotonicMs());
        await clock.sleep(answerMs, stop.working);
        if (nth === throttledAt) throw statusError(429, 3000);
        // Every tenth has to be asked for again.
        if (nth % 10 === 0) throw statusError(500);
        return answer();
      },
    },
    keys: { current: async () => 'key', afterRejection: async () => 'key' },
    pace: new Pace(clock, requestsPerSecond),
    guard: new RejectionGuard(stop, reporter),
    reporter,
  };
  const queue = Array.from({ length: 100 }, (_, i) => `c${i}`).values();
  const worker = async () => {
    for (const cluster of queue) await fetchResource({ cluster, resource: 'log' }, { requests: 0 }, context);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  stop.close();
  return starts;
}

/** The most starts in any time of this length. */
function mostWithin(starts: readonly number[], ms: number): number {
  return Math.max(...starts.map((start) => starts.filter((other) => other >= start && other < start + ms).length));
}

it.each([1, 5, 20, 0.5])('%d requests per second are never more in any second, retries included', async (rate) => {
  const starts = await startsOf(rate);
  expect(starts.length).toBeGreaterThan(100);
  expect(mostWithin(starts, 1000)).toBeLessThanOrEqual(Math.max(1, rate));
  // And not fewer than that either, as long as there is something to do.
  expect(starts.at(-2)).toBeLessThan(((starts.length + 1) * 1000) / rate);
});

it('without a rate every worker asks as soon as it has an answer', async () => {
  const starts = await startsOf(undefined);
  expect(mostWithin(starts, answerMs)).toBe(8);
});

it('one throttled answer holds every worker back for as long as it asks', async () => {
  const starts = await startsOf(undefined, 20);
  const throttledMs = (starts[19] ?? 0) + answerMs;
  expect(starts.filter((start) => start > throttledMs && start < throttledMs + 3000)).toEqual([]);
  expect(starts.filter((start) => start >= throttledMs + 3000).length).toBeGreaterThan(70);
});
