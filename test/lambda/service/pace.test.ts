import { Pace } from '../../../lambda/service/pace';
import { FakeClock } from '../../support/fake-clock';

const never = new AbortController().signal;

async function starts(pace: Pace, clock: FakeClock, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    await pace.turn(never);
    times.push(clock.monotonicMs());
  }
  return times;
}

describe('the pace of a run', () => {
  it('without a rate lets everything start at once', async () => {
    const clock = new FakeClock();
    expect(await starts(new Pace(clock, undefined), clock, 3)).toEqual([0, 0, 0]);
  });

  it('keeps a rate over the whole run, and does not make up for idle time', async () => {
    const clock = new FakeClock();
    const pace = new Pace(clock, 4);
    expect(await starts(pace, clock, 3)).toEqual([0, 250, 500]);
    clock.advance(10_000);
    expect(await starts(pace, clock, 2)).toEqual([10_500, 10_750]);
  });

  it('holds everybody back for the pause that one throttled answer imposes, then spaces them', async () => {
    const clock = new FakeClock();
    const pace = new Pace(clock, undefined);
    pace.throttled(3000);
    expect(await starts(pace, clock, 3)).toEqual([3000, 3020, 3040]);
    pace.throttled(0);
    expect(await starts(pace, clock, 2)).toEqual([3060, 3100]);
  });

  it('takes up speed again with good answers', async () => {
    const clock = new FakeClock();
    const pace = new Pace(clock, undefined);
    pace.throttled(0);
    for (let i = 0; i < 40; i += 1) pace.succeeded();
    await pace.turn(never);
    const before = clock.monotonicMs();
    expect(await starts(pace, clock, 3)).toEqual([before, before, before]);
  });

  it('applies a pause that begins while a request waits', async () => {
    const clock = new FakeClock();
    const pace = new Pace(clock, 1);
    await pace.turn(never);
    const turn = pace.turn(never);
    pace.throttled(5000);
    await turn;
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(5000);
  });

  it('lets nothing start once the run stops', async () => {
    const stop = new AbortController();
    const pace = new Pace(new FakeClock(), 1);
    stop.abort(new Error('stopped'));
    await expect(pace.turn(stop.signal)).rejects.toThrow('stopped');
  });
});
