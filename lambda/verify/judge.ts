import { isInShard, parseObjectKey, parseRunRecordKey } from '../archive/archive-layout';
import { resourceNames } from '../resources';
import type { ArchiveReader } from './archive-reader';
import { type CheckedObject, checkObject, describeUnrecorded } from './check-object';
import type { Clusters } from './clusters';
import { type Excusable, notAKey } from './finding';
import { mapConcurrently } from './map-concurrently';
import { firstOf } from './newest-first';
import { type FoundObject, keysOfCluster } from './objects-between';
import { readStoredRun, type StoredRun } from './read-run';
import { RecordedObjects } from './recorded-objects';
import { isWithin, type ListedRun, type Period, type RunRecordObject, runsBetween } from './run-keys';
import type { SeenRun } from './seen-run';
import {
  type StoredOutcome,
  storedOutcomes,
  unvouchedBy,
  unvouchedWithout,
  type VerifiedRun,
  type VerifyRunContext,
  verifyRun,
} from './verify-run';

/** What is judged at once: runs of a period, and of them some clusters. The smallest is one cluster of one run. */
export interface Stretch extends Period {
  readonly clusters: Clusters;
}

export interface JudgeContext extends VerifyRunContext {
  readonly reader: ArchiveReader;
  /** Listings and objects read at once. */
  readonly concurrency: number;
  /** What was written after this time may still get its run record; undefined: nothing comes any more. */
  readonly settled: Date | undefined;
  /** Receives what is not as it should be, unless the lifecycle explains it. */
  readonly unlessExpired: (finding: Excusable) => void;
  /** Whether the content of a recorded object is read, and not only whether it is there. */
  readonly isRead: (outcome: StoredOutcome) => boolean;
  /** Receives each object that was read. */
  readonly onObject: (object: JudgedObject) => void;
}

export interface JudgedObject extends CheckedObject {
  readonly key: string;
  /** What the run records say of it; undefined: none names it. */
  readonly outcome: StoredOutcome | undefined;
  /** Whether a seal, or a record that is what the seals say, has this content; in an archive without seals it is true. */
  readonly isVouched: boolean;
  /** When it was written by the archive's clock; undefined: it was not listed. */
  readonly writtenAt?: Date;
}

/** One run that has records, and what a judgement of it could tell. */
export interface JudgedRun extends SeenRun {
  /** How many records it has. */
  readonly records: number;
  /** Keys of those whose content is a run record. */
  readonly readable: ReadonlySet<string>;
  /** Keys of those that are not what the seals say. */
  readonly unattested: ReadonlySet<string>;
  /** Whether all configurations that they name can be read. */
  readonly areConfigured: boolean;
  /** Whether all of that can be read, and no record is missing: what is not found then is not so. */
  readonly isWhole: boolean;
  /** Whether a record of it, or a configuration that they name, could not be read. */
  readonly isUnread: boolean;
}

/** What was met in a stretch so far. */
export interface Met {
  /** Objects that run records name. */
  readonly named: RecordedObjects;
  /** Those of them that were not read, and not listed yet. */
  readonly awaited: RecordedObjects;
  /** By the time of their run: records that are sealed, and are gone or are not run records any more. */
  readonly lost: Map<number, string>;
}

/** @param keptName gives the name of a cluster to be kept; left out: a copy */
export function nothingMet(keptName?: (cluster: string) => string): Met {
  const named = new RecordedObjects(keptName);
  return { named, awaited: named.another(), lost: new Map() };
}

/**
 * Judges a stretch: the records of each run beside each other, their configurations and the seals; every object that they
 * name; every object that lies there and none names; and what is sealed and gone. Memory: the records of one run at a time,
 * and a few bits for each object.
 * @returns the runs that have records, oldest first. What lies beside them is judged after the last
 * @throws ArchiveReadError, and whatever the reader throws when its time is over: then the stretch was not judged whole
 */
