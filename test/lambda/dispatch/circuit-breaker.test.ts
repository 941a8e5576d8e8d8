import { CircuitBreaker, type ProbeRound } from '../../../lambda/dispatch/circuit-breaker';

const longestPause = () => 1;

/** Lets so many clusters fail, of a fleet of 100. */
function fail(breaker: CircuitBreaker, count: number, prefix = 'c'): void {
  for (let i = 0; i < count; i += 1) breaker.failed(`${prefix}${i}`, 100, 0);
}

/** The current round, of which so many probes are made. */
function probe(breaker: CircuitBreaker, count: number): ProbeRound {
  const { round } = breaker;
  if (round === undefined) throw new Error('the breaker is closed');
  for (let i = 0; i < count; i += 1) round.probeStarted();
  return round;
}

/** Makes all probes of the current round and lets them fail. @returns how many there were, and when */
function failRound(breaker: CircuitBreaker): { probes: number; startMs: number } {
  const round = probe(breaker, breaker.round?.left ?? 0);
  for (let i = 0; i < round.made; i += 1) breaker.probeEnded(round, round.startMs);
  return { probes: round.made, startMs: round.startMs };
}

describe('the circuit breaker', () => {
  it('opens at the tenth cluster in a row that fails, each counted once', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 9);
    fail(breaker, 9);
    expect(breaker.round).toBeUndefined();
    breaker.failed('another', 100, 0);
    expect(breaker.round).toBeDefined();
  });

  it('does not open while somebody is answered between', () => {
    const breaker = new CircuitBreaker(longestPause);
    for (let i = 0; i < 10; i += 1) {
      fail(breaker, 9);
      breaker.succeeded('somebody');
    }
    expect(breaker.round).toBeUndefined();
  });

  it('needs no more clusters than there are', () => {
    const breaker = new CircuitBreaker(longestPause);
    breaker.failed('a', 2, 0);
    expect(breaker.round).toBeUndefined();
    breaker.failed('b', 2, 0);
    expect(breaker.round).toBeDefined();
  });

  it('lets through rounds of probes that grow, with pauses that grow up to half a minute', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    const rounds = Array.from({ length: 5 }, () => failRound(breaker));
    expect(rounds.map(({ probes }) => probes)).toEqual([4, 16, 64, 256, 1024]);
    for (let nth = 5; nth < 9; nth += 1) {
      const round = probe(breaker, 0);
      rounds.push({ probes: 0, startMs: round.startMs });
      breaker.noMoreProbes(round, round.startMs);
    }
    const starts = [0, 500, 1500, 3500, 7500, 15_500, 30_500, 60_500, 90_500];
    expect(rounds.map(({ startMs }) => startMs)).toEqual(starts);
  });

  it('waits for all probes of a round', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    const round = probe(breaker, 4);
    for (let i = 0; i < 3; i += 1) breaker.probeEnded(round, 0);
    expect(breaker.round).toBe(round);
    breaker.probeEnded(round, 100);
    expect(breaker.round).toMatchObject({ startMs: 600, left: 16 });
  });

  it('is closed by one answer, and takes no probe of before for one of after', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    const late = probe(breaker, 4);
    breaker.succeeded('somebody');
    expect(breaker.round).toBeUndefined();
    fail(breaker, 10, 'd');
    const round = probe(breaker, 4);
    for (const one of [late, late, late, late, round, round, round]) breaker.probeEnded(one, 0);
    expect(breaker.failedRounds).toBe(0);
  });

  it('takes clusters that fail while others are answered at once for bad, until they are answered', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    breaker.succeeded('somebody');
    fail(breaker, 10);
    expect(breaker.round).toBeUndefined();
    for (let i = 0; i < 10; i += 1) breaker.succeeded(`c${i}`);
    fail(breaker, 10);
    expect(breaker.round).toBeDefined();
  });

  it('does not take clusters for bad that failed while the service was down', () => {
    const breaker = new CircuitBreaker(longestPause);
    fail(breaker, 10);
    failRound(breaker);
    breaker.succeeded('somebody');
    fail(breaker, 10);
    expect(breaker.round).toBeDefined();
  });
});
