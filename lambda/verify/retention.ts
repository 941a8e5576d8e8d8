import { clockSlackMs, dayMs } from './time-limits';

/** One configuration as a run names it. */
export interface NamedRetention {
  /** SHA-256 of the configuration. */
  readonly sha256: string;
  /** Days after which the lifecycle removes objects; undefined: never, or the configuration cannot be read. */
  readonly days: number | undefined;
}

/**
 * What the lifecycle may have removed by now. A bucket has one lifecycle, that of the configuration deployed last. It
 * removes what is too old, whatever the configuration was when it was written.
 */
export class Retention {
  readonly #runs: Date[] = [];
  /** Configurations of the last run. */
  #current: readonly NamedRetention[] = [];
  /** Until when other configurations were in force; undefined: until now. */
  readonly #until = new Map<string, { readonly days: number | undefined; readonly until: Date | undefined }>();

  /** Takes note of the configurations that the records of a run name. Runs come in the order of their times. */
  add(run: Date, named: readonly NamedRetention[]): void {
    for (const { sha256, days } of this.#current) this.#until.set(sha256, { days, until: run });
    for (const { sha256, days } of named) this.#until.set(sha256, { days, until: undefined });
    this.#current = named;
    this.#runs.push(run);
  }

  /** Whether a run names the configuration. */
  has(sha256: string): boolean {
    return this.#until.has(sha256);
  }

  /**
   * Takes note of a configuration that no run names, because the lifecycle has removed all records that did. It was in
   * force until the next run that is there.
   */
  addUnnamed({ sha256, days }: NamedRetention, storedAt: Date): void {
    this.#until.set(sha256, { days, until: this.#runs.find((run) => run > storedAt) });
  }

  /** Whether the lifecycle may have removed by now what was written at a time. */
  mayHaveRemoved(writtenAt: Date, now: Date): boolean {
    return [...this.#until.values()].some(
      ({ days, until = now }) =>
        days !== undefined && writtenAt.getTime() + days * dayMs - clockSlackMs <= until.getTime(),
    );
  }
}
