import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Time and chance as the core sees them, so that its tests need neither. */
export interface Clock {
  now(): Date;
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number;
  /** Resolves after so many milliseconds, at most 24 days; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    signal.throwIfAborted();
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      // timers/promises wraps the reason; the core asks for the reason itself.
      signal.throwIfAborted();
      throw error;
    }
  },
  random: Math.random,
};
