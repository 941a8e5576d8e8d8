import { type ObjectName, parseObjectKey, parseRunRecordKey, sealsPrefix } from '../archive/archive-layout';
import { resourceNames } from '../resources';
import { isStored } from '../run/run-record';
import type { ArchiveReader, ListedObject } from './archive-reader';
import { attestedOutcomes, unvouchedBy, unvouchedWithout } from './attested-outcomes';
import { checkObject } from './check-object';
import { type AbsentRuns, DueRuns, findAbsent } from './due-runs';
import { Expiry } from './expiry';
import { damageKinds, type Find, type Finding, type FindingKind, findingKinds, noKeyOfAnArchive } from './finding';
import { mapConcurrently } from './map-concurrently';
import { type FoundObject, objectsBetween } from './objects-between';
import { isInPart, type Part, partFile, partKeyFile, partPageFile } from './part';
import { readStoredRun } from './read-run';
import { RecordedObjects } from './recorded-objects';
import { isWithin, type ListedRun, type Period, runsBetween } from './run-keys';
import { runsAfter, runsBefore, runsUntilScheduled } from './runs-beside';
import { findAbsentSeals } from './seals/absent-seals';
import { planOf } from './seals/newest-seal';
import { acknowledgedBy, nameOf } from './seals/open-damage';
import { type ChainOptions, type RightSeal, readChain, type SealChain } from './seals/seal-chain';
import { SealedArchive } from './seals/sealed-archive';
import { type SeenRun, seenRun, type UsedSchedule } from './seen-run';
import { StoredConfigurations } from './stored-configurations';
import { dayMs, underWayMs } from './time-limits';
import { verifyRest } from './verify-rest';
import { type Lacking, type StoredOutcome, storedOutcomes, type VerifiedRun, verifyRun } from './verify-run';

export interface VerifyCounts {
  runs: number;
  records: number;
  /** Recorded objects that were read and are right, by run records that the seals attest if there are any. */
  sound: number;
  /** Recorded objects that were archived with a doubt. */
  doubts: number;
  /** Uncompressed content that was read, in bytes. */
  bytes: number;
  /** What the lifecycle has removed, or is about to remove. */
  expired: number;
  found: Record<FindingKind, number>;
  /** How much of it is damage that the newest seal acknowledges. */
  acknowledged: number;
  /** The chain of seals, and the newest of them; null: the archive is not sealed. */
  sealed: { readonly seals: number; readonly newest: NewestSeal | null } | null;
}

export type NewestSeal = Pick<RightSeal, 'number' | 'sha256' | 'seal' | 'archive'>;

export interface VerifyOptions extends Period, Pick<ChainOptions, 'publicKeys'> {
  /** What the archive is a part of, in place of a period; left out: it is whole. */
  readonly part?: Part | undefined;
  /** SHA-256 of seals that have to be in the chain, as mails told them. */
  readonly heads?: readonly string[] | undefined;
  /** Days after which the lifecycle removes objects; left out: what the archive's configurations say. */
  readonly retentionDays?: number | undefined;
  /** The time, if the archive has no clock of its own. */
  readonly now: Date;
  /** Objects read at once. */
  readonly concurrency: number;
  readonly onFinding: (finding: OpenedFinding) => void;
  /** Called now and then with how many of all runs are done, in parts of a run. */
  readonly onProgress: (done: number, total: number, counts: VerifyCounts) => void;
}

export interface OpenedFinding extends Finding {
  /** Time of the audit that found it first; undefined: none did. */
  readonly since: string | undefined;
  /** Why it is acknowledged; undefined: it is not. */
  readonly acknowledged: string | undefined;
}

const notOfPart = 'it is no part of what the part says that it holds';

/** Longest description of a problem, in characters. */
const mostCharacters = 500;

