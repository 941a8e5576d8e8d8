import type { Clock } from '../../clock';

/** Waits for a time or a notification, whichever comes first. One waits at a time. */
export class Wakeup {
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  #wake: () => void = () => undefined;
  #isNotified = false;
  /** The earliest time that a timer is set for. */
  #setForMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the wait under way, or else the next one. */
  notify(): void {
    this.#isNotified = true;
    this.#wake();
  }

  /**
   * May resolve early: a timer that an earlier wait has set stays set, which costs less than a timer for each wait.
   * @param untilMs on the clock's monotonic time; Infinity: until notified
   */
  async wait(untilMs: number): Promise<void> {
    if (!this.#isNotified) {
      if (untilMs < this.#setForMs) this.#set(untilMs);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isNotified = false;
  }

  /** Ends its timers. */
  close(): void {
    this.#closed.abort();
  }

  #set(untilMs: number): void {
    this.#setForMs = untilMs;
    const isOver = () => {
      if (this.#setForMs === untilMs) this.#setForMs = Number.POSITIVE_INFINITY;
      this.notify();
    };
    const delayMs = Math.max(0, untilMs - this.#clock.monotonicMs());
    // A sleep ends early only because it is closed, when nobody waits.
    this.#clock.sleep(delayMs, this.#closed.signal).then(isOver, isOver);
  }
}
