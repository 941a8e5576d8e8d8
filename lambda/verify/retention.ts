import type { UsedRetention } from './seen-run';
import { clockSlackMs, dayMs } from './time-limits';

/**
 * What the lifecycle may have removed by now. A bucket has one lifecycle, that of the configuration deployed last. It
 * removes what is too old, whatever the configuration was when it was written.
 */
export class Retention {
  readonly #runs: Date[] = [];
  readonly #lastUsed = new Map<string, UsedRetention>();
  #ends: { readonly days: number; readonly until: Date | undefined }[] | undefined;

  /** Takes note of a run, in the order of the runs' times. */
  addRun(run: Date): void {
    this.#runs.push(run);
    this.#ends = undefined;
  }

  addUse(used: UsedRetention): void {
    const before = this.#lastUsed.get(used.sha256);
    if (before === undefined || before.usedAt < used.usedAt) this.#lastUsed.set(used.sha256, used);
    this.#ends = undefined;
  }

  /** Whether anything shows that the configuration was in force. */
  has(sha256: string): boolean {
    return this.#lastUsed.has(sha256);
  }

  /** Whether the lifecycle may have removed by now what was written at a time. */
  mayHaveRemoved(writtenAt: Date, now: Date): boolean {
    this.#ends ??= this.#findEnds();
    return this.#ends.some(
      ({ days, until = now }) => writtenAt.getTime() + days * dayMs - clockSlackMs <= until.getTime(),
    );
  }

  /** A configuration was in force until the first run after its last use, and if there is none, until now. */
  #findEnds() {
    return [...this.#lastUsed.values()].flatMap(({ days, usedAt }) => {
      const until = this.#runs.find((run) => run.getTime() > usedAt.getTime() + clockSlackMs);
      return days === undefined ? [] : { days, until };
    });
  }
}
