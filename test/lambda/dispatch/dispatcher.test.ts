import { Dispatcher, type DispatchOptions } from '../../../lambda/dispatch/dispatcher';
import type { InFlightRequest } from '../../../lambda/dispatch/in-flight-request';
import { statusError } from '../../support/fake-service';

function dispatcherOf(uids: readonly string[], options: Partial<DispatchOptions> = {}): Dispatcher {
  const requests = uids.map((cluster) => ({ cluster, resource: 'log' as const }));
  return new Dispatcher(requests, {
    concurrency: 1,
    responseMs: 60_000,
    deadlineMs: 800_000,
    endsEarly: true,
    archived: [],
    hasFailedEarlier: () => false,
    random: () => 0.5,
    ...options,
  });
}

/** The request that it asks for now. */
function ask(dispatcher: Dispatcher, nowMs: number): InFlightRequest {
  const decision = dispatcher.next(nowMs);
  if (decision.kind !== 'ask') throw new Error(`expected a request, received ${decision.kind}`);
  return decision.inFlight;
}

const uids = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);

describe('the dispatcher', () => {
  it('lets a worker be held for as long as the key is read', () => {
    const dispatcher = dispatcherOf(uids(2));
    const inFlight = ask(dispatcher, 0);
    expect(dispatcher.failed(inFlight, statusError(401), 100)).toBe('read-key');
    expect(dispatcher.next(90_000)).toEqual({ kind: 'wait', untilMs: Number.POSITIVE_INFINITY });
    expect(dispatcher.keyRead(inFlight, 'same', 90_000)).toMatchObject({ failed: { status: 401 } });
    expect(ask(dispatcher, 90_000).request.cluster).toBe('c1');
  });

  it('asks one archived cluster, and nobody else, when many others fail', () => {
    const dispatcher = dispatcherOf(uids(20), { archived: [{ cluster: 'known', resource: 'log' }], concurrency: 16 });
    for (let i = 0; i < 10; i += 1) dispatcher.failed(ask(dispatcher, i), statusError(500), i);
    const probe = ask(dispatcher, 10);
    expect(probe).toMatchObject({ request: { cluster: 'known' }, task: undefined });
    expect(dispatcher.next(10)).toMatchObject({ kind: 'wait' });
    dispatcher.answered(probe, 20);
    dispatcher.ended(probe);
    expect(ask(dispatcher, 20).request.cluster).toBe('c10');
  });

  it('waits for the answer of a request only as long as nobody needs its worker', () => {
    const dispatcher = dispatcherOf(['a', 'b']);
    const first = ask(dispatcher, 0);
    // One in sixteen is left alone; the others give way.
    expect(dispatcher.next(10_000)).toEqual({ kind: 'wait', untilMs: 60_000 });
    dispatcher.next(60_000);
    expect(first.signal.aborted).toBe(true);
    dispatcher.failed(first, first.signal.reason, 60_001);
    const second = ask(dispatcher, 60_001);
    expect(second.request.cluster).toBe('b');
    // The first one waits for a second try, and both tasks are asked.
    dispatcher.next(70_001);
    expect(second.signal.aborted).toBe(true);
  });

  it('lets the last worker wait where nobody else is left', () => {
    const dispatcher = dispatcherOf(['a']);
    ask(dispatcher, 0);
    expect(dispatcher.next(700_000)).toEqual({ kind: 'wait', untilMs: Number.POSITIVE_INFINITY });
  });
});
