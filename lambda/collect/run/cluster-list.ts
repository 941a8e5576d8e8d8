import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import { hourMs } from '../../../archive/format/clocks';
import { type ClusterListSource, type ConfiguredCluster, isOptional } from '../../../archive/format/configuration';
import { DamagedObjectError } from '../../../archive/format/damaged-object-error';
import { runRecordKey } from '../../../archive/format/keys';
import { changeOf, type InForce, inForce, mayFollow } from '../../../archive/format/list-in-force';
import type { ClusterList } from '../../../archive/format/run-record';
import { ArchiveReadError, type WholeObject } from '../../../archive/read/s3-archive-reader';
import { formatCount } from '../../plain-text';
import type { RunRequest } from '../event';
import type { PastList, PastLists } from './past-lists';
import { largestListBytes, readList } from './read-list';
import { NoClusterListError, RunNotFoundError } from './run-errors';

/** What an attempt collects, and what its run record says of the list. */
export interface AttemptList {
  readonly clusters: readonly ConfiguredCluster[];
  /** Undefined: a run is completed late, which reads no list. */
  readonly read: ClusterList | undefined;
  /** What people want to know although it is not a failure. */
  readonly remarks: readonly string[];
  /** Uids of those that joined within a day: whoever writes the list must not take the turns of the others with them. */
  readonly joined: ReadonlySet<string>;
  /**
   * How many clusters that were required are leaving, or less is asked of them, if they are so many that somebody has to be
   * woken up; undefined: no list was read.
   */
  readonly manyLeaving?: number;
}

export interface ClusterListContext {
  readonly past: Pick<PastLists, 'newest' | 'ofRun' | 'dayBefore'>;
  /** Reads the object that the source names. */
  readonly read: () => Promise<WholeObject | undefined>;
  readonly now: Date;
}

/** Largest list in force: the configuration that has it is read up to the length of a list, and has other members too. */
const largestUnionBytes = largestListBytes - 1024 * 1024;

/** Clusters that a message or the first line of a record names one by one. */
const mostNamed = 100;

/**
 * Reads a list of clusters from outside, and says who is collected. What is wrong with it replaces nothing: then those are
 * collected who were before.
 * @throws NoClusterListError if nobody knows what to collect; RunNotFoundError; ArchiveReadError if another reading may give
 * what was collected before
 */
export async function attemptList(
  request: Pick<RunRequest, 'run' | 'completes' | 'clusters'>,
  source: ClusterListSource,
  { past, read, now }: ClusterListContext,
): Promise<AttemptList> {
  const { run = now, completes } = request;
  if (completes) {
    const { list, skipped } = await past.ofRun(run);
    if (list === undefined) throw new RunNotFoundError(run);
    const { clusters } = list;
    const { list: dayBefore, unread } = await listOfDayBefore(list, past, run);
    return {
      clusters,
      read: undefined,
      joined: joinedSince(dayBefore, clusters),
      remarks: [...skipped.map(skippedText), ...unread],
    };
  }
  // A clock that is behind the schedule's does not see the runs before.
  const at = run > now ? run : now;
  const { list: before, skipped } = await past.newest(at);
  const { clusters, problem: unusable, ...object } = await fetchList(source, read, now);
  const next = nextList(clusters, before?.clusters, source, at, request.clusters === undefined);
  const isUnknown = before === undefined && skipped.length > 0;
  const problem =
    unusable ??
    next.problem ??
    (isUnknown ? 'no record of what was collected before can be read, so that nobody knows who left' : undefined);
  const list: ClusterList = {
    from: source.from,
    ...object,
    isInForce: problem === undefined,
    follows: before && { record: runRecordKey(before.name), configuration: before.head.configuration },
    ...toldOf(next.inForce),
    problem,
    since: problem && sinceOf(before, run),
  };
  if (next.inForce.clusters.length === 0) throw new NoClusterListError(list);
  const { clusters: collected } = next.inForce;
  const { list: dayBefore, unread } = await listOfDayBefore(before, past, at);
  return {
    clusters: collected,
    read: list,
    joined: joinedSince(dayBefore, collected),
    remarks: [...skipped.map(skippedText), ...remarksOn(next.inForce), ...unread],
    manyLeaving: manyLeaving(dayBefore, collected, run),
  };
}

/** What was collected a day ago; where nobody can tell, by the run before; undefined: nothing was. */
async function listOfDayBefore(
  before: PastList | undefined,
  past: Pick<PastLists, 'dayBefore'>,
  at: Date,
): Promise<{ readonly list: PastList | undefined; readonly unread: readonly string[] }> {
  if (before === undefined) return { list: undefined, unread: [] };
  try {
    const { list = before } = await past.dayBefore(at);
    return { list, unread: [] };
  } catch (error) {
    // It decides who comes first, and who is told: no attempt has to end over it.
    if (!(error instanceof ArchiveReadError)) throw error;
    const unread = `what was collected a day ago is taken from the run before: ${error.message}`;
    return { list: before, unread: [unread] };
  }
}

function joinedSince(list: PastList | undefined, clusters: readonly ConfiguredCluster[]): ReadonlySet<string> {
  const were = new Set(list?.clusters.map(({ uid }) => uid));
  return new Set(list && clusters.flatMap(({ uid }) => (were.has(uid) ? [] : uid)));
}

