import { type ObjectName, parseObjectKey, parseRunRecordKey, sealsPrefix } from '../archive/archive-layout';
import { resourceNames } from '../resources';
import { dayMs, underWayMs } from '../time-limits';
import type { ArchiveReader, ListedObject } from './archive-reader';
import { checkObject, describeUnrecorded } from './check-object';
import { type AbsentRuns, DueRuns, findAbsent } from './due-runs';
import { Expiry, removedUntil } from './expiry';
import {
  damageKinds,
  type Find,
  type Finding,
  type FindingKind,
  findingKinds,
  type Lacking,
  noKeyOfAnArchive,
} from './finding';
import { mapConcurrently } from './map-concurrently';
import { type FoundObject, objectsBetween } from './objects-between';
import { isInPart, type Part, partFile, partKeyFile, partPageFile } from './part';
import { readStoredRun } from './read-run';
import { RecordedObjects } from './recorded-objects';
import { isWithin, type ListedRun, type Period, runsBetween } from './run-keys';
import { findAbsentSeals, readChain } from './seals/read-chain';
import type { ChainOptions, RightSeal, SealChain } from './seals/seal-chain';
import { planOf } from './seals/seal-index';
import { type SaidOfFinding, SealedArchive } from './seals/sealed-archive';
import { runsAfter, runsBefore, runsUntilScheduled, type SeenRun, seenRun } from './seen-run';
import { StoredConfigurations } from './stored-configurations';
import { verifyRest } from './verify-rest';
import {
  type StoredOutcome,
  storedOutcomes,
  unvouchedBy,
  unvouchedWithout,
  type VerifiedRun,
  verifyRun,
} from './verify-run';

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
  sealed: {
    readonly seals: number;
    readonly newest: Pick<RightSeal, 'number' | 'sha256' | 'seal' | 'archive'> | null;
  } | null;
}

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

export interface OpenedFinding extends Finding, SaidOfFinding {}

const notOfPart = 'it is no part of what the part says that it holds';

/** Longest description of a problem, in characters. */
const mostCharacters = 500;

