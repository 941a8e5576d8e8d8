import { once } from 'node:events';
import { NotDecodableError } from '../../../../lambda/collect/body/body-check';
import { maxRequests } from '../../../../lambda/collect/dispatch/retry';
import { type CollectContext, type CollectRequest, collect } from '../../../../lambda/collect/run/collect';
import { ApiKeyError } from '../../../../lambda/collect/service/api-key';
import type { ResourceRequest } from '../../../../lambda/collect/service/resource-request';
import { ServiceError } from '../../../../lambda/collect/service/service-error';
import { logMessages } from '../../../../lambda/stack-contract';
import { RunStopped, Stop } from '../../../../lambda/stop';
import { FakeReporter } from '../../../support/fake-reporter';
import { answer, FakeService, statusError } from '../../../support/fake-service';
import { VirtualClock } from '../../../support/virtual-clock';

type Script = ConstructorParameters<typeof FakeService>[0];

/** A cluster that an earlier attempt has archived: it shows that the service is up. */
const healthCheck = { cluster: 'known', resource: 'manifest' } as const;

interface Options {
  readonly clusters?: readonly string[];
  readonly resource?: ResourceRequest['resource'];
  /** Left out: one worker, so that requests have an order. */
  readonly concurrency?: number;
  readonly earlier?: Partial<CollectRequest['earlier']>;
}

function setUp(script: Script, options: Options = {}) {
  const { clusters = ['a'], resource = 'log', concurrency = 1, earlier } = options;
  const clock = new VirtualClock();
  const stop = new Stop(() => 600_000 - clock.monotonicMs());
  stops.push(stop);
  const reporter = new FakeReporter();
  /** When each of the clusters was asked, in milliseconds. */
  const times: number[] = [];
  let asked = -1;
  const service = new FakeService((_nth, key, request) => {
    if (request.cluster === healthCheck.cluster) return answer();
    times.push(clock.monotonicMs());
    asked += 1;
    return script(asked, key, request);
  });
  const keys = {
    value: 'old',
    readings: [] as string[],
    current: async (_signal: AbortSignal) => keys.value,
    /** What a reading finds after a rejection. */
    rotated: 'old',
    afterRejection: async (rejected: string, _signal: AbortSignal) => {
      keys.readings.push(rejected);
      keys.value = keys.rotated;
      return keys.value;
    },
  };
  const context: CollectContext = {
    clock,
    stop,
    service,
    keys,
    reporter,
    archive: {
      put: async () => 'archived',
    },
    provenance: { collectorVersion: '1.0.0' },
    configuration: {
      limits: { concurrency, maxBodyMiB: 1, responseTimeoutSeconds: 60 },
    },
  };
  const request: CollectRequest = {
    run: new Date('2026-11-20T10:00:00.000Z'),
    earlier: { attempts: 0, archived: [healthCheck], hasFailedEarlier: () => false, ...earlier },
  };
  const run = () =>
    collect(
      clusters.map((cluster) => ({ cluster, resource })),
      request,
      context,
    );
  const requests = () => service.requests.filter(({ cluster }) => cluster !== healthCheck.cluster);
  return { clock, stop, service, keys, context, run, reporter, times, requests };
}

const stops: Stop[] = [];
const uids = (count: number) => Array.from({ length: count }, (_, i) => `c${i}`);

afterEach(() => {
  for (const stop of stops.splice(0)) stop.close();
});

describe('collecting one resource', () => {
  it('asks again after a connection error, a time limit, a cut body and 5xx, with growing delays', async () => {
    const failures = [
      new ServiceError('x', 'connection'),
      new ServiceError('x', 'timeout'),
      new ServiceError('x', 'cut', { status: 200 }),
      statusError(500),
    ];
    const { run, times, reporter } = setUp((nth) => failures[nth] ?? answer());
    expect(await run()).toMatchObject([{ outcome: 'archived', requests: 5, durationMs: 3750 }]);
    expect(reporter.askedAgainWith).toEqual([2, 3, 4, 5]);
    expect(times).toEqual([0, 250, 750, 1750, 3750]);
  });

  it('accepts no coding any more for a resource whose coding was damaged once', async () => {
    const failures = [new ServiceError('x', 'cut'), new ServiceError('x', 'coding'), statusError(500)];
    const { run, requests } = setUp((nth) => failures[nth] ?? answer(), { clusters: ['a'] });
    expect(await run()).toMatchObject([{ outcome: 'archived', requests: 4 }]);
    expect(requests().map(({ uncoded }) => uncoded)).toEqual([undefined, undefined, true, true]);
  });

  it('asks a second time, keeping the body as received, when it cannot be decoded as promised', async () => {
    const script: Script = (nth) => (nth === 0 ? new NotDecodableError('no JSON') : answer());
    const { run, requests } = setUp(script, { resource: 'manifest' });
    expect(await run()).toMatchObject([{ outcome: 'archived', requests: 2 }]);
    expect(requests().map(({ asReceived }) => asReceived)).toEqual([undefined, true]);
  });

  it('asks at once on a connection of its own for what may be the answer to another request', async () => {
    const script: Script = (nth) => (nth === 0 ? new ServiceError('x', 'used-connection', { status: 200 }) : answer());
    const { run, requests, times } = setUp(script);
    expect(await run()).toMatchObject([{ outcome: 'archived', requests: 2 }]);
    expect(requests().map(({ alone }) => alone)).toEqual([undefined, true]);
    expect(times).toEqual([0, 0]);
  });

  it('makes no further request once the run has stopped, and tells the last failure with the reason', async () => {
    const { run, stop } = setUp(() => {
      stop.startNothing(new RunStopped('time ran out'));
      return statusError(500);
    });
    expect(await run()).toMatchObject([
      { outcome: 'failed', error: 'status 500; no further request: time ran out', requests: 1 },
    ]);
  });
});

