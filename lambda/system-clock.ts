import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './clock';

/** Longest timer Node keeps, in milliseconds: a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    signal.throwIfAborted();
    try {
      await delay(Math.min(ms, longestTimerMs), undefined, { signal });
    } catch (error) {
      // timers/promises wraps the reason; the core asks for the reason itself.
      signal.throwIfAborted();
      throw error;
    }
  },
  random: Math.random,
};
