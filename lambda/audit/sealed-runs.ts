import { parseRunRecordKey } from '../archive/archive-layout';
import { ArchiveReadError, type ListedObject } from '../verify/archive-reader';
import { allClusters } from '../verify/clusters';
import { type Excusable, notAKey } from '../verify/finding';
import { judgeRun, type Met, nothingMet } from '../verify/judge';
import { readRunRecord, readStoredRun } from '../verify/read-run';
import { isWithin, type ListedRun, type Period, runsBetween } from '../verify/run-keys';
import type { Hashed, Seal } from '../verify/seals/seal';
import type { VerifiedRun } from '../verify/verify-run';
import { type AuditWalk, inTime, judging } from './audit-walk';
import { jsonBytes } from './findings';
import type { Tally } from './tally';

/** Sealed records that are tried where no new one can be read: one may be gone, or be unreadable too. */
const mostTried = 3;

/** What all run records of an archive are, and what those say that no seal has. */
export class SealedRuns {
  readonly records: Hashed[] = [];
  readonly objects: Hashed[] = [];
  readonly configurations: Seal['configurations'] = [];
  readonly lacking: Excusable[] = [];
  /** What the records of the runs that were read name. */
  readonly met: Met;
  /** Times of all runs that have a record. */
  readonly runs = new Set<number>();
  /** New run records that there was no time for, or no room in the seal. */
  carriedOver = 0;
  /** Those that could not be read. */
  readonly unread: string[] = [];
  /** Length of `records` and `objects` in the seal. */
  bytes = 0;
  /** The last key that was looked at; null: all. */
  lastKey: string | null = null;
  /** How many objects the new records say that they archived. */
  toVerify = 0;
  /** When the oldest record was written, by the archive's clock; undefined: there is none. */
  oldestWrittenAt: Date | undefined;
  readonly #walk: AuditWalk;
  readonly #search: Period;
  readonly #tally: Tally;
  readonly #mostBytes: number;
  #key = '';
  #hasNew = false;
  #isFull = false;
  #hasRead = false;
  #unread: string | undefined;

  private constructor(walk: AuditWalk, search: Period, tally: Tally, mostBytes: number) {
    this.#walk = walk;
    this.#search = search;
    this.#tally = tally;
    this.#mostBytes = mostBytes;
    this.met = nothingMet(tally.sharedName);
  }

