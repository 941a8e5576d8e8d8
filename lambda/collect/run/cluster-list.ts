import { createHash } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import { hourMs } from '../../../archive/format/clocks';
import type { ClusterListSource, ConfiguredCluster } from '../../../archive/format/configuration';
import { DamagedObjectError } from '../../../archive/format/damage';
import { hashOfLeaving, leaversOf, type NextList, nextList, type WrittenList } from '../../../archive/format/next-list';
import type { PastLists } from '../../../archive/format/past-lists';
import type { ClusterList } from '../../../archive/format/run-record';
import type { WholeObject } from '../../../archive/read/s3-archive-reader';
import type { RunRequest } from '../event';
import { readList } from './read-list';
import { NoClusterListError, RunNotFoundError } from './run-errors';

/** What an attempt collects, and what its run record says of the list. */
export interface AttemptList {
  readonly clusters: readonly ConfiguredCluster[];
  /** Undefined: a run is completed late, which reads no list. */
  readonly read: ClusterList | undefined;
  /** What people want to know although it is not a failure. */
  readonly remarks: readonly string[];
}

export interface ClusterListContext {
  readonly past: Pick<PastLists, 'newest' | 'largest' | 'ofRun'>;
  /** Reads the object that the source names. */
  readonly read: () => Promise<WholeObject | undefined>;
  readonly now: Date;
}

/** Clusters that a message names one by one. */
const namedClusters = 100;

/**
 * Reads a list of clusters from outside, and says what of it counts. What is wrong with it replaces nothing: then the list in
 * force is collected.
 * @throws NoClusterListError if nothing is in force, so that nothing can be collected; RunNotFoundError; ArchiveError if nobody knows what is
 */
export async function attemptList(
  { run, completes }: Pick<RunRequest, 'run' | 'completes'>,
  source: ClusterListSource,
  context: ClusterListContext,
): Promise<AttemptList> {
  const { past, now } = context;
  if (completes && run !== undefined) {
    const before = await past.ofRun(run);
    if (before === undefined) throw new RunNotFoundError(run);
    return { clusters: before.clusters, read: undefined, remarks: [] };
  }
  const inForce = await past.newest(now);
  const { list, problem: unusable, ...object } = await fetchList(source, context);
  const next = list && (await judge(list, source, inForce?.clusters, context));
  const problem = unusable ?? (next && withheldProblem(next, source));
  const readBefore = inForce?.head.clusterList;
  const since = problem && (readBefore?.problem === undefined ? (run ?? now).toISOString() : readBefore.since);
  const read: ClusterList = { from: source.from, ...object, isInForce: problem === undefined, problem, since };
  const clusters = next?.clusters ?? inForce?.clusters;
  if (clusters === undefined) throw new NoClusterListError(read);
  return { clusters, read, remarks: next === undefined ? [] : remarksOn(next) };
}

/** Without the right to list the bucket, S3 says 403 of an object that is not there. */
const absent = 'it cannot be read, or does not exist';

type Fetched = Pick<ClusterList, 'sha256' | 'versionId' | 'modifiedAt' | 'leaving' | 'problem'> & {
  readonly list?: WrittenList;
};

/** Reads the object, and what is wrong with it whatever was in force before. */
async function fetchList(source: ClusterListSource, { read, now }: ClusterListContext): Promise<Fetched> {
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
  const result = readList(bytes);
  if ('problem' in result) return { ...object, ...result };
  const { list } = result;
  const count = list.clusters.length;
  if (count <= source.mostClusters) return { ...object, leaving: list.leaving, list };
  return {
    ...object,
    problem: `no run can finish its ${count} clusters: at most ${source.mostClusters}, docs/large-fleets.md`,
  };
}

async function judge(
  list: WrittenList,
  source: ClusterListSource,
  inForce: readonly ConfiguredCluster[] | undefined,
  { past, now }: ClusterListContext,
): Promise<NextList> {
  const anyLeaves = leaversOf(inForce ?? [], list.clusters).length > 0;
  const largest = anyLeaves ? await past.largest(now) : undefined;
  return nextList({ inForce, largest: largest?.clusters }, list, source);
}

function withheldProblem(
  { withheld, clusters }: NextList,
  { maxRemovedPercent }: ClusterListSource,
): string | undefined {
  if (withheld.length === 0) return undefined;
  return [
    `${withheld.length} of ${clusters.length} clusters would leave, and without consent at most ${maxRemovedPercent} % may, or 3, within a day. Nobody leaves:`,
    `  ${namesOf(withheld)}`,
    'If they are meant to leave, write the list as { "clusters": […], "leaving": "…" } with the line',
    `  "leaving": "${hashOfLeaving(withheld)}"`,
  ].join('\n');
}

function remarksOn({ left, isConsentIdle }: NextList): string[] {
  return [
    ...(left.length > 0 ? [`${left.length} clusters left the list: ${namesOf(left)}`] : []),
    ...(isConsentIdle
      ? ['"leaving" in the list of clusters is not needed, or not of these clusters: it was ignored']
      : []),
  ];
}

function namesOf(uids: readonly string[]): string {
  const more = uids.length > namedClusters ? `, and ${uids.length - namedClusters} more` : '';
  return `${uids.slice(0, namedClusters).join(', ')}${more}`;
}
