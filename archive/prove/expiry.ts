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

/** What a rule says of something that is gone; undefined: it cannot tell. */
type Answer = 'expired' | 'not expired' | undefined;

/**
 * Judges what the lifecycle may have removed: by four rules, of which the first counts that can tell. A bucket has one lifecycle,
 * that of the configuration deployed last. It removes what is too old, whatever the configuration was when it was written.
 */
export class Expiry {
  readonly #options: ExpiryOptions;
  /** What the retentions of all seals allow, and of those that are believed. */
  readonly #bySeals: Allowed;
  readonly #byBelieved: Allowed;
  /** What the stored configurations allow; undefined: nobody has asked yet. */
  #byConfigurations: Promise<number> | undefined;

  constructor(options: ExpiryOptions) {
    const { chain, mails, own, now } = options;
    this.#options = options;
    this.#bySeals = allowedBy([...chain.seals, ...(own ? [own] : [])], now);
    this.#byBelieved = allowedBy([...believedSeals(chain, mails), ...(own ? [own] : [])], now);
  }

  /** Whether the lifecycle may have removed it by now. @throws ArchiveReadError if the archive cannot be read */
  async mayHaveRemoved(gone: Gone): Promise<boolean> {
    const answer =
      this.#bySealedPlans(gone) ??
      this.#bySealedHash(gone) ??
      this.#byFirstSeal(gone) ??
      (await this.#byStoredConfigurations(gone));
    return answer === 'expired';
  }

  /** The plans that audits were deployed with, which they sealed. */
  #bySealedPlans({ writtenAt }: Gone): Answer {
    if (writtenAt.getTime() > this.#bySeals.untilMs) return undefined;
    return answer(writtenAt, this.#byBelieved.untilMs);
  }

  /** What a seal has was there when it was sealed, however old it is. */
  #bySealedHash({ key = '' }: Gone): Answer {
    const { records, objects } = this.#options.chain;
    return records.has(key) || objects.has(key) ? 'not expired' : undefined;
  }

  /** What may be older than all seals, by the configurations that the first of them has; what is younger has no other excuse. */
  #byFirstSeal({ writtenAt, mayPredateSeals }: Gone): Answer {
    const { chain, isPart } = this.#options;
    const [first] = chain.seals;
    if (first !== undefined && mayPredateSeals !== undefined)
      return mayPredateSeals ? answer(writtenAt, allowedBefore(first)) : 'not expired';
    // Whoever hands over a part can put any configuration into it.
    if (isPart) return 'not expired';
    return first !== undefined && writtenAt >= new Date(first.listedFrom) ? 'not expired' : undefined;
  }

  /** The configurations that the archive has: whoever may write them can excuse anything that no seal speaks of. */
  async #byStoredConfigurations({ writtenAt }: Gone): Promise<Answer> {
    this.#byConfigurations ??= this.#findEnd();
    return answer(writtenAt, await this.#byConfigurations);
  }

  /** Why something is missing that only seals without a mail excuse: words to put behind the problem, or none. */
  unexcused(writtenAt: Date): string {
    const { untilMs, seal } = this.#bySeals;
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
      untilMs = Math.max(untilMs, allowedUntil(next ?? now, days));
    }
    return untilMs;
  }
}

function answer(writtenAt: Date, untilMs: number): Answer {
  return writtenAt.getTime() <= untilMs ? 'expired' : 'not expired';
}

/** The lifecycle may have removed what was written up to a time, by the retention that a seal claims. */
interface Allowed {
  readonly untilMs: number;
  readonly seal: number;
}

/** A retention was in force until the next seal of these, and the last one is. */
function allowedBy(seals: readonly OwnSeal[], now: Date): Allowed {
  return seals.reduce<Allowed>(
    (most, { number, plan: { retentionDays } }, at) => {
      const untilMs = allowedUntil(new Date(seals[at + 1]?.listedFrom ?? now), retentionDays);
      return untilMs > most.untilMs ? { untilMs, seal: number } : most;
    },
    { untilMs: Number.NEGATIVE_INFINITY, seal: 0 },
  );
}

/** Up to when, before the first seal, by the configurations that this seal has; in milliseconds. */
function allowedBefore({ listedFrom, configurations }: RightSeal): number {
  const ends = configurations.map(({ retentionDays }) => allowedUntil(new Date(listedFrom), retentionDays));
  return ends.reduce((most, end) => Math.max(most, end), Number.NEGATIVE_INFINITY);
}

/** Up to when, by a lifecycle that was in force until `end`; in milliseconds. */
function allowedUntil(end: Date, days = Number.POSITIVE_INFINITY): number {
  return end.getTime() - days * dayMs + clockSlackMs;
}
