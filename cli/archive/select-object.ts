import type { Resource } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import {
  ArchiveReadError,
  type ClusterRecord,
  clusterObjects,
  clusterObjectsNewestFirst,
  firstOf,
  isLate,
  type Period,
  readRun,
} from '../../archive/read';
import { formatCount, formatDuration, formatPeriod, formatTime } from '../terminal/format';
import { print, type Terminal } from '../terminal/terminal';
import { type ClusterFilter, clusterFilter, nearestNames, nearestTo } from './cluster-names';
import type { OpenedArchive } from './open-archive';
import { type HeldPlace, heldNewestFirst, type RecordedObject, type Remark } from './recorded-object';
import type { RunReader } from './run-reader';
import { findRun, type NoSuchRunError, noRuns, runsNewestFirst } from './select-runs';

/** The archive has no object of this cluster and resource where one was looked for. */
export function nothingArchived(resource: Resource, cluster: string, reason: string): ArchiveReadError {
  return new ArchiveReadError(`Finding the ${resource} of cluster ${cluster} failed: ${reason}`);
}

/** An object that was asked for, and what was passed over to find it. */
export interface SelectedObject extends RecordedObject {
  /** Runs that are newer and have none, the newest first. */
  readonly passed: readonly HeldPlace[];
  /** What its run's records say; undefined: there are none. */
  readonly record: ClusterRecord | undefined;
}

/** Which of the objects is asked for: that of one run, or the newest at or before a time; with neither, the newest of all. */
export interface Asked {
  readonly run?: Date | undefined;
  readonly at?: Date | undefined;
}

/**
 * The object of one run, or of the newest run at or before a time that archived one, whether it is still there or not.
 * @throws ArchiveReadError if there is none
 * @throws NoSuchRunError if one run was asked for and is not there
 */
export async function selectObject(
  opened: Pick<OpenedArchive, 'archive' | 'now'>,
  resource: Resource,
  cluster: string,
  { run, at }: Asked,
): Promise<SelectedObject> {
  const period = run === undefined ? { to: at } : { from: run, to: run };
  const { object, passed } = await newestObject(opened, resource, cluster, period);
  if (object !== undefined) return object;
  const [only] = passed;
  if (run === undefined) throw await nothingOf(opened, resource, cluster, period);
  if (only?.record !== undefined) throw nothingArchived(resource, cluster, whyMissing(only.record, resource, cluster));
  await findRun(opened.archive, run);
  throw await nothingOf(opened, resource, cluster, period);
}

/**
 * The newest object of a period, whether it is still there or not; undefined: there is none.
 * @throws ArchiveReadError
 */
export async function newestObject(
  opened: Pick<OpenedArchive, 'archive' | 'now'>,
  resource: Resource,
  cluster: string,
  period: Period,
): Promise<Pick<SelectedObject, 'passed'> & { readonly object: SelectedObject | undefined }> {
  const passed: HeldPlace[] = [];
  for await (const place of heldNewestFirst(opened, resource, cluster, period)) {
    if (place.object !== undefined) return { object: { ...place.object, record: place.record, passed }, passed };
    passed.push(place);
  }
  return { object: undefined, passed };
}

/** What is wrong with an object, and with the records of the runs that were passed over: whether these archived it, nobody knows. */
export function remarksOn({ remark, passed }: SelectedObject): Remark[] {
  const bad = passed.flatMap(({ record }) => record?.badRecords ?? []);
  return remark === undefined ? bad : [remark, ...bad];
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
  const isPattern = clusterFilter(cluster).uid === undefined;
  const why = isPattern
    ? ['this takes one uid, and "list --cluster" patterns']
    : [run && whyMissing(run, resource, cluster), nearestNames(cluster, run), 'list shows what there is'];
  const reasons = ['the archive has none', ...why].filter((one) => one !== undefined);
  return nothingArchived(resource, cluster, reasons.join('; '));
}

/** None of the runs that were read archived one of these clusters. */
export async function nothingInRuns(
  reader: RunReader,
  resource: Resource,
  clusters: ClusterFilter | undefined,
): Promise<ArchiveReadError | NoSuchRunError> {
  const name = clusters?.glob ?? '*';
  if (reader.runs === 0) return noRuns(reader, `Finding the ${resource} of cluster ${name}`);
  const reason = `none was archived by ${reader.span}; list shows what there is${await nearestTo(reader, clusters?.uid)}`;
  return nothingArchived(resource, name, reason);
}

export function whyMissing({ run, outcomes, badRecords }: ClusterRecord, resource: Resource, cluster: string): string {
  const outcome = outcomes.find((one) => one.cluster === cluster && one.resource === resource);
  const name = `the run ${formatTime(run)}`;
  const [bad] = badRecords;
  if (outcome === undefined && bad !== undefined)
    return `${name} has a record that cannot be used (${bad.key}): ${bad.problem}`;
  if (outcome === undefined) return `${name} did not cover it`;
  if (isStored(outcome)) return `${name} archived it, and the lifecycle has removed it since`;
  return `${name} did not archive it (${outcome.outcome}): ${outcome.error ?? 'it gives no reason'}`;
}

/** One line that says which object was selected, and whether it was fetched long after its run's time. */
export function describeSelection({ resource, cluster, run, facts, outcome }: RecordedObject): string {
  const fetchedAt = facts?.fetchedAt ?? (outcome?.fetchedAt === undefined ? undefined : new Date(outcome.fetchedAt));
  const fetched = fetchedAt === undefined ? 'unknown when it was fetched' : `fetched ${formatTime(fetchedAt)}`;
  const late =
    fetchedAt !== undefined && isLate(run, fetchedAt)
      ? `, late: ${formatDuration(fetchedAt.getTime() - run.getTime())} after the time of the run`
      : '';
  return `${resource} of ${cluster}, run ${formatTime(run)}, ${fetched}${late}`;
}

/** Says of which of the runs that were passed over the records were not read, if there are any. */
export async function noteUnread({ err }: Pick<Terminal, 'err'>, { passed }: SelectedObject): Promise<void> {
  const unread = passed.filter(({ isUnread }) => isUnread);
  const [to, from] = [unread[0], unread.at(-1)].flatMap((one) => one?.run ?? []);
  if (from === undefined || to === undefined) return;
  const runs = `${formatCount(unread.length, 'run')}${formatPeriod({ from, to })}`;
  await print(err, `Not looked at: the records of ${runs}; list --cluster reads them.\n`);
}

/** Says so if newer runs, up to a time, have none, or left no record. */
export async function noteNewerRuns(
  terminal: Pick<Terminal, 'err'>,
  reader: RunReader,
  object: SelectedObject,
  at: Date | undefined,
): Promise<void> {
  const { err } = terminal;
  const { run, record, passed } = object;
  const [newer] = passed;
  if (newer !== undefined) {
    const time = formatTime(newer.run);
    await print(err, `The newer run ${time} has none: runs ${time} says why.\n`);
  }
  await noteUnread(terminal, object);
  const absent = at && (await reader.absentBetween({ from: run, to: at }, [...passed, { run, record }]));
  if (absent !== undefined) await print(err, `Absent: ${absent}, so nobody knows what it was then.\n`);
}
