import { longestSharedPauseMs } from './retry';

/** Spacing after the service asked for fewer requests, in milliseconds: the first step and the widest. */
const throttledSpacing = { firstMs: 20, widestMs: 1_000 } as const;

/** How late a timer may be, in milliseconds: a start that is later by less does not delay the starts after it. */
const timerSlackMs = 5;

/**
 * When requests may start, over the whole run: a configured rate, and one shared pause when the service throttles. After
 * a pause the waiting requests would all start at once and be throttled again, so they are also spaced: each throttled
 * answer doubles the spacing, each good answer narrows it by a tenth.
 */
export class Throttle {
  readonly #rateSpacingMs: number;
  #throttledSpacingMs = 0;
  #nextStartMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether anybody was answered since the run was last paused. */
  #hasAnswered = false;

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

  /** A good answer came. */
  succeeded(): void {
    this.#throttledSpacingMs = this.#throttledSpacingMs < 1 ? 0 : this.#throttledSpacingMs * 0.9;
    this.answered();
  }

  /** An answer came that is neither throttled nor a server error. */
  answered(): void {
    this.#hasAnswered = true;
  }

  /**
   * 503 pauses the cluster, 429 the run. A 429 that asks for a long pause while others are answered pauses the cluster
   * only. If requests that were under way together are throttled, only the first one's pause counts.
   * @param delayMs that its task has to wait
   * @returns how long its cluster has to pause, in milliseconds; undefined: not at all
   */
  throttled(status: number | undefined, delayMs: number, startedMs: number, nowMs: number): number | undefined {
    const pauseMs = Math.min(delayMs, longestSharedPauseMs);
    if (status === 503) return pauseMs;
    const isOwn = delayMs > longestSharedPauseMs && this.#hasAnswered;
    if (startedMs >= this.#pausedUntilMs) this.#pausedUntilMs = nowMs + (isOwn ? 0 : pauseMs);
    const doubledMs = Math.max(throttledSpacing.firstMs, this.#throttledSpacingMs * 2);
    this.#throttledSpacingMs = Math.min(throttledSpacing.widestMs, doubledMs);
    if (isOwn) return pauseMs;
    this.#hasAnswered = false;
    return undefined;
  }
}
