import type { Resource } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import {
  ArchiveReadError,
  type ClusterObject,
  type ClusterRecord,
  clusterObjects,
  clusterObjectsNewestFirst,
  firstOf,
  isLate,
  type Period,
  readRun,
} from '../../archive/read';
import { formatDuration, formatPeriod, formatTime } from '../terminal/format';
import { print, type Terminal } from '../terminal/terminal';
import { type ClusterFilter, nearestNames, nearestTo } from './cluster-names';
import type { OpenedArchive } from './open-archive';
import { type RecordedObject, recordedObject } from './recorded-object';
import type { RunReader } from './run-reader';
import { findRun, runsNewestFirst } from './select-runs';

/** The archive has no object of this cluster and resource where one was looked for. */
export function nothingArchived(resource: Resource, cluster: string, reason: string): ArchiveReadError {
  return new ArchiveReadError(`Finding the ${resource} of cluster ${cluster} failed: ${reason}`);
}

/**
 * The object of one run, or of the newest run at or before a time that archived one; with neither, the newest of all.
 * @throws ArchiveReadError if there is none
 * @throws NoSuchRunError if one run was asked for and is not there
 */
export async function selectObject(
  opened: Pick<OpenedArchive, 'archive' | 'now'>,
  resource: Resource,
  cluster: string,
  { run, at }: { readonly run?: Date | undefined; readonly at?: Date | undefined },
): Promise<RecordedObject> {
  const { archive: reader, now } = opened;
  const period = run === undefined ? { to: at } : { from: run, to: run };
  const found = await firstOf(clusterObjectsNewestFirst(reader, resource, cluster, period, now));
  if (found !== undefined) return recordedObject(opened, found);
  if (run !== undefined) {
    const without = await readRun(reader, await findRun(reader, run));
    throw nothingArchived(resource, cluster, whyMissing(without, resource, cluster));
  }
  throw await nothingOf(opened, resource, cluster, period);
}

/**
 * Why there is no object of a cluster in a period: those that there are lie elsewhere, or there is none at all. Then the
 * newest run of the period tells why, which may have names like this one.
 */
export async function nothingOf(
  { archive: reader, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  resource: Resource,
  cluster: string,
  period: Period,
): Promise<ArchiveReadError> {
  const oldest = await firstOf(clusterObjects(reader, resource, cluster, {}));
  if (oldest !== undefined) {
    const newest = await firstOf(clusterObjectsNewestFirst(reader, resource, cluster, {}, now));
    const [from, to] = [oldest, newest ?? oldest].map(({ run }) => formatTime(run));
    const reason = `none was archived${formatPeriod(period)}; the archive has those of the runs ${from} to ${to}`;
    return nothingArchived(resource, cluster, reason);
  }
  const listed = await firstOf(runsNewestFirst(reader, period, now));
  const run = listed && (await readRun(reader, listed));
  const why = [run && whyMissing(run, resource, cluster), nearestNames(cluster, run), 'list shows what there is'];
  const reasons = ['the archive has none', ...why].filter((one) => one !== undefined);
  return nothingArchived(resource, cluster, reasons.join('; '));
}

/** None of the runs that were read archived one of these clusters. */
export async function nothingInRuns(
  reader: RunReader,
  resource: Resource,
  clusters: ClusterFilter | undefined,
): Promise<ArchiveReadError> {
  const reason = `none was archived by ${reader.span}; list shows what there is${await nearestTo(reader, clusters)}`;
  return nothingArchived(resource, clusters?.glob ?? '*', reason);
}

export function whyMissing({ run, outcomes, badRecords }: ClusterRecord, resource: Resource, cluster: string): string {
  const outcome = outcomes.find((one) => one.cluster === cluster && one.resource === resource);
  const name = `the run ${formatTime(run)}`;
  const [bad] = badRecords;
  if (outcome === undefined && bad !== undefined)
    return `${name} has a record that cannot be used (${bad.key}): ${bad.problem}`;
  if (outcome === undefined) return `${name} did not cover it`;
  if (isStored(outcome)) return archivedAndGone(run);
  return `${name} did not archive it (${outcome.outcome}): ${outcome.error ?? 'it gives no reason'}`;
}

export function archivedAndGone(run: Date): string {
  return `the run ${formatTime(run)} archived it, and the object is not there; verify says more`;
}

/** One line that says which object was selected, and whether it was fetched long after its run's time. */
export function describeSelection({ resource, cluster, run, facts }: RecordedObject): string {
  const { fetchedAt } = facts ?? {};
  const fetched = fetchedAt === undefined ? 'unknown when it was fetched' : `fetched ${formatTime(fetchedAt)}`;
  const late =
    fetchedAt !== undefined && isLate(run, fetchedAt)
      ? `, late: ${formatDuration(fetchedAt.getTime() - run.getTime())} after the time of the run`
      : '';
  return `${resource} of ${cluster}, run ${formatTime(run)}, ${fetched}${late}`;
}

/** Says so if a run at or before a time is newer than an object, and so has none. */
export async function noteNewerRun(
  { err }: Pick<Terminal, 'err'>,
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  { run }: ClusterObject,
  at: Date | undefined,
): Promise<void> {
  const period = { from: new Date(run.getTime() + 1), to: at };
  const newer = await firstOf(runsNewestFirst(archive, period, now));
  if (newer === undefined) return;
  const time = formatTime(newer.run);
  await print(err, `The newer run ${time} has none: runs ${time} says why.\n`);
}
