import { Pace } from './pace';
import { longestSharedPauseMs } from './retry';

/** Whom a throttled answer makes wait: the whole run, or one cluster. */
export class Throttle {
  readonly #pace: Pace;
  /** Whether anybody was answered since the run was last paused. */
  #hasAnswered = false;
  #isInDoubt = false;

  constructor(requestsPerSecond: number | undefined) {
    this.#pace = new Pace(requestsPerSecond);
  }

  /**
   * Whether the run was paused for a long Retry-After, and nobody was answered since. It may concern one cluster only.
   */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** When the next request may start, in milliseconds. */
  startMs(nowMs: number): number {
    return this.#pace.startMs(nowMs);
  }

  started(nowMs: number): void {
    this.#pace.started(nowMs);
  }

  /** A good answer came. */
  succeeded(): void {
    this.#pace.succeeded();
    this.answered();
  }

  /** An answer came that is neither throttled nor a server error. */
  answered(): void {
    this.#hasAnswered = true;
    this.#isInDoubt = false;
  }

  /**
   * 503 pauses the cluster, 429 the run. A 429 that asks for a long pause while others are answered pauses the cluster
   * only.
   * @param delayMs that its task has to wait
   * @returns how long its cluster has to pause, in milliseconds; undefined: not at all
   */
  throttled(status: number | undefined, delayMs: number, startedMs: number, nowMs: number): number | undefined {
    const pauseMs = Math.min(delayMs, longestSharedPauseMs);
    const isLong = delayMs > longestSharedPauseMs;
    const isOwn = isLong && this.#hasAnswered;
    if (status === 503) return pauseMs;
    this.#pace.throttled(isOwn ? 0 : pauseMs, startedMs, nowMs);
    if (isOwn) return pauseMs;
    this.#hasAnswered = false;
    this.#isInDoubt = isLong;
    return undefined;
  }
}
