import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lambda/clock';

interface Sleeper {
  readonly untilMs: number;
  readonly ended: AbortController;
}

/** Its time goes on only by what {@link VirtualClock} skips. */
export const standingClock: Clock = {
  now: () => new Date('2026-11-20T10:00:00.000Z'),
  monotonicMs: () => 0,
  random: () => 0.5,
  sleep: (_ms, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
};

/** A clock on which nobody sleeps in vain: as soon as nothing is under way, it goes to the time of the next who wakes. */
export class VirtualClock implements Clock {
  readonly random: () => number;
  readonly #base: Clock;
  readonly #sleepers = new Set<Sleeper>();
  #underWay = 0;
  #skippedMs = 0;
  #isMoving = false;

  /** @param base how time goes on meanwhile */
  constructor(base = standingClock) {
    this.#base = base;
    this.random = base.random;
  }

  now(): Date {
    return new Date(this.#base.now().getTime() + this.#skippedMs);
  }

  monotonicMs(): number {
    return this.#base.monotonicMs() + this.#skippedMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const sleeper = { untilMs: this.monotonicMs() + ms, ended: new AbortController() };
    this.#sleepers.add(sleeper);
    void this.#skip();
    await this.#base.sleep(ms, AbortSignal.any([signal, sleeper.ended.signal])).catch(() => undefined);
    this.#sleepers.delete(sleeper);
    signal.throwIfAborted();
  }

  /** While it goes on, time is what it is. */
  async underWay<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
      void this.#skip();
    }
  }

  async #skip(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    for (;;) {
      // Whoever is awake has time to begin something.
      await setImmediate();
      await setImmediate();
      const [next] = [...this.#sleepers].sort((a, b) => a.untilMs - b.untilMs);
      if (this.#underWay > 0 || next === undefined) break;
      this.#skippedMs += Math.max(0, next.untilMs - this.monotonicMs());
      this.#sleepers.delete(next);
      next.ended.abort();
    }
    this.#isMoving = false;
  }
}
