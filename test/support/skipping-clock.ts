import { type Clock, systemClock } from '../../lambda/clock';

interface Sleeper {
  readonly untilMs: number;
  readonly ms: number;
  readonly wake: () => void;
}

/**
 * A clock on which nobody sleeps in vain: as soon as nothing is under way it goes to the time of the next who wakes.
 * Meanwhile it goes as the system's clock does, or stands still.
 */
export class SkippingClock implements Clock {
  /** Milliseconds of each sleep that was skipped. */
  readonly skipped: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  readonly #standsStill: boolean;
  #underWay = 0;
  #skippedMs = 0;

  /** @param standsStill whether time goes on only while nothing is under way, so that no load on the machine disturbs it */
  constructor(standsStill = false) {
    this.#standsStill = standsStill;
  }

  now(): Date {
    return systemClock.now();
  }

  monotonicMs(): number {
    return (this.#standsStill ? 0 : systemClock.monotonicMs()) + this.#skippedMs;
  }

  random(): number {
    return systemClock.random();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ended = new AbortController();
    await new Promise<void>((resolve) => {
      const wake = () => {
        ended.abort();
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { untilMs: this.monotonicMs() + ms, ms, wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', wake);
      if (!this.#standsStill) systemClock.sleep(ms, ended.signal).then(wake, () => undefined);
      this.#skip();
    });
    signal.throwIfAborted();
  }

  /** While it goes on, time is what it is. */
  async underWay<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
      this.#skip();
    }
  }

  /** Goes to the time of the next sleeper, once whoever is awake has had time to begin something. */
  #skip(): void {
    setImmediate(() =>
      setImmediate(() => {
        const [next] = [...this.#sleepers].sort((a, b) => a.untilMs - b.untilMs);
        if (this.#underWay > 0 || next === undefined) return;
        const leftMs = Math.max(0, next.untilMs - this.monotonicMs());
        this.#skippedMs += leftMs;
        this.skipped.push(leftMs);
        next.wake();
        this.#skip();
      }),
    );
  }
}
