import { clockSlackMs, dayMs } from './time-limits';

/**
 * What the lifecycle may have removed by now. A bucket has one lifecycle, that of the configuration deployed last, and it
 * removes what is too old, whatever the configuration was when it was written.
 */
export class Retention {
  /** Retentions of the last run, in days. */
  #inForce: readonly number[] = [];
  /** Until when other retentions were in force, by days. */
  readonly #inForceUntil = new Map<number, Date>();

  /**
   * Takes note of the configurations that the records of a run name. Runs come in the order of their times.
   * @param days after how many days each removes objects; empty: none of them does
   */
  add(run: Date, days: readonly number[]): void {
    for (const before of this.#inForce) if (!days.includes(before)) this.#inForceUntil.set(before, run);
    for (const again of days) this.#inForceUntil.delete(again);
    this.#inForce = [...new Set(days)];
  }

  /** Whether the lifecycle may have removed by now what was written at a time. */
  mayHaveRemoved(writtenAt: Date, now: Date): boolean {
    const ended = [...this.#inForceUntil];
    return [...ended, ...this.#inForce.map((days) => [days, now] as const)].some(
      ([days, until]) => writtenAt.getTime() + days * dayMs - clockSlackMs <= until.getTime(),
    );
  }
}
