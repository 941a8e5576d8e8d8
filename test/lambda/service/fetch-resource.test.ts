import { InvalidBodyError, NotDecodableError } from '../../../lambda/body/body-check';
import { type FetchContext, fetchResource } from '../../../lambda/service/fetch-resource';
import { ApiKeyError } from '../../../lambda/service/key-source';
import { Pace } from '../../../lambda/service/pace';
import { RejectionGuard, rejectionsToStop } from '../../../lambda/service/rejection-guard';
import { maxRequests } from '../../../lambda/service/retry';
import { ServiceError } from '../../../lambda/service/service-error';
import { RunStopped, Stop } from '../../../lambda/stop';
import { FakeClock } from '../../support/fake-clock';
import { FakeReporter } from '../../support/fake-reporter';
import { answer, FakeService, statusError } from '../../support/fake-service';

const request = { cluster: 'a', resource: 'log' } as const;

function setUp(script: ConstructorParameters<typeof FakeService>[0]) {
  const clock = new FakeClock();
  const stop = new Stop(() => 600_000 - clock.monotonicMs());
  stops.push(stop);
  const reporter = new FakeReporter();
  const service = new FakeService(script);
  const keys = {
    value: 'old',
    current: async (_signal: AbortSignal) => keys.value,
    afterRejection: async (_rejected: string, _signal: AbortSignal) => keys.value,
  };
  const context: FetchContext = {
    clock,
    stop,
    service,
    keys,
    pace: new Pace(clock, undefined),
    guard: new RejectionGuard(stop, reporter),
    reporter,
  };
  const count = { requests: 0 };
  const fetch = (cluster = 'a') => fetchResource({ ...request, cluster }, count, context);
  return { clock, stop, service, keys, context, count, fetch, reporter };
}

const stops: Stop[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop.close();
});

