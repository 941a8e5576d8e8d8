/** Spacing after the service asked for fewer requests, in milliseconds: the first step and the widest. */
const throttledSpacing = { firstMs: 20, widestMs: 1_000 } as const;

/** How late a timer may be, in milliseconds: a start that is no later does not delay the starts after it. */
const timerSlackMs = 5;

/**
 * When requests may start, over the whole run: a configured rate, and one shared pause when the service throttles. After
 * a pause the waiting requests would all start at once and be throttled again, so they are also spaced: each throttled
 * answer doubles the spacing, each good answer narrows it by a tenth.
 */
export class Pace {
  readonly #rateSpacingMs: number;
  #throttledSpacingMs = 0;
  #nextStartMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(requestsPerSecond: number | undefined) {
    this.#rateSpacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;
  }

  /** When the next request may start, in milliseconds. */
  startMs(nowMs: number): number {
    return Math.max(nowMs, this.#nextStartMs, this.#pausedUntilMs);
  }

  started(nowMs: number): void {
    const plannedMs = Math.max(this.#nextStartMs, this.#pausedUntilMs);
    const startMs = nowMs - plannedMs < timerSlackMs ? plannedMs : nowMs;
    this.#nextStartMs = startMs + Math.max(this.#rateSpacingMs, this.#throttledSpacingMs);
  }

  /**
   * The service throttled: nothing starts for so many milliseconds, and then less densely. If requests that were under
   * way together are throttled, only the first one's pause counts.
   */
  throttled(pauseMs: number, requestStartedMs: number, nowMs: number): void {
    if (requestStartedMs >= this.#pausedUntilMs) this.#pausedUntilMs = nowMs + pauseMs;
    const doubled = Math.max(throttledSpacing.firstMs, this.#throttledSpacingMs * 2);
    this.#throttledSpacingMs = Math.min(throttledSpacing.widestMs, doubled);
  }

  /** The service answered well. */
  succeeded(): void {
    this.#throttledSpacingMs = this.#throttledSpacingMs < 1 ? 0 : this.#throttledSpacingMs * 0.9;
  }
}
