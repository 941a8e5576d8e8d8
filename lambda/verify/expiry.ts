import { configurationsPrefix, parseConfigurationKey } from '../archive/archive-layout';
import { clockSlackMs, dayMs } from '../time-limits';
import type { ArchiveReader } from './archive-reader';
import type { SeenRun, UsedConfiguration } from './seen-run';
import type { StoredConfigurations } from './stored-configurations';

/** A configuration as a run shows that it was in force, or as it was stored. */
type UsedRetention = Pick<UsedConfiguration, 'sha256' | 'days' | 'usedAt'>;

export interface ExpiryOptions {
  readonly reader: ArchiveReader;
  readonly configurations: StoredConfigurations;
  /** Undefined: what seals say does not tell. */
  readonly sealed: { mayHaveRemoved(writtenAt: Date, key?: string): boolean | undefined };
  /** Whether it is a part: whoever hands it over can put any configuration into it, and only seals tell. Left out: it is whole. */
  readonly isPart?: boolean;
  readonly now: Date;
  /** The runs after those that are added; read once, and only if it matters. Left out: there are none. */
  readonly later?: () => AsyncIterable<SeenRun>;
}

/**
 * Judges what the lifecycle may have removed: by the seals, and where they do not tell by the configurations that the archive
 * has. A bucket has one lifecycle, that of the configuration deployed last. It removes what is too old, whatever the
 * configuration was when it was written.
 */
export class Expiry {
  readonly #options: ExpiryOptions;
  readonly #runs: Date[] = [];
  readonly #lastUsed = new Map<string, UsedRetention>();
  /** What was written up to this time may have been removed, in milliseconds; undefined: not everything is known yet. */
  #untilMs: number | undefined;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  /** Takes note of a run. Runs come in the order of their times. */
  add({ run, used }: SeenRun): void {
    this.#runs.push(run);
    for (const one of used) this.#addUse(one);
  }

  /**
   * Whether the lifecycle may have removed by now what was written at a time.
   * @param key of what is gone
   * @throws ArchiveReadError if the archive cannot be read
   */
  async mayHaveRemoved(writtenAt: Date, key?: string): Promise<boolean> {
    const { sealed, isPart = false } = this.#options;
    const said = sealed.mayHaveRemoved(writtenAt, key);
    if (said !== undefined || isPart) return said ?? false;
    this.#untilMs ??= await this.#findEnd();
    return writtenAt.getTime() <= this.#untilMs;
  }

  /** A configuration was in force until the first run after its last use, and if there is none, until now. */
  async #findEnd(): Promise<number> {
    const { now, later } = this.#options;
    for await (const run of later?.() ?? []) this.add(run);
    await this.#addUnnamed();
    let untilMs = Number.NEGATIVE_INFINITY;
    for (const { days, usedAt } of this.#lastUsed.values()) {
      const next = this.#runs.find((run) => run.getTime() > usedAt.getTime() + clockSlackMs);
      untilMs = Math.max(untilMs, removedUntil(next ?? now, days));
    }
    return untilMs;
  }

  #addUse(used: UsedRetention): void {
    const before = this.#lastUsed.get(used.sha256);
    if (before === undefined || before.usedAt < used.usedAt) this.#lastUsed.set(used.sha256, used);
  }

  /** Configurations that no run names any more, because the lifecycle has removed all records that did. */
  async #addUnnamed(): Promise<void> {
    const { reader, configurations } = this.#options;
    for await (const { key, writtenAt } of reader.list(configurationsPrefix)) {
      const sha256 = parseConfigurationKey(key);
      if (sha256 === undefined || this.#lastUsed.has(sha256)) continue;
      const days = (await configurations.get(sha256))?.retentionDays;
      this.#addUse({ sha256, days, usedAt: writtenAt });
    }
  }
}

/** What was written up to this time, in milliseconds, a lifecycle may have removed that was in force until `end`. */
export function removedUntil(end: Date, days = Number.POSITIVE_INFINITY): number {
  return end.getTime() - days * dayMs + clockSlackMs;
}