/** Fewest clusters that are many, and one in how many of the required ones of a day ago. */
const [fewestMany, oneIn] = [3, 10];

/**
 * Whoever writes the list chooses who joins, and may ask less of a cluster before taking it away: those count who were required
 * a day ago, and are leaving or less is asked of them.
 */
function manyLeaving(list: PastList | undefined, clusters: readonly ConfiguredCluster[], run: Date): number {
  const required = (list?.clusters ?? []).filter((cluster) => !isOptional(cluster, run));
  const { leaving, lessened } = changeOf(list?.clusters ?? [], clusters);
  const fewer = new Set([...leaving, ...lessened]);
  const many = required.filter(({ uid }) => fewer.has(uid)).length;
  return many >= Math.max(fewestMany, required.length / oneIn) ? many : 0;
}

function sinceOf(before: PastList | undefined, run: Date): string {
  const listBefore = before?.head.clusterList;
  return listBefore?.problem === undefined ? run.toISOString() : (listBefore.since ?? run.toISOString());
}

/** What comes after a list, and why not all of the list counts. @param list undefined: it cannot be used */
function nextList(
  list: readonly ConfiguredCluster[] | undefined,
  before: readonly ConfiguredCluster[] | undefined,
  { mostClusters, leaveAfterDays, exclude }: ClusterListSource,
  at: Date,
  isOfAll: boolean,
): { readonly inForce: InForce; readonly problem?: string } {
  const most = 2 * mostClusters;
  const options = { at, isOfAll, most, leaveAfterDays, exclude };
  const next = inForce(list, before, options);
  const missteps = before === undefined ? [] : mayFollow(before, next.clusters, at, options);
  assert.deepEqual(missteps, [], 'the list in force is not what may follow the one before it');
  const { waiting, clusters } = next;
  if (list === undefined) return { inForce: next };
  if (clusters.length === 0) return { inForce: next, problem: 'each of its clusters is excluded' };
  if (Buffer.byteLength(JSON.stringify(clusters)) > largestUnionBytes) {
    const problem = `with the clusters that are leaving it has more than ${largestUnionBytes} bytes, and no audit could read it`;
    return { inForce: inForce(undefined, before, options), problem };
  }
  if (waiting.length === 0) return { inForce: next };
  const why = `with those that are leaving, at most ${most} are collected`;
  return {
    inForce: next,
    problem: `${waiting.length} of its clusters did not join: ${why}. Waiting: ${namesOf(waiting)}`,
  };
}

/** Without the right to list the bucket, S3 says 403 of an object that is not there. */
const absent = 'it cannot be read, or does not exist';

type Fetched = Pick<ClusterList, 'sha256' | 'versionId' | 'modifiedAt' | 'problem'> & {
  readonly clusters?: readonly ConfiguredCluster[];
};

/** Reads the object, and what is wrong with it whatever was collected before. */
async function fetchList(source: ClusterListSource, read: ClusterListContext['read'], now: Date): Promise<Fetched> {
  let stored: WholeObject | undefined;
  try {
    stored = await read();
  } catch (error) {
    if (error instanceof DamagedObjectError) return { problem: error.message };
    return { problem: `${absent}: ${isNativeError(error) ? error.message : String(error)}` };
  }
  if (stored === undefined) return { problem: absent };
  const { bytes, writtenAt: modifiedAt, versionId } = stored;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const object = { sha256, versionId, modifiedAt: modifiedAt?.toISOString() };
  const ageHours = (now.getTime() - (modifiedAt ?? now).getTime()) / hourMs;
  if (source.maxAgeHours !== undefined && ageHours > source.maxAgeHours)
    return {
      ...object,
      problem: `it is ${Math.floor(ageHours)} hours old, and at most ${source.maxAgeHours} are allowed`,
    };
  return { ...object, ...readList(bytes, source.mostClusters) };
}

/** What the run record's first line says of who is collected. */
function toldOf({ clusters, joined, left, excluded, lessened, waiting }: InForce): Partial<ClusterList> {
  const named = (uids: readonly string[]) =>
    uids.length === 0 ? undefined : { count: uids.length, uids: uids.slice(0, mostNamed) };
  const leaving = clusters.flatMap(({ uid, leaving }) =>
    leaving === undefined ? [] : { uid, since: leaving.since, dates: leaving.dates },
  );
  return {
    joined: named(joined),
    leaving: leaving.length === 0 ? undefined : { count: leaving.length, clusters: leaving.slice(0, mostNamed) },
    left: named(left),
    excluded: named(excluded),
    lessened: named(lessened),
    waiting: named(waiting),
  };
}

function remarksOn({ left, excluded, lessened }: InForce): string[] {
  const said: [uids: readonly string[], what: string][] = [
    [left, 'left for good, after leaving for long enough'],
    [excluded, 'left at once, by clusters.exclude'],
    [lessened, 'became optional, or for longer, or lost a resource'],
  ];
  return said.flatMap(([uids, what]) =>
    uids.length > 0 ? `${formatCount(uids.length, 'cluster')} ${what}: ${namesOf(uids)}` : [],
  );
}

function skippedText(skipped: string): string {
  return `what was collected before is taken from an older run record: ${skipped}`;
}

function namesOf(uids: readonly string[]): string {
  const more = uids.length > mostNamed ? `, and ${uids.length - mostNamed} more` : '';
  return `${uids.slice(0, mostNamed).join(', ')}${more}`;
}
