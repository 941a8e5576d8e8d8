import { setMaxListeners } from 'node:events';

/** The run ends before everything was attempted, and this is why. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/**
 * How a run ends early. Two signals because the two reasons differ: when time runs out what is under way is cancelled;
 * when the key is rejected what is under way may finish, and nothing new starts.
 */
export class Stop {
  readonly #starting = new AbortController();
  readonly #working = new AbortController();

  constructor() {
    // Every worker listens, which is no leak that Node has to warn of.
    setMaxListeners(0, this.#starting.signal, this.#working.signal);
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
}

/** When a run must stop, so that its record can still be written. */
export interface Deadline {
  /** Milliseconds until the run must stop; never negative. */
  timeLeftMs(): number;
  /** To be called when the run is over. */
  clear(): void;
}

/**
 * Cancels a run shortly before its function's time limit.
 * @param remainingMs of the invocation, as its context tells
 * @param reserveMs what must be left then
 */
export function startDeadline(stop: Stop, remainingMs: () => number, reserveMs: number): Deadline {
  const timeLeftMs = () => Math.max(0, remainingMs() - reserveMs);
  const cancel = () =>
    stop.cancel(new RunStopped("the function's time limit is near; the next attempt completes the run"));
  const timer = setTimeout(cancel, timeLeftMs());
  if (timeLeftMs() === 0) cancel();
  return { timeLeftMs, clear: () => clearTimeout(timer) };
}
