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
