import { setMaxListeners } from 'node:events';

/** The run ends before everything was attempted, and this is why. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/**
 * How and when a run ends early. It has two signals because there are two ways: when time runs out, what is under way is
 * cancelled; when the key is rejected or the service is down, what is under way may finish and nothing new starts.
 */
export class Stop {
  readonly #starting = new AbortController();
  readonly #working = new AbortController();
  readonly #timeLeftMs: () => number;
  readonly #timer: NodeJS.Timeout;

  /** @param timeLeftMs milliseconds until what is under way has to be cancelled */
  constructor(timeLeftMs: () => number) {
    // Not a leak: one listener per worker.
    setMaxListeners(0, this.#starting.signal, this.#working.signal);
    this.#timeLeftMs = timeLeftMs;
    this.#timer = setTimeout(() => this.outOfTime(), this.timeLeftMs);
    if (this.timeLeftMs === 0) this.outOfTime();
  }

  /** Milliseconds until the run must stop; never negative. */
  get timeLeftMs(): number {
    return Math.max(0, this.#timeLeftMs());
  }

  /** Aborts when nothing new may start. */
  get starting(): AbortSignal {
    return this.#starting.signal;
  }

  /** Aborts when what is under way must end. */
  get working(): AbortSignal {
    return this.#working.signal;
  }

  /** Why the run ended early; undefined as long as it did not. */
  get reason(): RunStopped | undefined {
    const { reason } = this.#starting.signal;
    return reason instanceof RunStopped ? reason : undefined;
  }

  /** Nothing new starts. The first reason stands. */
  startNothing(reason: RunStopped): void {
    this.#starting.abort(reason);
  }

  /** Nothing new starts and what is under way is cancelled. */
  cancel(reason: RunStopped): void {
    this.#starting.abort(reason);
    this.#working.abort(this.#starting.signal.reason);
  }

  /** Cancels the run because its time is over. */
  outOfTime(): void {
    this.cancel(new RunStopped("the function's time limit is near; the next attempt completes the run"));
  }

  /** Ends the watch on the time limit; to be called when the run is over. */
  close(): void {
    clearTimeout(this.#timer);
  }
}