  /**
   * Lists all run records, and reads and hashes those that no seal has.
   * @param search its runs are read although they are sealed: objects are searched for there
   * @param mostBytes how long `records` and `objects` may be in the seal: what is behind is carried over
   * @throws ArchiveReadError if nothing of what was to be read could be read
   */
  static async read(walk: AuditWalk, search: Period, tally: Tally, mostBytes: number): Promise<SealedRuns> {
    const runs = new SealedRuns(walk, search, tally, mostBytes);
    let before: ListedRun | undefined;
    const onOther = ({ key }: ListedObject) => walk.find('unrecorded', key, notAKey);
    for await (const listed of runsBetween(walk.reader, {}, onOther)) {
      await runs.#take(listed, before);
      before = listed;
    }
    if (runs.#unread !== undefined && !runs.#hasRead && !(await runs.#canReadSealed()))
      throw new ArchiveReadError(runs.#unread);
    return runs;
  }

  async #take(listed: ListedRun, before: ListedRun | undefined): Promise<void> {
    const { chain } = this.#walk;
    this.runs.add(listed.run.getTime());
    const news = new Set<string>();
    let isRewritten = false;
    // Where the newest states are lost, what was new to their audits is new again.
    let isSinceState = false;
    for (const { key, writtenAt } of listed.records) {
      const sealed = chain.records.get(key);
      if (sealed === undefined) news.add(key);
      else sealed.isThere = true;
      // S3 wrote a sealed record anew after it was listed for its seal.
      isSinceState ||= sealed !== undefined && sealed.by.number > (chain.stateOf?.number ?? 0);
      isRewritten ||= sealed !== undefined && writtenAt > new Date(sealed.by.listedFrom);
      if (this.oldestWrittenAt === undefined || writtenAt < this.oldestWrittenAt) this.oldestWrittenAt = writtenAt;
    }
    if (news.size === 0 && !isRewritten && !isSinceState && !isWithin(listed.run, this.#search)) return;
    const isRead = await inTime(this.#walk, async () => {
      const isNew = news.size > 0 || isSinceState;
      if (isNew && !this.#hasNew && before !== undefined) await this.#tellOfKnown(before);
      this.#hasNew ||= isNew;
      if (!(await this.#read(listed, news, isNew))) return false;
      this.#key = listed.records.map(({ key }) => key).reduce((a, b) => (a > b ? a : b), this.#key);
      return true;
    });
    if (isRead === true) return;
    this.carriedOver += news.size;
    this.lastKey ??= this.#key;
  }

  /** A call of its own, as {@link #read} is: a variable of the caller would keep the outcomes in memory. */
  async #tellOfKnown(listed: ListedRun): Promise<void> {
    this.#tally.add(await readStoredRun(this.#walk.reader, listed), false);
  }

  /** @returns whether the seal has room for it */
  async #read(listed: ListedRun, news: ReadonlySet<string>, isNew: boolean): Promise<boolean> {
    if (this.#isFull) return false;
    const { chain, expiry } = this.#walk;
    const objects: Hashed[] = [];
    const lacking: Excusable[] = [];
    const { context } = judging(this.#walk, {
      // The attempt that archived it was killed: no record has its hash.
      isRead: ({ key, sha256 }) => sha256 === undefined && !chain.objects.has(key),
      onObject: ({ key, sha256, bytes }) => void (sha256 !== undefined && objects.push({ key, sha256, bytes })),
    });
    const collecting = { ...context, unlessExpired: (one: Excusable) => void lacking.push(one) };
    const { verified: run } = await judgeRun(listed, allClusters([]), collecting, this.met);
    this.#noteUnread(run);
    expiry.add(run);
    const records = run.merged.read.flatMap(({ key, file }) => (file && news.has(key) ? { key, ...file } : []));
    const bytes = [...records, ...objects].reduce((sum, one) => sum + jsonBytes(one), 0);
    this.#isFull = this.bytes + bytes > this.#mostBytes;
    if (this.#isFull) return false;
    this.bytes += bytes;
    for (const one of lacking) this.lacking.push(one);
    for (const one of records) this.records.push(one);
    for (const { key, file, record } of run.merged.read) {
      if (!news.has(key)) continue;
      if (file === undefined) {
        this.carriedOver += 1;
        this.unread.push(key);
      }
      this.toVerify += record?.counts.archived ?? 0;
    }
    for (const object of objects) this.objects.push(object);
    for (const { sha256 } of run.used) await this.#addConfiguration(sha256, listed.run);
    if (isNew) this.#tally.add(run.merged, true);
    return true;
  }

  /** Whether one of the newest records that an earlier audit could read can be read now: in a quiet archive nothing else is read. */
  async #canReadSealed(): Promise<boolean> {
    const { chain, reader } = this.#walk;
    for (const key of [...chain.records.keys()].slice(-mostTried)) {
      const name = parseRunRecordKey(key);
      if (name !== undefined && (await readRunRecord(reader, { ...name, key })).file !== undefined) return true;
    }
    return false;
  }

  /** One record that cannot be read stops nothing. If none can, it is not the records. */
  #noteUnread({ merged }: VerifiedRun): void {
    this.#hasRead ||= merged.read.some(({ file }) => file !== undefined);
    this.#unread ??= merged.badRecords.find(({ kind }) => kind === 'unreadable')?.problem;
  }

  async #addConfiguration(sha256: string, run: Date): Promise<void> {
    if (this.configurations.some((one) => one.sha256 === sha256)) return;
    const configuration = await this.#walk.configurations.get(sha256);
    if (configuration === undefined) return;
    const { clusters, schedule, retentionDays } = configuration;
    this.configurations.push({ sha256, clusters: clusters.size, schedule, retentionDays, from: run.toISOString() });
  }
}