export async function* judge(stretch: Stretch, context: JudgeContext): AsyncGenerator<JudgedRun> {
  const { reader, sealed } = context;
  const met = nothingMet();
  const gone = new Set<string>();
  const unlessExpired = (one: Excusable) => {
    gone.add(one.key);
    context.unlessExpired(one);
  };
  // No variable may keep the outcomes of a run while those of the next are read.
  const judgeOne = (listed: ListedRun) =>
    judgeRun(listed, stretch.clusters, { ...context, unlessExpired }, met).then(({ judged }) => judged);
  for await (const listed of runsBetween(reader, stretch)) yield await judgeOne(listed);
  await judgeBeside(stretch, { ...context, unlessExpired }, met);
  for (const one of sealed.gone(stretch)) if (!gone.has(one.key) && isIn(stretch, one.key)) context.unlessExpired(one);
}

/**
 * Judges what lies beside the runs of a stretch: objects that no run record names, and what was to be looked up and is not
 * there.
 * @param met what {@link judgeRun} met in all runs of the stretch
 */
export async function judgeBeside(stretch: Stretch, context: JudgeContext, met: Met): Promise<void> {
  for (const { key } of context.sealed.gone(stretch)) {
    const { run } = parseRunRecordKey(key) ?? {};
    if (run !== undefined) met.lost.set(run.getTime(), key);
  }
  const beside = mapConcurrently(unnamedIn(stretch, context, met), context.concurrency, (object) =>
    judgeUnnamed(object, context, met),
  );
  for await (const _ of beside);
  await lookAgain(stretch, context, met);
}

/** Judges the records of one run, and what they name. @returns `verified` has the records in memory */
export async function judgeRun(
  listed: ListedRun,
  clusters: Clusters,
  context: JudgeContext,
  met: Met,
): Promise<{ readonly judged: JudgedRun; readonly verified: VerifiedRun }> {
  const { configurations } = context;
  const verified = await verifyRun(context.reader, listed, context);
  const { merged, unattested, lacking, ...seen } = verified;
  const time = listed.run.getTime();
  for (const { key } of merged.badRecords) if (unattested.has(key)) met.lost.set(time, key);
  if (verified.isUnread) met.named.addWholeRun(listed.run);
  for (const one of lacking) context.unlessExpired(one);
  await judgeNamed(verified, clusters, context, met);
  let areConfigured = true;
  for (const { configuration } of merged.starts)
    areConfigured &&= (await configurations.get(configuration)) !== undefined;
  const isUnread =
    verified.isUnread || merged.starts.some(({ configuration }) => configurations.unread.has(configuration));
  const gone = [...context.sealed.gone({ from: listed.run, to: listed.run })];
  const areAllThere =
    gone.every(({ key }) => parseRunRecordKey(key) === undefined) && lacking.every(({ kind }) => kind !== 'missing');
  const readable = new Set(merged.read.flatMap(({ key, record }) => (record === undefined ? [] : key)));
  const { run, isScheduled, used } = seen;
  const isWhole = areConfigured && areAllThere && merged.badRecords.length === 0;
  const said = { records: listed.records.length, readable, unattested, areConfigured, isWhole, isUnread };
  return { judged: { run, isScheduled, used, ...said }, verified };
}

/** Judges what the records of a run name. */
async function judgeNamed(run: VerifiedRun, clusters: Clusters, context: JudgeContext, met: Met): Promise<void> {
  const { reader, concurrency, isRead } = context;
  const outcomes = storedOutcomes(run.merged, clusters.has);
  const check = async (outcome: StoredOutcome) => ({
    outcome,
    checked: isRead(outcome) ? await checkObject(reader, outcome.key, outcome) : undefined,
  });
  for await (const { outcome, checked } of mapConcurrently(outcomes, concurrency, check)) {
    met.named.add(outcome.name);
    if (checked !== undefined) judgeContent(run, outcome, checked, context);
    else {
      met.awaited.add(outcome.name);
      if (!run.isAttested(outcome)) context.find('unvouched', outcome.key, unvouchedBy(run.unattested));
    }
  }
}

function judgeContent(run: VerifiedRun, outcome: StoredOutcome, checked: CheckedObject, context: JudgeContext): void {
  const { sealed, find, unlessExpired, onObject } = context;
  const { key } = outcome;
  const { problem, sha256 } = checked;
  const isMissing = problem?.kind === 'missing';
  const isSealed = !isMissing && sealed.checkObject(key, sha256);
  const isVouched = isSealed || run.isAttested(outcome);
  if (isMissing) unlessExpired(sealed.lost(recordsOf(run.merged, outcome), outcome, problem.problem));
  else if (problem !== undefined) find(problem.kind, key, problem.problem);
  else if (!isVouched) find('unvouched', key, unvouchedBy(run.unattested));
  onObject({ key, outcome, ...checked, isVouched });
}

