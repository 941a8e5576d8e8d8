import type { Clock } from '../../lambda/clock';

/** A clock for many who sleep at once: time goes to the next who wakes as soon as nobody has anything else to do. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  #isMoving = false;
  readonly #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  now(): Date {
    return new Date(Date.parse('2026-11-20T10:00:00.000Z') + this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  random(): number {
    return 0.5;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((wake) => {
      this.#sleepers.push({ until: this.#nowMs + ms, wake });
      void this.#move();
    });
    signal.throwIfAborted();
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    while (this.#sleepers.length > 0) {
      // Whoever is awake goes on until there is nothing left but to wait.
      await new Promise((resolve) => setImmediate(resolve));
      this.#sleepers.sort((a, b) => a.until - b.until);
      const next = this.#sleepers.shift();
      this.#nowMs = Math.max(this.#nowMs, next?.until ?? 0);
      next?.wake();
    }
    this.#isMoving = false;
  }
}