describe('a rejected key', () => {
  it('that a rotation has replaced is replaced at once', async () => {
    const { run, keys, service, times } = setUp((_nth, key) => (key === 'new' ? answer() : statusError(401)));
    keys.rotated = 'new';
    expect(await run()).toMatchObject([{ outcome: 'archived', requests: 2 }]);
    expect(service.keys).toEqual(['old', 'new']);
    expect(times).toEqual([0, 0]);
  });

  it('that is replaced again and again is not asked with for ever', async () => {
    const { run, keys } = setUp(() => statusError(401));
    keys.afterRejection = async (rejected) => {
      keys.value = `${rejected}'`;
      return keys.value;
    };
    expect(await run()).toMatchObject([{ outcome: 'failed', httpStatus: 401, requests: maxRequests }]);
  });

  it('for ten clusters in a row of the shuffled list ends the run', async () => {
    const { run, stop, requests, keys } = setUp(() => statusError(401), {
      clusters: uids(100),
      earlier: { archived: [] },
    });
    const outcomes = await run();
    expect(requests()).toHaveLength(10);
    expect(stop.reason?.message).toBe(
      'the service rejected the API key for 10 different clusters in a row, also after it was read again; set a valid key and complete the run',
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'not-attempted')).toHaveLength(90);
    // What is said of the key was done: it was read again after each rejection.
    expect(keys.readings).toHaveLength(10);
  });

  it('is not blamed if it has worked in an earlier attempt', async () => {
    const { run, stop, requests } = setUp(() => statusError(403), { clusters: uids(12) });
    await run();
    expect(stop.reason).toBeUndefined();
    expect(requests()).toHaveLength(12);
  });

  it('that cannot be read again fails its clusters, and is not blamed', async () => {
    const { run, keys, stop } = setUp(() => statusError(403), { clusters: uids(20), earlier: { archived: [] } });
    keys.afterRejection = async () => {
      throw new ApiKeyError('throttled');
    };
    const error = 'status 403; the key could not be read again: throttled';
    expect(await run()).toMatchObject(Array(20).fill({ outcome: 'failed', httpStatus: 403, error }));
    expect(stop.reason).toBeUndefined();
  });

  it.each(['current', 'afterRejection'] as const)('is not waited for past the end of the run (%s)', async (reading) => {
    const { run, keys, stop } = setUp(() => statusError(401));
    const asked = new Promise<void>((resolve) => {
      const untilCancelled = (signal: AbortSignal) =>
        new Promise<string>((_resolve, reject) => {
          resolve();
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      if (reading === 'current') keys.current = untilCancelled;
      else keys.afterRejection = (_rejected, signal) => untilCancelled(signal);
    });
    const running = run();
    await asked;
    stop.cancel(new RunStopped('time ran out'));
    expect((await running)[0]?.error).toContain('time ran out');
  });
});

describe('a service that is down', () => {
  it('is asked once about every cluster in the first attempts, which then end early', async () => {
    const { run, clock, requests, reporter, stop } = setUp(() => new ServiceError('refused', 'connection'), {
      clusters: uids(300),
      earlier: { archived: [] },
    });
    const outcomes = await run();
    expect(new Set(requests().map(({ cluster }) => cluster)).size).toBe(300);
    expect(requests()).toHaveLength(300);
    expect(clock.monotonicMs()).toBeLessThan(8000);
    expect(stop.reason?.message).toBe(
      'the service looks down: no usable answer for 300 different clusters in a row; ask again in a few minutes',
    );
    expect(outcomes[0]).toMatchObject({
      outcome: 'failed',
      error: `refused; no further request: ${stop.reason?.message}`,
    });
    expect(reporter.warnings).toEqual([logMessages.paused]);
  });

  it('is not left while an answer comes that was asked for when it was up', async () => {
    const { context, run, service, stop } = setUp(() => new ServiceError('refused', 'connection'), {
      clusters: uids(30),
      concurrency: 2,
      earlier: { archived: [], hasFailedEarlier: ({ cluster }) => cluster !== 'c0' },
    });
    const get: typeof service.get = async (request, key, signal) => {
      if (request.cluster !== 'c0') return service.get(request, key, signal);
      await once(stop.starting, 'abort');
      signal.throwIfAborted();
      return answer();
    };
    Object.assign(context, { service: { get } });
    const outcomes = await run();
    expect(stop.reason?.message).toContain(
      'the service looks down: no usable answer for 29 different clusters in a row',
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['archived', ...Array(29).fill('failed')]);
  });
});
