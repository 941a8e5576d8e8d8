import { functionTimeoutSeconds } from '../../archive/format/clocks';
import { RunStopped, Stop } from '../../lambda/stop';
import { deadlineReserveSeconds, recordWriteSeconds } from '../../lambda/time-limits';

afterEach(() => jest.useRealTimers());

describe('the deadline', () => {
  it('cancels the run when no time is left', () => {
    jest.useFakeTimers();
    const end = Date.now() + 55_000;
    const stop = new Stop(() => end - Date.now());
    expect(stop.timeLeftMs).toBe(55_000);
    jest.advanceTimersByTime(54_999);
    expect(stop.starting.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect([stop.starting.aborted, stop.working.aborted, stop.timeLeftMs]).toEqual([true, true, 0]);
    expect(stop.reason?.message).toContain("the function's time limit is near");
  });

  it('that is over at the start lets nothing begin', () => {
    const stop = new Stop(() => -1);
    stop.close();
    expect(stop.working.aborted).toBe(true);
  });

  it('that is closed cancels nothing', () => {
    jest.useFakeTimers();
    const stop = new Stop(() => 100);
    stop.close();
    jest.advanceTimersByTime(1000);
    expect(stop.starting.aborted).toBe(false);
  });

  it('leaves more time than the run record may take', () => {
    expect(deadlineReserveSeconds).toBeGreaterThanOrEqual(recordWriteSeconds + 10);
    expect(deadlineReserveSeconds).toBeLessThan(functionTimeoutSeconds / 10);
  });
});

describe('stopping', () => {
  it('keeps its first reason, also for what is cancelled later', () => {
    const stop = new Stop(() => 1000);
    stop.startNothing(new RunStopped('key rejected'));
    expect(stop.working.aborted).toBe(false);
    stop.cancel(new RunStopped('time ran out'));
    expect(stop.working.reason).toMatchObject({ message: 'key rejected' });
    expect(stop.reason?.message).toBe('key rejected');
    stop.close();
  });
});
