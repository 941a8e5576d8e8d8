import type { Clock } from '../clock';

/** Spacing after the service asked for fewer requests, in milliseconds: the first step and the widest. */
const throttledSpacing = { firstMs: 20, widestMs: 1_000 } as const;

/**
 * When requests may start, over the whole run: a configured rate, and one shared pause when the service throttles. After
 * a pause the waiting requests would all start at once and be throttled again, so they are also spaced: each throttled
 * answer doubles the spacing, each good answer narrows it by a tenth.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #rateSpacingMs: number;
  #throttledSpacingMs = 0;
  #nextStartMs = 0;
  #pausedUntilMs = 0;

  constructor(clock: Clock, requestsPerSecond: number | undefined) {
    this.#clock = clock;
    this.#rateSpacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;
  }

  /** Resolves when the caller's request may start; rejects with the signal's reason as soon as it aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.monotonicMs();
      const start = Math.max(now, this.#nextStartMs, this.#pausedUntilMs);
      this.#nextStartMs = start + Math.max(this.#rateSpacingMs, this.#throttledSpacingMs);
      if (start > now) await this.#clock.sleep(start - now, signal);
      // A pause that began while this request waited holds for it too.
      if (this.#clock.monotonicMs() >= this.#pausedUntilMs) return;
    }
  }

  /** The service throttled: nothing starts for so many milliseconds, and then less densely. */
  throttled(pauseMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonicMs() + pauseMs);
    const doubled = Math.max(throttledSpacing.firstMs, this.#throttledSpacingMs * 2);
    this.#throttledSpacingMs = Math.min(throttledSpacing.widestMs, doubled);
  }

  /** The service answered well. */
  succeeded(): void {
    this.#throttledSpacingMs = this.#throttledSpacingMs < 1 ? 0 : this.#throttledSpacingMs * 0.9;
  }
}
