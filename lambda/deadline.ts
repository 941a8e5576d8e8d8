import { RunStopped, type Stop } from './stop';

/** When a run must stop, so that its record can still be written. */
export interface Deadline {
  /** Milliseconds until the run must stop; never negative. */
  timeLeftMs(): number;
  /** To be called when the run is over. */
  clear(): void;
}

/**
 * Cancels a run shortly before its function's time limit.
 * @param remainingMs of the invocation, as its context tells
 * @param reserveMs what must be left then
 */
export function startDeadline(stop: Stop, remainingMs: () => number, reserveMs: number): Deadline {
  const timeLeftMs = () => Math.max(0, remainingMs() - reserveMs);
  const cancel = () =>
    stop.cancel(new RunStopped("the function's time limit is near; the next attempt completes the run"));
  const timer = setTimeout(cancel, timeLeftMs());
  if (timeLeftMs() === 0) cancel();
  return { timeLeftMs, clear: () => clearTimeout(timer) };
}