/**
 * Reads everything that is recorded in a period and looks for what is not recorded, or was due and is not there. Without a
 * period, it looks at the rest of the archive too. Memory does not depend on object size; each
 * object costs a few bits.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifyArchive(reader: ArchiveReader, options: VerifyOptions): Promise<VerifyCounts> {
  const verification = new Verification(reader, options, await reader.time());
  await verification.verifySeals();
  await verification.verifyRuns();
  await verification.verifyObjects();
  await verification.judgeLacking();
  if (options.from === undefined && options.to === undefined) await verification.verifyRest(options.part);
  return verification.counts;
}

class Verification {
  readonly counts: VerifyCounts;
  readonly #reader: ArchiveReader;
  readonly #options: VerifyOptions;
  /** Runs that have to be there: of a part, all that is in it is listed, and only these should be in it. */
  readonly #period: Period;
  readonly #now: Date;
  /** What was due up to this time, and is not there, does not come any more. */
  readonly #settled: Date;
  readonly #configurations: StoredConfigurations;
  readonly #due: DueRuns;
  readonly #expiry: Expiry;
  /** What is not there. Whether the lifecycle removed it is known once all runs are. */
  readonly #lacking: Lacking[] = [];
  readonly #absent: AbsentRuns[] = [];
  readonly #recorded = new RecordedObjects();
  readonly #refused = new RecordedObjects();
  /** By the time of their run: records that are sealed, and are gone or no run records any more. */
  readonly #lost = new Map<number, string>();
  #sealed: SealedArchive | undefined;
  /** What the newest seal says of findings. */
  #since: ReadonlyMap<string, string> = new Map();
  #acknowledged: ReturnType<typeof acknowledgedBy> = () => undefined;
  /** Whether runs are due in it up to now. */
  readonly #isLive: boolean;
  /** The schedule that the newest right seal says. */
  #plans: readonly UsedSchedule[] = [];
  /** Times of the runs that have a record. */
  readonly #runs = new Set<number>();

  /** @param clock the archive's own time; undefined: it has no clock */
  constructor(reader: ArchiveReader, options: VerifyOptions, clock: Date | undefined) {
    const { to, retentionDays, part } = options;
    this.#period = part ?? options;
    const now = clock ?? options.now;
    this.#isLive = clock !== undefined;
    this.#reader = reader;
    this.#options = options;
    this.#now = now;
    this.#configurations = new StoredConfigurations(reader, this.#find);
    this.#settled = new Date(now.getTime() - underWayMs);
    const until = this.#period.to ?? this.#settled;
    this.#due = new DueRuns({ from: this.#period.from, to: until > this.#settled ? this.#settled : until });
    const later = () => mapConcurrently(runsAfter(reader, { to }), 1, this.#readBeside);
    this.#expiry = new Expiry({ reader, configurations: this.#configurations, now, days: retentionDays, later });
    const found = Object.fromEntries(findingKinds.map((kind) => [kind, 0])) as Record<FindingKind, number>;
    this.counts = {
      runs: 0,
      records: 0,
      sound: 0,
      doubts: 0,
      bytes: 0,
      expired: 0,
      found,
      acknowledged: 0,
      sealed: null,
    };
  }

  readonly #find: Find = (kind, key, problem) => {
    const since = this.#since.get(nameOf({ kind, key }));
    const acknowledged = this.#acknowledged({ kind, key });
    this.counts.found[kind] += 1;
    if (acknowledged !== undefined && damageKinds.includes(kind)) this.counts.acknowledged += 1;
    // It may quote what somebody wrote into the archive, at any length.
    this.#options.onFinding({ kind, key, problem: problem.slice(0, mostCharacters), since, acknowledged });
  };

  /** Checks the chain of seals, whole in any period. */
  async verifySeals(): Promise<void> {
    const { publicKeys, heads } = this.#options;
    const findings: Parameters<Find>[] = [];
    const chain = await readChain(this.#reader, { publicKeys }, (...finding) => findings.push(finding));
    if (publicKeys !== undefined && chain.files === 0)
      this.#find('seal-broken', `${sealsPrefix}*`, 'a public key was given, and there is no seal');
    const pinned = heads && this.#findHeads(chain, heads);
    // What was found up to here is of what the user gave: no seal can acknowledge it.
    this.#since = new Map(chain.open.map((one) => [nameOf(one), one.since]));
    this.#acknowledged = this.#acknowledgedIn(chain);
    for (const finding of findings) this.#find(...finding);
    if (chain.files === 0) return;
    this.#sealed = new SealedArchive(chain, this.#find, pinned);
    this.#plans = [chain.head && planOf(chain.head)].filter((plan) => plan !== undefined);
    // A part has no seals that were made after it was taken.
    const settled = this.#options.part === undefined ? this.#settled : new Date(chain.head?.listedFrom ?? 0);
    findAbsentSeals(this.#find, chain.seals, this.#period, settled);
    const newest =
      chain.head && (({ number, sha256, seal, archive }) => ({ number, sha256, seal, archive }))(chain.head);
    this.counts.sealed = { seals: chain.seals.length, newest: newest ?? null };
  }

  /** What the newest seal acknowledges; with mails, what the newest of theirs acknowledges too. */
  #acknowledgedIn({ head, seals }: SealChain): ReturnType<typeof acknowledgedBy> {
    const { heads } = this.#options;
    const pinned = heads === undefined ? head : seals.findLast(({ sha256 }) => heads.includes(sha256));
    const [newest, kept] = [head, pinned].map((seal) => acknowledgedBy(seal?.plan.acknowledged ?? []));
    return (finding) => kept?.(finding) && newest?.(finding);
  }

  /** Says which seals of mails are not in the chain. @returns the number of the newest that is; 0: none is */
  #findHeads({ seals, beside }: SealChain, heads: readonly string[]): number {
    let newest = 0;
    for (const head of heads) {
      const found = seals.find(({ sha256 }) => sha256 === head);
      newest = Math.max(newest, found?.number ?? 0);
      if (found !== undefined) continue;
      const isBeside = beside.some(({ sha256 }) => sha256 === head);
      const problem = isBeside
        ? `the seal with the SHA-256 ${head}, which was given, is not in the chain: the chain was rolled back or cut`
        : `no seal has the SHA-256 ${head}, which was given: seals were removed or replaced, or the chain was rolled back`;
      this.#find('seal-broken', `${sealsPrefix}*`, problem);
    }
    return newest;
  }

  async verifyRuns(): Promise<void> {
    const { from, to, onProgress } = this.#options;
    const { counts } = this;
    const strange = ({ key, damage }: ListedObject) => this.#find('unrecorded', key, damage ?? noKeyOfAnArchive);
    let total = 0;
    for await (const _ of runsBetween(this.#reader, { from, to })) total += 1;
    for (const run of await runsBefore(this.#reader, this.#options, this.#readBeside)) this.#take(run);
    for await (const listed of runsBetween(this.#reader, { from, to }, strange)) {
      await this.#verifyListed(listed, (share) => onProgress(counts.runs - 1 + share, total, counts));
      onProgress(counts.runs, total, counts);
    }
    for (const run of await runsUntilScheduled(this.#reader, this.#options, this.#readBeside))
      this.#absent.push(this.#due.add(run));
    // Where there is no clock, nothing fires: the archive is a folder, such as a copy.
    if (to === undefined && this.#isLive) this.#absent.push(this.#due.upTo(this.#settled, this.#plans));
  }

  /** A call of its own: a variable of the loop would keep the outcomes of a run while those of the next are read. */
  async #verifyListed(listed: ListedRun, onShare: (share: number) => void): Promise<void> {
    if (!isWithin(listed.run, this.#period))
      for (const { key } of listed.records) this.#find('unrecorded', key, notOfPart);
    const run = await verifyRun(this.#reader, listed, this.#configurations, this.#now, this.#find);
    this.#take(run);
    const unattested = this.#sealed?.checkRun(listed, run.merged) ?? new Set();
    for (const { key } of run.merged.badRecords) if (unattested.has(key)) this.#lost.set(listed.run.getTime(), key);
    if (run.isUnread) this.#recorded.addWholeRun(listed.run);
    this.#runs.add(listed.run.getTime());
    this.counts.runs += 1;
    this.counts.records += listed.records.length;
    for (const one of run.lacking) this.#lacking.push(one);
    for (const outcome of run.merged.outcomes) {
      const { cluster, resource } = outcome;
      if (!isStored(outcome)) this.#refused.add({ cluster, resource, run: listed.run, compression: 'gzip' });
    }
    await this.#verifyStored(run, unattested, onShare);
  }

  async #verifyStored(
    { run, merged }: VerifiedRun,
    unattested: ReadonlySet<string>,
    onShare: (share: number) => void,
  ): Promise<void> {
    const isAttested = attestedOutcomes(merged, unattested);
    const check = async (outcome: StoredOutcome) => ({
      outcome,
      checked: await checkObject(this.#reader, outcome.key, outcome),
    });
    let done = 0;
    for await (const { outcome, checked } of mapConcurrently(
      storedOutcomes(merged, (name) => this.#isInPart(name)),
      this.#options.concurrency,
      check,
    )) {
      const { key, fetchedAt } = outcome;
      this.#recorded.add(outcome.name);
      this.counts.bytes += checked.bytes;
      if (outcome.doubt !== undefined) this.counts.doubts += 1;
      const { problem } = checked;
      const isSealed = problem?.kind !== 'missing' && this.#sealed?.checkObject(key, checked.sha256) === true;
      if (problem === undefined && !isSealed && !isAttested(outcome))
        this.#find('unvouched', key, unvouchedBy(unattested));
      else if (problem === undefined) this.counts.sound += 1;
      else if (problem.kind !== 'missing') this.#find(problem.kind, key, problem.problem);
      else
        this.#lacking.push({ kind: 'missing', key, problem: problem.problem, writtenAt: new Date(fetchedAt ?? run) });
      done += 1;
      onShare(done / merged.counts.archived);
    }
  }

  /** Looks for objects of the period that are in no run record. */
  async verifyObjects(): Promise<void> {
    for (const { key } of this.#sealed?.gone(this.#period) ?? []) {
      const { run } = parseRunRecordKey(key) ?? {};
      if (run !== undefined) this.#lost.set(run.getTime(), key);
    }
    for (const resource of resourceNames)
      for await (const object of objectsBetween(this.#reader, resource, this.#options)) {
        if (object.name === undefined) this.#find('unrecorded', object.key, object.damage ?? noKeyOfAnArchive);
        else if (!this.#isInPart(object.name)) this.#find('unrecorded', object.key, notOfPart);
        else if (!this.#recorded.has(object.name)) await this.#verifyUnrecorded({ ...object, name: object.name });
      }
  }

  async #verifyUnrecorded({ key, name, writtenAt, damage }: FoundObject & { name: ObjectName }): Promise<void> {
    this.#sealed?.checkObject(key, undefined);
    const isYoung = this.#now.getTime() - writtenAt.getTime() < underWayMs;
    // Nobody adds to a part: all of it is as young as the copy.
    if (damage === undefined && isYoung && this.#options.part === undefined) {
      this.#find('pending', key, 'no run record has it yet; it was written a short time ago');
      return;
    }
    // The lifecycle has removed its run record already.
    if (damage === undefined && (await this.#mayHaveExpired(writtenAt))) {
      this.counts.expired += 1;
      return;
    }
    const isRefused = this.#refused.has({ ...name, compression: 'gzip' });
    const said = isRefused ? 'its run record says that it was not archived' : 'no run record says that it was archived';
    const { problem, sha256 } = await checkObject(this.#reader, key);
    const isSealed = this.#sealed?.checkObject(key, sha256) === true;
    const lost = isSealed || isRefused ? undefined : this.#lost.get(name.run.getTime());
    if (lost === undefined)
      this.#find('unrecorded', key, `${said}; ${problem?.problem ?? 'it is what its own metadata says'}`);
    else if (problem !== undefined) this.#find(problem.kind, key, problem.problem);
    else this.#find('unvouched', key, unvouchedWithout(lost));
  }

  /** Says what is not there, unless the lifecycle may have removed it. */
  async judgeLacking(): Promise<void> {
    const known = new Set(this.#lacking.map(({ key }) => key));
    for (const gone of this.#sealed?.gone(this.#period) ?? [])
      if (!known.has(gone.key) && this.#isInPart(parseObjectKey(gone.key)))
        this.#lacking.push({ kind: 'missing', ...gone });
    for (const { kind, key, problem, writtenAt } of this.#lacking) {
      if (!(await this.#mayHaveExpired(writtenAt, key)))
        this.#find(kind, key, `${problem}${this.#sealed?.unpinned(writtenAt, this.#now) ?? ''}`);
      else if (kind === 'missing') this.counts.expired += 1;
    }
    for (const { times, areMore } of this.#absent) {
      const absent: Date[] = [];
      for (const time of times) if (!(await this.#mayHaveExpired(time))) absent.push(time);
      findAbsent(this.#find, { times: absent, areMore });
    }
    await this.#judgeSealedAbsent();
  }

  /** Says which firings the audit missed and the archive's own configurations do not show. */
  async #judgeSealedAbsent(): Promise<void> {
    const said = new Set(this.#absent.flatMap(({ times }) => times.map(Number)));
    const absent: Date[] = [];
    for (const time of this.#sealed?.absent(this.#period) ?? [])
      if (!said.has(time.getTime()) && !this.#runs.has(time.getTime()) && !(await this.#mayHaveExpired(time)))
        absent.push(time);
    findAbsent(this.#find, { times: absent, areMore: false });
  }

  verifyRest(part: Part | undefined): Promise<void> {
    const known = part === undefined ? [] : [partFile, partKeyFile, partPageFile];
    return verifyRest(this.#reader, this.#configurations, this.#find, known);
  }

  #isInPart(name: Partial<ObjectName> = {}): boolean {
    return this.#options.part === undefined || isInPart(this.#options.part, name);
  }

  #take(run: SeenRun): void {
    this.#absent.push(this.#due.add(run));
    this.#expiry.add(run);
  }

  /** Reads a run beside the period. What is wrong with it is not the business of this verification. */
  readonly #readBeside = async (listed: ListedRun): Promise<SeenRun> =>
    seenRun(await readStoredRun(this.#reader, listed), this.#configurations);

  async #mayHaveExpired(writtenAt: Date, key?: string): Promise<boolean> {
    const { retentionDays, part } = this.#options;
    if (part !== undefined) return this.#mayHaveExpiredBefore(writtenAt, key);
    const sealed = retentionDays === undefined ? this.#sealed?.mayHaveRemoved(writtenAt, this.#now, key) : undefined;
    if (sealed !== undefined) return sealed;
    return this.#expiry.mayHaveRemoved(writtenAt);
  }

  /**
   * Whether the lifecycle may have removed something before a part was taken. Only seals say how long things are kept, and
   * when that was: whoever hands over a part can put anything else into it. The lifecycle runs once a day.
   */
  #mayHaveExpiredBefore(writtenAt: Date, key: string | undefined): boolean {
    const { newest } = this.counts.sealed ?? {};
    const taken = newest && new Date(Date.parse(newest.seal) + dayMs);
    return taken !== undefined && taken !== null && this.#sealed?.mayHaveRemoved(writtenAt, taken, key) === true;
  }
}
