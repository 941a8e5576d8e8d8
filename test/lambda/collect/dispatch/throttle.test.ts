import { Throttle } from '../../../../lambda/collect/dispatch/throttle';

const hour = 3_600_000;

describe('a throttled answer', () => {
  it('of 503 pauses its cluster, for a minute at most, and not the run', () => {
    const throttle = new Throttle(undefined);
    expect([throttle.throttled(503, 7000, 0, 100), throttle.startMs(100)]).toEqual([7000, 100]);
    expect([throttle.throttled(503, hour, 0, 100), throttle.startMs(100)]).toEqual([60_000, 100]);
  });

  it('of 429 that asks for a long pause pauses its cluster alone, if others were answered since the last pause', () => {
    const throttle = new Throttle(undefined);
    expect([throttle.throttled(429, hour, 0, 100), throttle.startMs(100)]).toEqual([undefined, 60_100]);
    throttle.answered();
    expect([throttle.throttled(429, hour, 60_100, 60_200), throttle.startMs(60_200)]).toEqual([60_000, 60_200]);
  });

  it('spaces the requests of the run, whomever it pauses, unless it is a 503', () => {
    const throttle = new Throttle(undefined);
    throttle.answered();
    throttle.throttled(503, hour, 0, 0);
    throttle.started(0);
    expect(throttle.startMs(0)).toBe(0);
    throttle.throttled(429, hour, 0, 0);
    throttle.started(0);
    expect(throttle.startMs(0)).toBe(20);
  });
});

/** When so many requests start that all want to at one time. */
function starts(throttle: Throttle, nowMs: number, count: number): number[] {
  return Array.from({ length: count }, () => {
    const startMs = throttle.startMs(nowMs);
    throttle.started(startMs);
    return startMs;
  });
}

describe('the pace of a run', () => {
  it('without a rate lets everything start at once', () => {
    expect(starts(new Throttle(undefined), 0, 3)).toEqual([0, 0, 0]);
  });

  it('keeps a rate over the whole run, and does not make up for idle time', () => {
    const throttle = new Throttle(4);
    expect(starts(throttle, 0, 3)).toEqual([0, 250, 500]);
    expect(starts(throttle, 10_500, 2)).toEqual([10_500, 10_750]);
  });

  it('keeps the rate although timers wake late', () => {
    const throttle = new Throttle(50);
    for (let nth = 0; nth < 100; nth += 1) throttle.started(throttle.startMs(0) + 1.5);
    expect(throttle.startMs(0)).toBeLessThan(100 * 20 + 2);
  });

  it('holds everybody back for the pause that one throttled answer imposes, then sthrottles them', () => {
    const throttle = new Throttle(undefined);
    throttle.throttled(429, 3000, 0, 0);
    expect(starts(throttle, 0, 3)).toEqual([3000, 3020, 3040]);
    throttle.throttled(429, 0, 3040, 3040);
    expect(starts(throttle, 3040, 2)).toEqual([3060, 3100]);
  });

  it('does not lengthen a pause for a request that began before it', () => {
    const throttle = new Throttle(undefined);
    throttle.throttled(429, 3000, 0, 100);
    throttle.throttled(429, 60_000, 50, 200);
    expect(throttle.startMs(200)).toBe(3100);
    throttle.throttled(429, 60_000, 3100, 3200);
    expect(throttle.startMs(3200)).toBe(63_200);
  });

  it('takes up speed again with good answers', () => {
    const throttle = new Throttle(undefined);
    throttle.throttled(429, 0, 0, 0);
    for (let i = 0; i < 40; i += 1) throttle.succeeded();
    const [before = 0] = starts(throttle, 0, 1);
    expect(starts(throttle, before, 3)).toEqual([before, before, before]);
  });

  it('applies a pause that begins while a request waits', () => {
    const throttle = new Throttle(1);
    throttle.started(0);
    expect(throttle.startMs(10)).toBe(1000);
    throttle.throttled(429, 5000, 0, 20);
    expect(throttle.startMs(1000)).toBe(5020);
  });
});