describe('fetching one resource', () => {
  it('asks again after a connection error, a time limit, a cut body and 5xx, with growing delays', async () => {
    const failures = [
      new ServiceError('x', 'connection'),
      new ServiceError('x', 'timeout'),
      new ServiceError('x', 'cut', { status: 200 }),
      statusError(500),
    ];
    const { fetch, clock, count } = setUp((nth) => failures[nth] ?? answer());
    await expect(fetch()).resolves.toMatchObject({ status: 200 });
    expect(count.requests).toBe(5);
    expect(clock.slept).toEqual([250, 500, 1000, 2000]);
  });

  it(`gives up after ${maxRequests} requests and says so`, async () => {
    const { fetch, count } = setUp(() => statusError(503));
    await expect(fetch()).rejects.toThrow(`status 503; gave up after ${maxRequests} requests`);
    expect(count.requests).toBe(maxRequests);
  });

  it.each([400, 404])('does not ask again after %i', async (status) => {
    const { fetch, count } = setUp(() => statusError(status));
    await expect(fetch()).rejects.toMatchObject({ status });
    expect(count.requests).toBe(1);
  });

  it('does not ask again after a body that is not what was asked for', async () => {
    const { fetch, count } = setUp(() => new InvalidBodyError('no record'));
    await expect(fetch()).rejects.toThrow(InvalidBodyError);
    expect(count.requests).toBe(1);
  });

  it('waits as Retry-After asks, and makes everybody wait', async () => {
    const { fetch, clock, reporter } = setUp((nth) => (nth === 0 ? statusError(429, 7000) : answer()));
    await fetch();
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(7000);
    expect(reporter.throttledAnswers).toBe(1);
  });

  it('pauses the whole run for a minute at most, however long one cluster is told to wait', async () => {
    const { fetch, context, clock } = setUp(() => statusError(429, 86_400_000));
    await expect(fetch()).rejects.toThrow("the next request would be due in 86400 s, after this attempt's time");
    await context.pace.turn(context.stop.starting);
    expect(clock.monotonicMs()).toBe(60_000);
  });

  it('asks a second time, keeping the body as received, when it cannot be decoded as promised', async () => {
    const { service, count, context } = setUp((nth) => (nth === 0 ? new NotDecodableError('no JSON') : answer()));
    await fetchResource({ cluster: 'a', resource: 'manifest' }, count, context);
    expect(count.requests).toBe(2);
    const [decoding, keeping] = service.checks.map(
      (check) => () => check('application/json').write(Buffer.from('"a"b')),
    );
    expect(decoding).toThrow(NotDecodableError);
    expect(keeping?.().toString()).toBe('"a"b');
  });

  it('does not go round in circles when the second body cannot be decoded either', async () => {
    const { fetch, count } = setUp(() => new NotDecodableError('no JSON'));
    await expect(fetch()).rejects.toThrow(NotDecodableError);
    expect(count.requests).toBe(2);
  });

  describe('with a rejected key', () => {
    it('asks again at once with the key that a rotation brought', async () => {
      const { fetch, keys, service, clock } = setUp((_nth, key) => (key === 'new' ? answer() : statusError(401)));
      keys.afterRejection = async () => {
        keys.value = 'new';
        return 'new';
      };
      await expect(fetch()).resolves.toMatchObject({ status: 200 });
      expect(service.keys).toEqual(['old', 'new']);
      expect(clock.slept).toEqual([]);
    });

    it('fails this cluster alone as long as fewer than five in a row are rejected', async () => {
      const { fetch, stop } = setUp(() => statusError(403));
      for (let i = 1; i < rejectionsToStop; i += 1) await expect(fetch(`c${i}`)).rejects.toMatchObject({ status: 403 });
      for (let i = 0; i < 10; i += 1) await expect(fetch('c1')).rejects.toMatchObject({ status: 403 });
      expect(stop.reason).toBeUndefined();
    });

    it('ends the run at the fifth different cluster in a row', async () => {
      const { fetch, stop, service, reporter } = setUp(() => statusError(401));
      for (let i = 1; i <= rejectionsToStop; i += 1)
        await expect(fetch(`c${i}`)).rejects.toMatchObject({ status: 401 });
      expect(reporter.isKeyRejected).toBe(true);
      expect(stop.reason?.message).toContain('rejected the API key for 5 different clusters');
      await expect(fetch('c6')).rejects.toThrow(RunStopped);
      expect(service.keys).toHaveLength(rejectionsToStop);
    });

    it('starts counting anew after a good answer', async () => {
      const { fetch, stop } = setUp((nth) => (nth === 4 ? answer() : statusError(401)));
      for (let i = 1; i <= 9; i += 1) await fetch(`c${i}`).catch(() => undefined);
      expect(stop.reason).toBeUndefined();
      await fetch('c10').catch(() => undefined);
      expect(stop.reason).toBeDefined();
    });

    it('tells that the key cannot be read again', async () => {
      const { fetch, keys } = setUp(() => statusError(401));
      keys.afterRejection = async () => {
        throw new ApiKeyError('no secret');
      };
      await expect(fetch()).rejects.toThrow(ApiKeyError);
    });
  });

  it.each([
    'current',
    'afterRejection',
  ] as const)('does not wait for a key past the end of the run (%s)', async (reading) => {
    const { fetch, keys, stop } = setUp(() => statusError(401));
    const asked = new Promise<void>((resolve) => {
      const untilCancelled = (signal: AbortSignal) =>
        new Promise<string>((_resolve, reject) => {
          resolve();
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      if (reading === 'current') keys.current = untilCancelled;
      else keys.afterRejection = (_rejected, signal) => untilCancelled(signal);
    });
    const fetching = fetch();
    await asked;
    stop.cancel(new RunStopped('time ran out'));
    await expect(fetching).rejects.toThrow('time ran out');
  });

  it('makes no further request once the run has stopped, and tells the last failure with the reason', async () => {
    const { fetch, stop, count } = setUp(() => {
      stop.startNothing(new RunStopped('time ran out'));
      return statusError(500);
    });
    await expect(fetch()).rejects.toThrow('status 500; no further request: time ran out');
    expect(count.requests).toBe(1);
  });
});
