import { clockSlackMs, dayMs } from '../format/clocks';
import type { Gone } from '../format/finding';
import { configurationsPrefix, parseConfigurationKey } from '../format/keys';
import type { ArchiveReader } from '../read/archive-reader';
import { mapConcurrently } from '../read/map-concurrently';
import { readStarts } from '../read/record-lines';
import { type ListedRun, runsBetween } from '../read/run-keys';
import type { StoredConfigurations } from '../read/stored-configurations';
import type { RightSeal, SealChain } from './seals/seal-chain';
import { believedSeals, type OwnSeal, type SealedArchiveOptions } from './seals/sealed-archive';

export interface ExpiryOptions extends SealedArchiveOptions {
  readonly reader: ArchiveReader;
  readonly configurations: StoredConfigurations;
  readonly chain: SealChain;
  /** What the lifecycle may have removed up to this time counts as expired. */
  readonly now: Date;
  /** Aborts when there is no more time: a run that was not read then ends no configuration. Left out: there is time. */
  readonly stop?: AbortSignal;
}

/** Run records whose first lines are read at once. */
const concurrency = 16;

/**
 * Judges what the lifecycle may have removed: by the retentions that audits were deployed with, and where no seal can tell by
 * the configurations that the archive has. A bucket has one lifecycle, that of the configuration deployed last. It removes
 * what is too old, whatever the configuration was when it was written.
 */
export class Expiry {
  readonly #options: ExpiryOptions;
  /** By the plans of the chain; and by those of them that are believed. */
  readonly #removed: Removed;
  readonly #excused: Removed;
  /** By the stored configurations; undefined: nobody has asked yet. */
  #untilMs: Promise<number> | undefined;

  constructor(options: ExpiryOptions) {
    const { chain, mails, own, now } = options;
    this.#options = options;
    this.#removed = removedBy([...chain.seals, ...(own ? [own] : [])], now);
    this.#excused = removedBy([...believedSeals(chain, mails), ...(own ? [own] : [])], now);
  }

  /** Whether the lifecycle may have removed it by now. @throws ArchiveReadError if the archive cannot be read */
  async mayHaveRemoved({ writtenAt, key = '', mayPredateSeals }: Gone): Promise<boolean> {
    const { chain, isPart } = this.#options;
    const time = writtenAt.getTime();
    if (time <= this.#removed.untilMs) return time <= this.#excused.untilMs;
    // What a seal has was there when it was sealed, however old it is.
    if (chain.records.has(key) || chain.objects.has(key)) return false;
    const [first] = chain.seals;
    if (first !== undefined && mayPredateSeals !== undefined) return mayPredateSeals && time <= removedBefore(first);
    // Whoever hands over a part can put any configuration into it.
    if (isPart || (first !== undefined && writtenAt >= new Date(first.listedFrom))) return false;
    this.#untilMs ??= this.#findEnd();
    return time <= (await this.#untilMs);
  }

  /** Why something is missing that only seals without a mail excuse: words to put behind the problem, or none. */
  unexcused(writtenAt: Date): string {
    const { untilMs, seal } = this.#removed;
    if (writtenAt.getTime() > untilMs) return '';
    return `; excused only by seal ${seal}, which no mail that you gave is of: give the hash of its mail, or of a later one`;
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

/** What the lifecycle may have removed: all that was written up to a time, by the retention that a seal claims. */
interface Removed {
  readonly untilMs: number;
  readonly seal: number;
}

/** A retention was in force until the next seal of these, and the last one is. */
function removedBy(seals: readonly OwnSeal[], now: Date): Removed {
  return seals.reduce<Removed>(
    (most, { number, plan: { retentionDays } }, at) => {
      const untilMs = removedUntil(new Date(seals[at + 1]?.listedFrom ?? now), retentionDays);
      return untilMs > most.untilMs ? { untilMs, seal: number } : most;
    },
    { untilMs: Number.NEGATIVE_INFINITY, seal: 0 },
  );
}

/** What the lifecycle may have removed before the first seal, by the configurations that this seal has. */
function removedBefore({ listedFrom, configurations }: RightSeal): number {
  const ends = configurations.map(({ retentionDays }) => removedUntil(new Date(listedFrom), retentionDays));
  return ends.reduce((most, end) => Math.max(most, end), Number.NEGATIVE_INFINITY);
}

/** What was written up to this time, in milliseconds, a lifecycle may have removed that was in force until `end`. */
function removedUntil(end: Date, days = Number.POSITIVE_INFINITY): number {
  return end.getTime() - days * dayMs + clockSlackMs;
}
