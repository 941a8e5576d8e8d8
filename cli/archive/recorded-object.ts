import { settled } from '../../archive/format/clocks';
import type { Finding } from '../../archive/format/finding';
import { type ObjectName, objectKey } from '../../archive/format/keys';
import { type ObjectFacts, readObjectMetadata } from '../../archive/format/object-metadata';
import { problems } from '../../archive/format/problems';
import type { Resource } from '../../archive/format/resources';
import { isStored, type RunOutcome } from '../../archive/format/run-record';
import { contradiction, describePending, GoneObjects } from '../../archive/prove';
import {
  type ArchiveReader,
  type ClusterObject,
  type ClusterPlace,
  type ClusterRecord,
  clusterPlacesNewestFirst,
  mapConcurrently,
  type ObjectHead,
  type Period,
  readClusterRecord,
} from '../../archive/read';
import { formatTime } from '../terminal/format';
import type { OpenedArchive } from './open-archive';

/** What is wrong with something that a command reads, as `verify` would find it, or as a seal has it open. */
export interface Remark extends Omit<Finding, 'kind'> {
  /** That of a finding, or `note`: worth a word, and not damage. */
  readonly kind: Finding['kind'] | 'note';
}

/** An object with what it says about itself, and what its run's records say of it. */
export interface RecordedObject extends ObjectName {
  readonly key: string;
  /** Undefined: a record says that it was archived, and it is not there; `remark` says so. */
  readonly storedBytes: number | undefined;
  /** Undefined: its metadata is absent or malformed, or it is not there. */
  readonly facts: ObjectFacts | undefined;
  /** By the records; undefined: none names it. */
  readonly outcome: RunOutcome | undefined;
  readonly remark: Remark | undefined;
}

/** What the records of one run say of an object, and what lies there, together. */
export interface HeldPlace {
  readonly run: Date;
  /** Undefined: the run has no records, or they were not read. */
  readonly record: ClusterRecord | undefined;
  /** Its records were not read: as many before it have none of it. Whether they say that it was archived, nobody knows. */
  readonly isUnread: boolean;
  /** Undefined: no record says that it was archived, and nothing lies there; or the lifecycle has removed it. */
  readonly object: RecordedObject | undefined;
}

/** Runs of which the records of one cluster are read at once, behind the first of them. */
const recordsAtOnce = 8;

/**
 * Most runs in a row without an object whose records are read: of a cluster that never was, they would be all of the archive.
 * `list --cluster` reads them.
 */
const mostWithout = 100;

/**
 * What was archived of one resource of a cluster, or lies there, newest run first; runs that have none of it too. Whoever looks
 * for an object takes it from here: what was archived and is gone has its place.
 * @throws ArchiveReadError
 */
export async function* heldNewestFirst(
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  resource: Resource,
  cluster: string,
  period: Period,
): AsyncGenerator<HeldPlace> {
  const gone = new GoneObjects(archive, now);
  let without = 0;
  const hold = async ({ run, listed, object }: ClusterPlace): Promise<HeldPlace> => {
    without = object === undefined ? without + 1 : 0;
    if (without > mostWithout) return { run, record: undefined, isUnread: true, object: undefined };
    const record = listed && (await readClusterRecord(archive, listed, cluster));
    const name = { run, resource, cluster };
    const found =
      object === undefined
        ? await goneObject(archive, gone, name, record)
        : await recordedObject({ archive, now, gone }, object, record, listed);
    return { run, record, isUnread: false, object: found };
  };
  const places = clusterPlacesNewestFirst(archive, resource, cluster, period, now);
  try {
    // Mostly the first one is what is asked for.
    const first = await places.next();
    if (first.done === true) return;
    yield await hold(first.value);
    yield* mapConcurrently(places, recordsAtOnce, hold);
  } finally {
    await places.return(undefined);
  }
}

/** Holds what is not in a listing against its run's records. @returns undefined: none says that it was archived, or it has expired */
async function goneObject(
  archive: ArchiveReader,
  gone: GoneObjects,
  name: ObjectName,
  record: ClusterRecord | undefined,
): Promise<RecordedObject | undefined> {
  const outcome = record?.outcomes.find(({ resource }) => resource === name.resource);
  if (record === undefined || outcome === undefined || !isStored(outcome)) return undefined;
  const key = objectKey(name);
  const head = await archive.head(key);
  if (head !== undefined) {
    // Its run ended since the listing.
    const { storedBytes, metadata } = head;
    const remark = remarkOnRecorded(key, outcome, head);
    return { ...name, key, storedBytes, facts: readObjectMetadata(metadata), outcome, remark };
  }
  const missing = await gone.judge(name, outcome, record.records);
  if (missing === undefined) return undefined;
  const remark = { ...missing, problem: `the run ${formatTime(name.run)} archived it, and it is not there` };
  return { ...name, key, storedBytes: undefined, facts: undefined, outcome, remark };
}

/** Holds an object of a listing against its run's records, as `verify` does. @throws ArchiveReadError */
async function recordedObject(
  { archive, now, gone }: Pick<OpenedArchive, 'archive' | 'now'> & { readonly gone: GoneObjects },
  object: ClusterObject,
  record: ClusterRecord | undefined,
  listed: ClusterPlace['listed'],
): Promise<RecordedObject> {
  const { run, cluster, resource, key, storedBytes } = object;
  const { outcomes = [], badRecords = [] } = record ?? {};
  const outcome = outcomes.find((one) => one.resource === resource);
  const head = await archive.head(key);
  const facts = head && readObjectMetadata(head.metadata);
  const remarkOn = async (): Promise<Remark | undefined> => {
    if (outcome !== undefined && isStored(outcome) && outcome.key === key) return remarkOnRecorded(key, outcome, head);
    const [bad] = badRecords;
    if (bad?.kind === 'unreadable') return bad;
    const isRefused = outcome !== undefined && !isStored(outcome) && bad === undefined;
    const pending = describePending(object, settled(now), isRefused ? listed?.records : []);
    if (pending !== undefined) return { kind: 'pending', key, problem: pending };
    if (await gone.mayLackRecord(object)) return { kind: 'note', key, problem: problems.recordExpired };
    if (bad !== undefined) return bad;
    const reason = outcome && [outcome.outcome, outcome.httpStatus].filter((part) => part !== undefined).join(', ');
    const problem = reason === undefined ? problems.unrecorded : `the run record says: ${reason}`;
    return { kind: 'unrecorded', key, problem };
  };
  return { run, cluster, resource, key, storedBytes, facts, outcome, remark: await remarkOn() };
}

/**
 * What an object says about itself against the record that says that it was archived; undefined: the same.
 * @param head undefined: it is not there
 */
export function remarkOnRecorded(key: string, outcome: RunOutcome, head: ObjectHead | undefined): Remark | undefined {
  const facts = head && readObjectMetadata(head.metadata);
  if (head === undefined || facts === undefined) return { kind: 'damaged', key, problem: problems.badMetadata };
  const different = contradiction({ ...head, facts }, outcome);
  if (different !== undefined) return { key, ...different };
  return outcome.sha256 === undefined ? { kind: 'note', key, problem: problems.withoutHash } : undefined;
}
