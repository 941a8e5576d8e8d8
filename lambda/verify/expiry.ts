import { configurationsPrefix, parseConfigurationKey } from '../archive/archive-layout';
import { clockSlackMs, dayMs } from '../time-limits';
import type { ArchiveReader } from './archive-reader';
import type { Gone } from './finding';
import { mapConcurrently } from './map-concurrently';
import { readStarts } from './record-lines';
import { type ListedRun, runsBetween } from './run-keys';
import type { StoredConfigurations } from './stored-configurations';

export interface ExpiryOptions {
  readonly reader: ArchiveReader;
  readonly configurations: StoredConfigurations;
  /** Undefined: what seals say does not tell. */
  readonly sealed: { mayHaveRemoved(gone: Gone): boolean | undefined };
  /** Whether it is a part: whoever hands it over can put any configuration into it, and only seals tell. Left out: it is whole. */
  readonly isPart?: boolean;
  readonly now: Date;
  /** Aborts when there is no more time: a run that was not read then ends no configuration. Left out: there is time. */
  readonly stop?: AbortSignal;
}

/** Run records whose first lines are read at once. */
const concurrency = 16;

/**
 * Judges what the lifecycle may have removed: by the seals, and where they do not tell by the configurations that the archive
 * has. A bucket has one lifecycle, that of the configuration deployed last. It removes what is too old, whatever the
 * configuration was when it was written.
 */
export class Expiry {
  readonly #options: ExpiryOptions;
  /** What was written up to this time may have been removed, in milliseconds; undefined: nobody has asked yet. */
  #untilMs: Promise<number> | undefined;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  /** Whether the lifecycle may have removed it by now. @throws ArchiveReadError if the archive cannot be read */
  async mayHaveRemoved(gone: Gone): Promise<boolean> {
    const { sealed, isPart = false } = this.#options;
    const said = sealed.mayHaveRemoved(gone);
    if (said !== undefined || isPart) return said ?? false;
    this.#untilMs ??= this.#findEnd();
    return gone.writtenAt.getTime() <= (await this.#untilMs);
  }

  /** A configuration was in force until the first run after its last use, and if there is none, until now. */
  async #findEnd(): Promise<number> {
    const { reader, configurations, now, stop } = this.#options;
    const runs: Date[] = [];
    const lastUsed = new Map<string, Date>();
    const read = (listed: ListedRun) => readStarts(reader, listed);
    for await (const { run, starts } of mapConcurrently(runsBetween(reader, {}), concurrency, read)) {
      if (stop?.aborted) break;
      runs.push(run);
      for (const { configuration, startedAt } of starts) {
        const [before, usedAt] = [lastUsed.get(configuration), new Date(startedAt)];
        if (before === undefined || before < usedAt) lastUsed.set(configuration, usedAt);
      }
    }
    // Configurations that no run names any more, because the lifecycle has removed all records that did.
    for await (const { key, writtenAt } of reader.list(configurationsPrefix)) {
      const sha256 = parseConfigurationKey(key);
      if (sha256 !== undefined && !lastUsed.has(sha256)) lastUsed.set(sha256, writtenAt);
    }
    let untilMs = Number.NEGATIVE_INFINITY;
    for (const [sha256, usedAt] of lastUsed) {
      const days = (await configurations.get(sha256))?.retentionDays;
      const next = runs.find((run) => run.getTime() > usedAt.getTime() + clockSlackMs);
      untilMs = Math.max(untilMs, removedUntil(next ?? now, days));
    }
    return untilMs;
  }
}

/** What was written up to this time, in milliseconds, a lifecycle may have removed that was in force until `end`. */
export function removedUntil(end: Date, days = Number.POSITIVE_INFINITY): number {
  return end.getTime() - days * dayMs + clockSlackMs;
}
