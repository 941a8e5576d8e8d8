import { parseObjectKey, parseRunRecordKey } from '../../archive/archive-layout';
import type { Find } from '../finding';
import type { StoredRun } from '../read-run';
import { Retention } from '../retention';
import type { ListedRun, Period } from '../run-keys';
import { clockSlackMs } from '../time-limits';
import type { SealChain } from './seal-chain';

/** How long before the newest listing a run record must have been there to be in a seal. */
const sealedWithinMs = 15 * 60_000;

/** A sealed run record or object that is not there. */
export interface GoneObject {
  readonly key: string;
  readonly problem: string;
  /** The earliest time at which it can have been written. */
  readonly writtenAt: Date;
}

/** Compares what an archive has with what its seals say. */
export class SealedArchive {
  readonly #chain: SealChain;
  readonly #find: Find;
  readonly #retention = new Retention();
  /** Records that were said to be forged: an audit may read them twice. */
  readonly #forged = new Set<string>();

  constructor(chain: SealChain, find: Find) {
    this.#chain = chain;
    this.#find = find;
    // Whoever may write under seals/ could excuse what he removed.
    for (const { plan, listedFrom, signature } of chain.seals)
      if (signature === 'right') this.addRetention(plan.retentionDays, new Date(listedFrom));
  }

  /** Compares the records of a run with their hashes, and says which should be in a seal and are not. */
  checkRun({ records }: ListedRun, { files }: Pick<StoredRun, 'files'>): void {
    for (const { key, writtenAt } of records) {
      const sealed = this.#chain.records.get(key);
      const file = files.get(key);
      if (sealed === undefined) {
        if (this.#shouldBeSealed(key, writtenAt, file?.finishedAt))
          this.#find('unsealed', key, 'it was there when the newest seal was made, and no seal has it');
        continue;
      }
      sealed.isThere = true;
      this.checkRecordFile(key, file?.sha256);
    }
  }

  /** @param sha256 of the file of a run record; undefined: it could not be read, which is said already */
  checkRecordFile(key: string, sha256: string | undefined): void {
    const sealed = this.#chain.records.get(key);
    if (sealed === undefined || sha256 === undefined || sha256 === sealed.sha256 || this.#forged.has(key)) return;
    this.#forged.add(key);
    this.#find('forged', key, `its SHA-256 is not the one in seal ${sealed.seal}: it was replaced after that`);
  }

  /** @param sha256 of its content; undefined: it could not be read, which is said already */
  checkObject(key: string, sha256: string | undefined): void {
    const sealed = this.#chain.objects.get(key);
    if (sealed === undefined) return;
    sealed.isThere = true;
    if (sha256 !== undefined && sha256 !== sealed.sha256)
      this.#find('forged', key, `its content is not what seal ${sealed.seal} says: it was replaced after that`);
  }

  /** What is sealed in a period of runs, was not compared, and so is not there. */
  *gone(period: Period): Generator<GoneObject> {
    const all = [
      [this.#chain.records, (key: string) => parseRunRecordKey(key)?.run],
      [this.#chain.objects, (key: string) => parseObjectKey(key)?.run],
    ] as const;
    for (const [sealed, runOf] of all)
      for (const [key, { seal, isThere }] of sealed) {
        const run = runOf(key);
        if (isThere || run === undefined || !isWithin(run, period)) continue;
        yield { key, problem: `seal ${seal} has it, and it is not there`, writtenAt: this.#earliest(run, seal) };
      }
  }

  /** Firings without a run, as the seals say: by the audit's own schedule, not by one that the collector stored. */
  *absent(period: Period): Generator<Date> {
    for (const { due } of this.#chain.seals)
      for (const time of due.absent) if (isWithin(new Date(time), period)) yield new Date(time);
  }

  /**
   * Whether the lifecycle may have removed by now what was written at a time, by the retentions that the audit was deployed
   * with. Undefined: it may have done so before the first seal, which attests nothing earlier.
   * @param key of what is gone; what a seal has was there when it was sealed, however old it is
   */
  mayHaveRemoved(writtenAt: Date, now: Date, key = ''): boolean | undefined {
    if (this.#retention.mayHaveRemoved(writtenAt, now)) return true;
    if (this.#chain.records.has(key) || this.#chain.objects.has(key)) return false;
    const [first] = this.#chain.seals;
    return first === undefined || writtenAt < new Date(first.listedFrom) ? undefined : false;
  }

  /** Takes note of a retention that is in force. */
  addRetention(days: number | undefined, usedAt: Date): void {
    this.#retention.addRun(usedAt);
    this.#retention.addUse({ sha256: String(days), days, usedAt });
  }

  #shouldBeSealed(key: string, writtenAt: Date, finishedAt = writtenAt): boolean {
    const { newest } = this.#chain;
    if (newest === undefined) return false;
    const { records } = newest.cursor;
    // What that audit had no time for, the next one seals.
    if (records !== null && key > records) return false;
    // In a copy of the archive everything is as young as the copy; the record's own clock may be wrong.
    const written = Math.min(writtenAt.getTime(), finishedAt.getTime() + clockSlackMs);
    return written < Date.parse(newest.listedFrom) - sealedWithinMs;
  }

  /** Nobody knows when something was written that is gone: at its run at the earliest, and after the listing before its seal. */
  #earliest(run: Date, seal: number): Date {
    const before = this.#chain.seals.find(({ number }) => number === seal - 1);
    if (before === undefined || before.cursor.records !== null) return run;
    const listed = Date.parse(before.listedFrom) - clockSlackMs;
    return listed > run.getTime() ? new Date(listed) : run;
  }
}

function isWithin(run: Date, { from, to }: Period): boolean {
  return (from === undefined || run >= from) && (to === undefined || run <= to);
}
