import { CircuitBreaker } from '../../../lambda/dispatch/circuit-breaker';

const longestPause = () => 1;

/** Lets so many clusters fail, of a fleet of 100. */
function fail(breaker: CircuitBreaker, count: number, prefix = 'c'): void {
  for (let i = 0; i < count; i += 1) breaker.failed(`${prefix}${i}`, 100, 0);
}

/** Makes all probes of the current round and lets them fail. @returns how many there were */
function failRound(breaker: CircuitBreaker, nowMs = breaker.nextProbeMs): number {
  const probes: number[] = [];
  while (breaker.nextProbeMs <= nowMs) probes.push(breaker.probeStarted());
  for (const probe of probes) breaker.probeEnded(probe, nowMs);
  return probes.length;
}

describe('the circuit breaker', () => {
  it('opens at the tenth cluster in a row that fails, each counted once', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 9);
    fail(breaker, 9);
    expect(breaker.isOpen).toBe(false);
    breaker.failed('another', 100, 0);
    expect(breaker.isOpen).toBe(true);
  });

  it('does not open while somebody is answered between', () => {
    const breaker = new CircuitBreaker(longestPause);
    for (let i = 0; i < 10; i += 1) {
      fail(breaker, 9);
      breaker.succeeded('somebody');
    }
    expect(breaker.isOpen).toBe(false);
  });

  it('needs no more clusters than there are', () => {
    const breaker = new CircuitBreaker(longestPause);
    breaker.failed('a', 2, 0);
    expect(breaker.isOpen).toBe(false);
    breaker.failed('b', 2, 0);
    expect(breaker.isOpen).toBe(true);
  });

  it('lets through rounds of probes that grow, with pauses that grow up to half a minute', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    const starts: number[] = [];
    const sizes: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      starts.push(breaker.nextProbeMs);
      sizes.push(failRound(breaker));
    }
    expect(sizes).toEqual([4, 16, 64, 256, 1024]);
    expect(starts).toEqual([0, 500, 1500, 3500, 7500]);
    for (let round = 5; round < 9; round += 1) {
      starts.push(breaker.nextProbeMs);
      breaker.noMoreProbes(breaker.nextProbeMs);
    }
    expect(starts.slice(5)).toEqual([15_500, 30_500, 60_500, 90_500]);
  });

  it('waits for all probes of a round', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    const probes = Array.from({ length: 4 }, () => breaker.probeStarted());
    for (const probe of probes.slice(1)) breaker.probeEnded(probe, 0);
    expect(breaker.nextProbeMs).toBe(Number.POSITIVE_INFINITY);
    breaker.probeEnded(probes[0] ?? 0, 100);
    expect(breaker.nextProbeMs).toBe(600);
  });

  it('is closed by one answer, and takes no probe of before for one of after', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    const late = breaker.probeStarted();
    breaker.succeeded('somebody');
    expect(breaker.isOpen).toBe(false);
    fail(breaker, 10, 'd');
    const probes = Array.from({ length: 4 }, () => breaker.probeStarted());
    for (const probe of [late, ...probes.slice(1)]) breaker.probeEnded(probe, 0);
    expect(breaker.failedRounds).toBe(0);
  });

  it('takes clusters that fail while others are answered at once for bad, until they are answered', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    breaker.succeeded('somebody');
    fail(breaker, 10);
    expect(breaker.isOpen).toBe(false);
    for (let i = 0; i < 10; i += 1) breaker.succeeded(`c${i}`);
    fail(breaker, 10);
    expect(breaker.isOpen).toBe(true);
  });

  it('does not take clusters for bad that failed while the service was down', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    failRound(breaker);
    breaker.succeeded('somebody');
    fail(breaker, 10);
    expect(breaker.isOpen).toBe(true);
  });
});
