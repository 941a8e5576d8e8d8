import { Cluster } from '../../../lambda/dispatch/task';
import { Throttle } from '../../../lambda/dispatch/throttle';

const hour = 3_600_000;

describe('a throttled answer', () => {
  it('of 503 pauses both resources of its cluster, for a minute at most, and not the run', () => {
    const throttle = new Throttle(undefined);
    const cluster = new Cluster('a');
    throttle.throttled(503, cluster, 7000, 0, 100);
    expect([cluster.pausedUntilMs, throttle.startMs(100)]).toEqual([7100, 100]);
    throttle.throttled(503, cluster, hour, 0, 100);
    expect([cluster.pausedUntilMs, throttle.startMs(100)]).toEqual([60_100, 100]);
  });

  it('of 429 pauses the run', () => {
    const throttle = new Throttle(undefined);
    const cluster = new Cluster('a');
    throttle.answered();
    throttle.throttled(429, cluster, 7000, 0, 100);
    expect([cluster.pausedUntilMs, throttle.startMs(100)]).toEqual([0, 7100]);
  });

  it('of 429 that asks for a long pause pauses its cluster alone, if others were answered since the last pause', () => {
    const throttle = new Throttle(undefined);
    const [first, second] = [new Cluster('a'), new Cluster('b')];
    throttle.throttled(429, first, hour, 0, 100);
    expect([first.pausedUntilMs, throttle.startMs(100), throttle.isInDoubt]).toEqual([0, 60_100, true]);
    throttle.answered();
    expect(throttle.isInDoubt).toBe(false);
    throttle.throttled(429, second, hour, 60_100, 60_200);
    expect([second.pausedUntilMs, throttle.startMs(60_200)]).toEqual([120_200, 60_200]);
  });

  it('spaces the requests of the run, whomever it pauses, unless it is a 503', () => {
    const throttle = new Throttle(undefined);
    throttle.answered();
    throttle.throttled(503, new Cluster('a'), hour, 0, 0);
    throttle.started(0);
    expect(throttle.startMs(0)).toBe(0);
    throttle.throttled(429, new Cluster('a'), hour, 0, 0);
    throttle.started(0);
    expect(throttle.startMs(0)).toBe(20);
  });
});
