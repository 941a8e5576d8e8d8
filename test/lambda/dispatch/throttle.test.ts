import { Throttle } from '../../../lambda/dispatch/throttle';

const hour = 3_600_000;

describe('a throttled answer', () => {
  it('of 503 pauses its cluster, for a minute at most, and not the run', () => {
    const throttle = new Throttle(undefined);
    expect([throttle.throttled(503, 7000, 0, 100), throttle.startMs(100)]).toEqual([7000, 100]);
    expect([throttle.throttled(503, hour, 0, 100), throttle.startMs(100)]).toEqual([60_000, 100]);
  });

  it('of 429 pauses the run', () => {
    const throttle = new Throttle(undefined);
    throttle.answered();
    expect([throttle.throttled(429, 7000, 0, 100), throttle.startMs(100)]).toEqual([undefined, 7100]);
  });

  it('of 429 that asks for a long pause pauses its cluster alone, if others were answered since the last pause', () => {
    const throttle = new Throttle(undefined);
    expect([throttle.throttled(429, hour, 0, 100), throttle.startMs(100), throttle.isInDoubt]).toEqual([
      undefined,
      60_100,
      true,
    ]);
    throttle.answered();
    expect(throttle.isInDoubt).toBe(false);
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
