import { parseObjectKey, parseRunRecordKey } from '../../archive/archive-layout';
import type { Find } from '../finding';
import type { StoredRun } from '../read-run';
import { Retention } from '../retention';
import { isWithin, type ListedRun, type Period } from '../run-keys';
import { clockSlackMs, dayMs } from '../time-limits';
import type { OpenFinding } from './seal';
import type { RightSeal, SealChain } from './seal-chain';

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
  /** By the plans of the chain; and by those up to the newest seal that a kept mail names. */
  readonly #retention = new Retention();
  readonly #pinned = new Retention();
  readonly #head: number;
  /** Run records that no seal had when they should have been in one, as an audit found. */
  readonly #unsealed: ReadonlyMap<string, OpenFinding>;
  /** Run records that audits could not read: so no seal has them. */
  readonly #unread: ReadonlySet<string>;
  /** When each seal was made, by its number. */
  readonly #times: ReadonlyMap<number, string>;

  /** @param head number of the newest seal that a kept mail names; left out: nothing is judged by less than the chain */
  constructor(chain: SealChain, find: Find, head = Number.POSITIVE_INFINITY) {
    this.#chain = chain;
    this.#find = find;
    this.#head = head;
    const opened = (...kinds: readonly string[]) => chain.open.filter(({ kind }) => kinds.includes(kind));
    this.#unsealed = new Map(opened('unsealed').map((one) => [one.key, one]));
    this.#unread = new Set(opened('unreadable', 'damaged').map(({ key }) => key));
    this.#times = new Map([...chain.seals, ...chain.beside].map(({ number, seal }) => [number, seal]));
    for (const { number, plan, listedFrom } of chain.seals) {
      const used = new Date(listedFrom);
      addRetention(this.#retention, plan.retentionDays, used);
      if (number <= head) addRetention(this.#pinned, plan.retentionDays, used);
    }
  }

  /**
   * Compares the records of a run with their hashes, and says which should be in a seal and are not.
   * @returns the keys of those that are not what the seals say
   */
  checkRun({ records }: ListedRun, { files }: Pick<StoredRun, 'files'>): Set<string> {
    const unattested = new Set<string>();
    for (const { key, writtenAt } of records) {
      const sealed = this.#chain.records.get(key);
      const file = files.get(key);
      if (sealed === undefined) {
        if (!this.#shouldBeSealed(key, writtenAt, file?.finishedAt)) continue;
        this.#find('unsealed', key, 'it was there when the newest seal was made, and no seal has it');
        unattested.add(key);
        continue;
      }
      sealed.isThere = true;
      if (this.checkRecordFile(key, file?.sha256)) unattested.add(key);
      // The audit that found it sealed it. Only a seal from before takes that back.
      const unsealed = this.#unsealed.get(key);
      if (unsealed === undefined || (this.#times.get(sealed.seal) ?? '') < unsealed.since) continue;
      this.#find('unsealed', key, unsealed.problem);
      unattested.add(key);
    }
    return unattested;
  }

  /**
   * @param sha256 of the file of a run record; undefined: it could not be read, which is said already
   * @returns whether it is forged
   */
  checkRecordFile(key: string, sha256: string | undefined): boolean {
    const sealed = this.#chain.records.get(key);
    if (sealed === undefined || sha256 === undefined || sha256 === sealed.sha256) return false;
    this.#find('forged', key, `its SHA-256 is not the one in seal ${sealed.seal}: it was replaced after that`);
    return true;
  }

  /**
   * @param sha256 of its content; undefined: it could not be read, which is said already
   * @returns whether a seal itself has this content
   */
  checkObject(key: string, sha256: string | undefined): boolean {
    const sealed = this.#chain.objects.get(key);
    if (sealed === undefined) return false;
    sealed.isThere = true;
    if (sha256 === undefined || sha256 === sealed.sha256) return sha256 !== undefined;
    this.#find('forged', key, `its content is not what seal ${sealed.seal} says: it was replaced after that`);
    return false;
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
    if (this.#retention.mayHaveRemoved(writtenAt, now)) return this.#pinned.mayHaveRemoved(writtenAt, now);
    if (this.#chain.records.has(key) || this.#chain.objects.has(key)) return false;
    const [first] = this.#chain.seals;
    return first === undefined || writtenAt < new Date(first.listedFrom) ? undefined : false;
  }

  /** Why something is missing that a later retention excuses: words to put behind the problem, or none. */
  unpinned(writtenAt: Date, now: Date): string {
    if (!this.#retention.mayHaveRemoved(writtenAt, now)) return '';
    const excuses = ({ number, plan: { retentionDays = Number.POSITIVE_INFINITY } }: RightSeal) =>
      number > this.#head && writtenAt.getTime() + retentionDays * dayMs - clockSlackMs <= now.getTime();
    const seal = this.#chain.seals.find(excuses);
    return seal === undefined
      ? ''
      : `; excused only by seal ${seal.number}, which this mail does not pin: give a later mail's hash`;
  }

  /** Takes note of the retention that the audit itself was deployed with. */
  addRetention(days: number | undefined, usedAt: Date): void {
    addRetention(this.#retention, days, usedAt);
    addRetention(this.#pinned, days, usedAt);
  }

  #shouldBeSealed(key: string, writtenAt: Date, finishedAt = writtenAt): boolean {
    const { head } = this.#chain;
    if (head === undefined) return false;
    if (this.#unread.has(key)) return false;
    const { records } = head.cursor;
    // What that audit had no time for, the next one seals.
    if (records !== null && key > records) return false;
    // In a copy of the archive everything is as young as the copy; the record's own clock may be wrong.
    const written = Math.min(writtenAt.getTime(), finishedAt.getTime() + clockSlackMs);
    return written < Date.parse(head.listedFrom) - sealedWithinMs;
  }

  /** Nobody knows when something was written that is gone: at its run at the earliest, and after the listing before its seal. */
  #earliest(run: Date, seal: number): Date {
    const { seals } = this.#chain;
    const before = seals[seals.findIndex(({ number }) => number === seal) - 1];
    if (before === undefined || before.cursor.records !== null) return run;
    const listed = Date.parse(before.listedFrom) - clockSlackMs;
    return listed > run.getTime() ? new Date(listed) : run;
  }
}

function addRetention(retention: Retention, days: number | undefined, usedAt: Date): void {
  retention.addRun(usedAt);
  retention.addUse({ sha256: String(days), days, usedAt });
}