/** Keys of the run records that the outcome may be of: what was completed without shards has attempts of its own. */
function recordsOf({ read }: Pick<StoredRun, 'read'>, { attempt, cluster }: StoredOutcome): string[] {
  const isOf = ({ shard, ...record }: RunRecordObject) =>
    record.attempt === attempt && (shard === undefined || isInShard(cluster, shard));
  return read.filter(isOf).map(({ key }) => key);
}

/** Lists what the clusters have of the stretch, and gives what no run record names. */
async function* unnamedIn(stretch: Stretch, { reader, sealed, concurrency }: JudgeContext, met: Met) {
  const list = async ([resource, cluster]: readonly [(typeof resourceNames)[number], string]) => {
    const unnamed: FoundObject[] = [];
    for await (const object of keysOfCluster(reader, resource, cluster, stretch)) {
      // It is there. What it holds is another question.
      sealed.checkObject(object.key, undefined);
      if (object.name === undefined || !met.named.has(object.name)) unnamed.push(object);
      else met.awaited.delete(object.name);
    }
    return unnamed;
  };
  const listings = function* () {
    for (const resource of resourceNames)
      for (const cluster of stretch.clusters.names) yield [resource, cluster] as const;
  };
  for await (const unnamed of mapConcurrently(listings(), concurrency, list)) yield* unnamed;
}

/** Judges an object that no run record names. */
async function judgeUnnamed(object: FoundObject, context: JudgeContext, met: Met): Promise<void> {
  const { reader, sealed, find, settled, unlessExpired, onObject } = context;
  const { key, name, writtenAt, damage } = object;
  if (name === undefined) return find('unrecorded', key, damage ?? notAKey);
  if (damage === undefined && settled !== undefined && writtenAt > settled)
    return find('pending', key, 'no run record has it yet; it was written a short time ago');
  const checked = await checkObject(reader, key);
  const { problem, sha256 } = checked;
  // It was listed, and has been removed since.
  if (problem?.kind === 'missing' && damage === undefined) return;
  const isVouched = sealed.checkObject(key, sha256);
  const lost = isVouched ? undefined : met.lost.get(name.run.getTime());
  const told =
    lost === undefined
      ? { kind: 'unrecorded' as const, problem: describeUnrecorded(problem) }
      : (problem ?? { kind: 'unvouched' as const, problem: unvouchedWithout(lost) });
  // The lifecycle removes objects. It explains nothing of what cannot be one.
  if (damage === undefined) unlessExpired({ ...told, key, writtenAt });
  else find(told.kind, key, told.problem);
  onObject({ key, outcome: undefined, ...checked, isVouched, writtenAt });
}

/** Opens what run records name and no listing has: the records were read before, and may have named what came later. */
async function lookAgain(stretch: Stretch, context: JudgeContext, { awaited }: Met): Promise<void> {
  const { reader, concurrency, find, sealed, unlessExpired } = context;
  for (const run of [...awaited.runs()]) {
    if (!isWithin(run, stretch)) continue;
    const listed = await firstOf(runsBetween(reader, { from: run, to: run }));
    if (listed === undefined) continue;
    const merged = await readStoredRun(reader, listed);
    const outcomes = storedOutcomes(merged, (name) => stretch.clusters.has(name) && awaited.has(name));
    const check = async (outcome: StoredOutcome) => ({ outcome, ...(await checkObject(reader, outcome.key, outcome)) });
    for await (const { outcome, problem } of mapConcurrently(outcomes, concurrency, check)) {
      if (problem?.kind === 'missing') unlessExpired(sealed.lost(recordsOf(merged, outcome), outcome, problem.problem));
      else if (problem !== undefined) find(problem.kind, outcome.key, problem.problem);
    }
  }
}

function isIn({ clusters }: Stretch, key: string): boolean {
  return clusters.has(parseObjectKey(key) ?? { run: parseRunRecordKey(key)?.run });
}
