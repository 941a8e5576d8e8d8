import { Pace } from './pace';
import { longestSharedPauseMs } from './retry';
import type { Cluster } from './task';

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
   * @param cluster undefined: nothing more is asked of it
   * @param delayMs that its task has to wait
   */
  throttled(
    status: number | undefined,
    cluster: Cluster | undefined,
    delayMs: number,
    startedMs: number,
    nowMs: number,
  ) {
    const pauseMs = Math.min(delayMs, longestSharedPauseMs);
    const isLong = delayMs > longestSharedPauseMs;
    const isOwn = status === 503 || (isLong && this.#hasAnswered);
    if (isOwn && cluster !== undefined) cluster.pausedUntilMs = nowMs + pauseMs;
    if (status === 503) return;
    this.#pace.throttled(isOwn ? 0 : pauseMs, startedMs, nowMs);
    if (isOwn) return;
    this.#hasAnswered = false;
    this.#isInDoubt = isLong;
  }
}
