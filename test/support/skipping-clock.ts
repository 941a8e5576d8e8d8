import { type Clock, systemClock } from '../../lambda/clock';

interface Sleeper {
  readonly untilMs: number;
  readonly ms: number;
  readonly wake: () => void;
}

/**
 * The system's clock, on which nobody sleeps in vain: as soon as nothing is under way it goes to the time of the next who
 * wakes.
 */
export class SkippingClock implements Clock {
  /** Milliseconds of each sleep that was skipped. */
  readonly skipped: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  readonly #speed: number;
  #underWay = 0;
  #skippedMs = 0;

  /** @param speed how many times as fast as the system's clock it goes */
  constructor(speed = 1) {
    this.#speed = speed;
  }

  now(): Date {
    return systemClock.now();
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() * this.#speed + this.#skippedMs;
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
      systemClock.sleep(ms / this.#speed, ended.signal).then(wake, () => undefined);
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
