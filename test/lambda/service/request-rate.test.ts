import { type CollectContext, collect } from '../../../lambda/run/collect';
import { Stop } from '../../../lambda/stop';
import { FakeReporter } from '../../support/fake-reporter';
import { answer, statusError } from '../../support/fake-service';
import { VirtualClock } from '../../support/virtual-clock';

/** When requests start over a whole run of many workers, on a clock that no load disturbs. */

const answerMs = 90;

async function startsOf(requestsPerSecond: number): Promise<number[]> {
  const clock = new VirtualClock();
  const stop = new Stop(() => 600_000);
  const reporter = new FakeReporter();
  const starts: number[] = [];
  const context: CollectContext = {
    clock,
    stop,
    service: {
      get: async () => {
        const nth = starts.push(clock.monotonicMs());
        await clock.sleep(answerMs, stop.working);
        // Every tenth has to be asked for again.
        if (nth % 10 === 0) throw statusError(500);
        return answer();
      },
    },
    keys: { current: async () => 'key', afterRejection: async () => 'key' },
    archive: { put: async () => 'archived' },
    provenance: { collectorVersion: '1.0.0' },
    collection: {
      compression: 'gzip',
      limits: { concurrency: 8, requestsPerSecond, maxBodyMiB: 1, responseTimeoutSeconds: 60 },
    },
    reporter,
  };
  const tasks = Array.from({ length: 100 }, (_, i) => ({ cluster: `c${i}`, resource: 'log' as const }));
  const earlier = { attempts: 0, archived: [], hasFailed: () => false };
  await collect(tasks, { run: new Date(0), dryRun: false, earlier }, context);
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
