import { CircuitBreaker } from '../../../lambda/dispatch/circuit-breaker';
import { FairQueue } from '../../../lambda/dispatch/fair-queue';
import { InFlightRequest } from '../../../lambda/dispatch/in-flight-request';
import { ranks, type Task } from '../../../lambda/dispatch/task';

const tasks = Array.from(
  { length: 1400 },
  (_, index): Task => ({ request: { cluster: `c${index}`, resource: 'log' }, index }),
);
let asked: number;

/** A closed breaker of a fleet that was not asked for anything, with the longest pauses. */
function breakerOf(): CircuitBreaker {
  const queue = new FairQueue();
  for (const task of tasks) queue.add(task, ranks.unattempted);
  asked = 0;
  return new CircuitBreaker(
    queue,
    () => tasks[asked],
    [],
    () => 1,
  );
}

function requestOf(nth: number): InFlightRequest {
  return new InFlightRequest({ cluster: `c${nth}`, resource: 'log' }, tasks[nth], 'regular', 0);
}

/** Lets so many clusters fail, of a fleet of 100. */
function fail(breaker: CircuitBreaker, count: number, from = 0): void {
  for (let nth = from; nth < from + count; nth += 1) breaker.failed(requestOf(nth), undefined, 100, 0);
}

/** Makes all probes that may be made now. */
function probe(breaker: CircuitBreaker, nowMs = breaker.nextProbeMs): InFlightRequest[] {
  const probes: InFlightRequest[] = [];
  for (let one = breaker.probe(nowMs); one; one = breaker.probe(nowMs)) {
    asked += 1;
    probes.push(one);
  }
  return probes;
}

describe('the circuit breaker', () => {
  it('opens at the tenth cluster in a row that fails, each counted once', () => {
    const breaker = breakerOf();
    fail(breaker, 9);
    fail(breaker, 9);
    expect(breaker.isOpen).toBe(false);
    fail(breaker, 1, 9);
    expect(breaker.isOpen).toBe(true);
  });

  it('does not open while somebody is answered between', () => {
    const breaker = breakerOf();
    for (let i = 0; i < 10; i += 1) {
      fail(breaker, 9);
      breaker.succeeded(requestOf(50), false);
    }
    expect(breaker.isOpen).toBe(false);
  });

  it('needs no more clusters than there are', () => {
    const breaker = breakerOf();
    breaker.failed(requestOf(0), undefined, 2, 0);
    expect(breaker.isOpen).toBe(false);
    breaker.failed(requestOf(1), undefined, 2, 0);
    expect(breaker.isOpen).toBe(true);
  });

  it('makes rounds of probes that grow, and a few when all were asked, with pauses that grow up to half a minute', () => {
    const breaker = breakerOf();
    fail(breaker, 10);
    const rounds = Array.from({ length: 9 }, () => {
      const startMs = breaker.nextProbeMs;
      const probes = probe(breaker);
      for (const one of probes) breaker.probeEnded(one, startMs);
      return [startMs, probes.length];
    });
    const starts = [0, 500, 1500, 3500, 7500, 15_500, 30_500, 60_500, 90_500];
    const counts = [4, 16, 64, 256, 1024, 36, 4, 4, 4];
    expect(rounds).toEqual(starts.map((startMs, nth) => [startMs, counts[nth]]));
  });

  it('waits for all probes of a round', () => {
    const breaker = breakerOf();
    fail(breaker, 10);
    const [last, ...others] = probe(breaker);
    for (const one of others) breaker.probeEnded(one, 0);
    expect(breaker.nextProbeMs).toBe(Number.POSITIVE_INFINITY);
    if (last !== undefined) breaker.probeEnded(last, 100);
    expect(breaker.nextProbeMs).toBe(600);
  });

  it('is closed by one answer, and takes no probe of before for one of after', () => {
    const breaker = breakerOf();
    fail(breaker, 10);
    const late = probe(breaker);
    breaker.succeeded(requestOf(50), false);
    expect(breaker.isOpen).toBe(false);
    fail(breaker, 10, 10);
    const [, ...others] = probe(breaker, 0);
    for (const one of [...late, ...others]) breaker.probeEnded(one, 0);
    expect(breaker.isServiceDown).toBe(false);
  });

  it('takes clusters that fail while others are answered at once for bad, until they are answered', () => {
    const breaker = breakerOf();
    fail(breaker, 10);
    breaker.succeeded(requestOf(50), false);
    fail(breaker, 10);
    expect(breaker.isOpen).toBe(false);
    for (let nth = 0; nth < 10; nth += 1) breaker.succeeded(requestOf(nth), false);
    fail(breaker, 10);
    expect(breaker.isOpen).toBe(true);
  });

  it('does not take clusters for bad that failed while the service was down', () => {
    const breaker = breakerOf();
    fail(breaker, 10);
    for (const one of probe(breaker)) breaker.probeEnded(one, 0);
    breaker.succeeded(requestOf(50), false);
    fail(breaker, 10);
    expect(breaker.isOpen).toBe(true);
  });
});
