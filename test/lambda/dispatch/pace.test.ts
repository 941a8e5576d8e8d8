import { Pace } from '../../../lambda/dispatch/pace';

/** When so many requests start that all want to at one time. */
function starts(pace: Pace, nowMs: number, count: number): number[] {
  return Array.from({ length: count }, () => {
    const startMs = pace.startMs(nowMs);
    pace.started(startMs);
    return startMs;
  });
}

describe('the pace of a run', () => {
  it('without a rate lets everything start at once', () => {
    expect(starts(new Pace(undefined), 0, 3)).toEqual([0, 0, 0]);
  });

  it('keeps a rate over the whole run, and does not make up for idle time', () => {
    const pace = new Pace(4);
    expect(starts(pace, 0, 3)).toEqual([0, 250, 500]);
    expect(starts(pace, 10_500, 2)).toEqual([10_500, 10_750]);
  });

  it('keeps the rate although timers wake late', () => {
    const pace = new Pace(50);
    for (let nth = 0; nth < 100; nth += 1) pace.started(pace.startMs(0) + 1.5);
    expect(pace.startMs(0)).toBeLessThan(100 * 20 + 2);
  });

  it('holds everybody back for the pause that one throttled answer imposes, then spaces them', () => {
    const pace = new Pace(undefined);
    pace.throttled(3000, 0, 0);
    expect(starts(pace, 0, 3)).toEqual([3000, 3020, 3040]);
    pace.throttled(0, 3040, 3040);
    expect(starts(pace, 3040, 2)).toEqual([3060, 3100]);
  });

  it('does not lengthen a pause for a request that began before it', () => {
    const pace = new Pace(undefined);
    pace.throttled(3000, 0, 100);
    pace.throttled(60_000, 50, 200);
    expect(pace.startMs(200)).toBe(3100);
    pace.throttled(60_000, 3100, 3200);
    expect(pace.startMs(3200)).toBe(63_200);
  });

  it('takes up speed again with good answers', () => {
    const pace = new Pace(undefined);
    pace.throttled(0, 0, 0);
    for (let i = 0; i < 40; i += 1) pace.succeeded();
    const [before = 0] = starts(pace, 0, 1);
    expect(starts(pace, before, 3)).toEqual([before, before, before]);
  });

  it('applies a pause that begins while a request waits', () => {
    const pace = new Pace(1);
    pace.started(0);
    expect(pace.startMs(10)).toBe(1000);
    pace.throttled(5000, 0, 20);
    expect(pace.startMs(1000)).toBe(5020);
  });
});
