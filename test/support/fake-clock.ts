import type { Clock } from '../../lambda/clock';

/** A clock that moves only when somebody sleeps, and notes every sleep. */
export class FakeClock implements Clock {
  readonly slept: number[] = [];
  #elapsedMs = 0;
  readonly #start = Date.parse('2026-11-20T10:00:00.000Z');

  /** @param chance what {@link random} answers */
  constructor(readonly chance = 0.5) {}

  now(): Date {
    return new Date(this.#start + this.#elapsedMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.slept.push(ms);
    this.#elapsedMs += ms;
    await Promise.resolve();
    signal.throwIfAborted();
  }

  random(): number {
    return this.chance;
  }

  advance(ms: number): void {
    this.#elapsedMs += ms;
  }
}