/**
 * Reads everything that is recorded in a period and looks for what is not recorded, or was due and is not there. Without a
 * period, it looks at the rest of the archive too. Memory does not depend on object size; each object costs a few bits.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifyArchive(reader: ArchiveReader, options: VerifyOptions): Promise<VerifyCounts> {
  const clock = await reader.time();
  const broken: Parameters<Find>[] = [];
  const chain = await readChain(reader, options, (...finding) => broken.push(finding));
  const verification = new Verification(reader, options, clock, chain);
  verification.verifySeals(broken);
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
  /** Whether runs are due in it up to now. */
  readonly #isLive: boolean;
  /** Checked whole in any period. */
  readonly #chain: SealChain;
  readonly #sealed: SealedArchive;
  readonly #configurations: StoredConfigurations;
  readonly #due: DueRuns;
  readonly #expiry: Expiry;
  /** What is not there. Whether the lifecycle removed it is known once all runs are. */
  readonly #lacking: Lacking[] = [];
  readonly #absent: AbsentRuns[] = [];
  readonly #recorded = new RecordedObjects();
  /** By the time of their run: records that are sealed, and are gone or no run records any more. */
  readonly #lost = new Map<number, string>();
  /** Times of the runs that have a record. */
  readonly #runs = new Set<number>();

  /** @param clock the archive's own time; undefined: it has no clock */
  constructor(reader: ArchiveReader, options: VerifyOptions, clock: Date | undefined, chain: SealChain) {
    const { to, part, heads: mails } = options;
    const now = clock ?? options.now;
    this.#reader = reader;
    this.#options = options;
    this.#period = part ?? options;
    this.#now = now;
    this.#settled = new Date(now.getTime() - underWayMs);
    this.#isLive = clock !== undefined;
    this.#chain = chain;
    // The lifecycle runs once a day. What is gone from a part was gone when it was taken.
    const taken = part && chain.head && new Date(Date.parse(chain.head.seal) + dayMs);
    this.#sealed = new SealedArchive(chain, this.#find, { now: taken ?? now, mails });
    this.#configurations = new StoredConfigurations(reader, this.#find);
    const until = this.#period.to ?? this.#settled;
    this.#due = new DueRuns({ from: this.#period.from, to: until > this.#settled ? this.#settled : until });
    const later = () => mapConcurrently(runsAfter(reader, { to }), 1, this.#readBeside);
    this.#expiry = new Expiry({ reader, configurations: this.#configurations, now, later });
    const found = Object.fromEntries(findingKinds.map((kind) => [kind, 0])) as Record<FindingKind, number>;
    const read = { runs: 0, records: 0, sound: 0, doubts: 0, bytes: 0, expired: 0 };
    this.counts = { ...read, found, acknowledged: 0, sealed: null };
  }

  readonly #find: Find = (kind, key, problem) => this.#tell({ kind, key, problem }, this.#sealed.saidOf({ kind, key }));

  #tell({ kind, key, problem }: Finding, { since, acknowledged }: SaidOfFinding): void {
    this.counts.found[kind] += 1;
    if (acknowledged !== undefined && damageKinds.includes(kind)) this.counts.acknowledged += 1;
    // It may quote what somebody wrote into the archive, at any length.
    this.#options.onFinding({ kind, key, problem: problem.slice(0, mostCharacters), since, acknowledged });
  }

  /** @param broken what is wrong with the chain */
  verifySeals(broken: readonly Parameters<Find>[]): void {
    const { publicKeys, part, heads } = this.#options;
    const { files, seals, head } = this.#chain;
    // What is not as the user says, no seal can acknowledge.
    const differs = (problem: string) => this.#tell({ kind: 'seal-broken', key: `${sealsPrefix}*`, problem }, {});
    if (publicKeys !== undefined && files === 0) differs('a public key was given, and there is no seal');
    for (const problem of this.#sealed.lostMails(heads)) differs(problem);
    for (const finding of broken) this.#find(...finding);
    if (files === 0) return;
    // A part has no seals that were made after it was taken.
    const settled = part === undefined ? this.#settled : new Date(head?.listedFrom ?? 0);
    findAbsentSeals(this.#find, seals, this.#period, settled);
    const newest = head && { number: head.number, sha256: head.sha256, seal: head.seal, archive: head.archive };
    this.counts.sealed = { seals: seals.length, newest: newest ?? null };
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
    const plan = this.#chain.head && planOf(this.#chain.head);
    if (to === undefined && this.#isLive) this.#absent.push(this.#due.upTo(this.#settled, plan));
  }

  /** A call of its own: a variable of the loop would keep the outcomes of a run while those of the next are read. */
  async #verifyListed(listed: ListedRun, onShare: (share: number) => void): Promise<void> {
    if (!isWithin(listed.run, this.#period))
      for (const { key } of listed.records) this.#find('unrecorded', key, notOfPart);
    const common = { configurations: this.#configurations, sealed: this.#sealed, now: this.#now, find: this.#find };
    const run = await verifyRun(this.#reader, listed, common);
    this.#take(run);
    for (const { key } of run.merged.badRecords) if (run.unattested.has(key)) this.#lost.set(listed.run.getTime(), key);
    if (run.isUnread) this.#recorded.addWholeRun(listed.run);
    this.#runs.add(listed.run.getTime());
    this.counts.runs += 1;
    this.counts.records += listed.records.length;
    for (const one of run.lacking) this.#lacking.push(one);
    await this.#verifyStored(run, onShare);
  }

  async #verifyStored(
    { run, merged, unattested, isAttested }: VerifiedRun,
    onShare: (share: number) => void,
  ): Promise<void> {
    const { part, concurrency } = this.#options;
    const outcomes = storedOutcomes(merged, (name) => isInPart(part, name));
    const check = async (outcome: StoredOutcome) => ({
      outcome,
      ...(await checkObject(this.#reader, outcome.key, outcome)),
    });
    let done = 0;
    for await (const { outcome, problem, bytes, sha256 } of mapConcurrently(outcomes, concurrency, check)) {
      const { key, fetchedAt } = outcome;
      this.#recorded.add(outcome.name);
      this.counts.bytes += bytes;
      if (outcome.doubt !== undefined) this.counts.doubts += 1;
      const isSealed = problem?.kind !== 'missing' && this.#sealed.checkObject(key, sha256);
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
    for (const { key } of this.#sealed.gone(this.#period)) {
      const { run } = parseRunRecordKey(key) ?? {};
      if (run !== undefined) this.#lost.set(run.getTime(), key);
    }
    for (const resource of resourceNames)
      for await (const object of objectsBetween(this.#reader, resource, this.#options)) {
        if (object.name === undefined) this.#find('unrecorded', object.key, object.damage ?? noKeyOfAnArchive);
        else if (!isInPart(this.#options.part, object.name)) this.#find('unrecorded', object.key, notOfPart);
        else if (!this.#recorded.has(object.name)) await this.#verifyUnrecorded({ ...object, name: object.name });
      }
  }

  async #verifyUnrecorded({ key, name, writtenAt, damage }: FoundObject & { name: ObjectName }): Promise<void> {
    this.#sealed.checkObject(key, undefined);
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
    const { problem, sha256 } = await checkObject(this.#reader, key);
    const isSealed = this.#sealed.checkObject(key, sha256);
    const lost = isSealed ? undefined : this.#lost.get(name.run.getTime());
    if (lost === undefined) this.#find('unrecorded', key, describeUnrecorded(problem));
    else if (problem !== undefined) this.#find(problem.kind, key, problem.problem);
    else this.#find('unvouched', key, unvouchedWithout(lost));
  }

  /** Says what is not there, unless the lifecycle may have removed it. */
  async judgeLacking(): Promise<void> {
    const known = new Set(this.#lacking.map(({ key }) => key));
    for (const gone of this.#sealed.gone(this.#period))
      if (!known.has(gone.key) && isInPart(this.#options.part, parseObjectKey(gone.key))) this.#lacking.push(gone);
    for (const { kind, key, problem, writtenAt } of this.#lacking) {
      if (!(await this.#mayHaveExpired(writtenAt, key)))
        this.#find(kind, key, `${problem}${this.#sealed.unexcused(writtenAt)}`);
      else if (kind === 'missing') this.counts.expired += 1;
    }
    const said = new Set(this.#absent.flatMap(({ times }) => times.map(Number)));
    // Firings that the audit missed, and the archive's own configurations do not show.
    const sealed = [...this.#sealed.absent(this.#period)].filter(
      (time) => !said.has(time.getTime()) && !this.#runs.has(time.getTime()),
    );
    for (const { times, areMore } of [...this.#absent, { times: sealed, areMore: false }]) {
      const absent: Date[] = [];
      for (const time of times) if (!(await this.#mayHaveExpired(time))) absent.push(time);
      findAbsent(this.#find, { times: absent, areMore });
    }
  }

  verifyRest(part: Part | undefined): Promise<void> {
    const known = part === undefined ? [] : [partFile, partKeyFile, partPageFile];
    return verifyRest(this.#reader, this.#configurations, this.#find, known);
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
    if (retentionDays !== undefined) return writtenAt.getTime() <= removedUntil(this.#now, retentionDays);
    // Whoever hands over a part can put any configuration into it: only seals say how long things are kept.
    return (
      this.#sealed.mayHaveRemoved(writtenAt, key) ?? (part === undefined && this.#expiry.mayHaveRemoved(writtenAt))
    );
  }
}
