import { clusterPrefix, dateOf, type ObjectName, parseObjectKey, stampOf } from '../format/keys';
import type { Resource } from '../format/resources';
import type { ArchiveReader, ListedObject } from './archive-reader';
import { newestFirst } from './newest-first';
import type { Period } from './run-keys';

export interface FoundObject {
  readonly listed: ListedObject;
  /** Undefined if its key is not one that an archive uses. */
  readonly name: ObjectName | undefined;
}

/**
 * Every key of one resource of one cluster that the listing has between two times of runs, whether it is one of an archive or
 * not. Only that part is listed. Periods that follow each other have every key once.
 */
export async function* keysOfCluster(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  { from, to }: Period,
): AsyncGenerator<FoundObject> {
  const prefix = clusterPrefix(resource, cluster);
  const end = to && to.getTime() < latestMs ? firstKeyOf(prefix, new Date(to.getTime() + 1)) : undefined;
  const first = from && firstKeyOf(prefix, from);
  const common = first !== undefined && end !== undefined ? commonBeginning(first, end) : prefix;
  for await (const listed of reader.list(common, first)) {
    if (end !== undefined && listed.key > end) return;
    yield { listed, name: parseObjectKey(listed.key) };
  }
}

/** The latest time that a key can have: behind it years have more than four digits, which sort before the others. */
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Where the keys of a cluster begin whose runs are of a time or later. */
function firstKeyOf(prefix: string, from: Date): string {
  return `${prefix}date=${dateOf(from)}/${stampOf(from)}.`;
}

/** A listing of all that begins so ends where a period does, or not long behind it. */
function commonBeginning(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

export interface ClusterObject extends ObjectName, ListedObject {}

/** The objects of one resource of one cluster, oldest run first. Only that part of the archive is listed. */
export async function* clusterObjects(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  period: Period,
): AsyncGenerator<ClusterObject> {
  // `verify` reports objects with other names.
  for await (const { listed, name } of keysOfCluster(reader, resource, cluster, period))
    if (name !== undefined) yield { ...listed, ...name };
}

/** The same, newest run first. */
export function clusterObjectsNewestFirst(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  period: Period,
  now: Date,
): AsyncGenerator<ClusterObject> {
  return newestFirst((part) => clusterObjects(reader, resource, cluster, part), period, now);
}
