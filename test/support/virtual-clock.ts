import type { Clock } from '../../lambda/clock';

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

/** A clock for many who sleep at once: time goes to the next who wakes as soon as nobody has anything else to do. */
export class VirtualClock implements Clock {
  readonly #chance: number;
  #nowMs = 0;
  #isMoving = false;
  readonly #sleepers = new Set<Sleeper>();

  /** @param chance what {@link random} answers */
  constructor(chance = 0.5) {
    this.#chance = chance;
  }

  now(): Date {
    return new Date(Date.parse('2026-11-20T10:00:00.000Z') + this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  random(): number {
    return this.#chance;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { untilMs: this.#nowMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', wake);
      void this.#move();
    });
    signal.throwIfAborted();
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    while (this.#sleepers.size > 0) {
      // Whoever is awake goes on until there is nothing left but to wait.
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = [...this.#sleepers].sort((a, b) => a.untilMs - b.untilMs);
      this.#nowMs = Math.max(this.#nowMs, next?.untilMs ?? 0);
      next?.wake();
    }
    this.#isMoving = false;
  }
}
