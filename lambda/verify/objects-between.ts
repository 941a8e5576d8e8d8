import {
  clusterPrefix,
  dateOf,
  formerKeyProblem,
  type ObjectName,
  parseObjectKey,
  stampOf,
} from '../archive/archive-layout';
import { type Resource, resources } from '../resources';
import type { ArchiveReader, ListedObject } from './archive-reader';
import { newestFirst } from './newest-first';
import type { Period } from './run-keys';

/** Keys that S3 lists in one answer: starting the listing again within one page would cost a request and save none. */
const onePage = 1000;

/** Greater than any date in a key. */
const behindAllDates = 'date=~';

export interface FoundObject extends ListedObject {
  /** Undefined for an object whose key is none of an archive. */
  readonly name: ObjectName | undefined;
}

/**
 * Lists every object of a resource whose run lies in the period, of all clusters, and every key that is none of an archive.
 * Keys sort by cluster and then by time, so that what lies outside the period is skipped cluster by cluster: the listing
 * starts again behind it.
 */
export async function* objectsBetween(
  reader: ArchiveReader,
  resource: Resource,
  { from, to }: Period,
): AsyncGenerator<FoundObject> {
  const prefix = `${resources[resource].folder}/`;
  for (let after: string | undefined, isDone = false; !isDone; ) {
    let passed = 0;
    isDone = true;
    for await (const object of reader.list(prefix, after)) {
      const name = parseObjectKey(object.key);
      const isBefore = name !== undefined && from !== undefined && name.run < from;
      const isBehind = name !== undefined && to !== undefined && name.run > to;
      if (!isBefore && !isBehind) {
        passed = 0;
        const damage = object.damage ?? (name === undefined ? formerKeyProblem(object.key) : undefined);
        yield { ...object, damage, name };
        continue;
      }
      passed += 1;
      if (passed < onePage) continue;
      const cluster = clusterPrefix(resource, name.cluster);
      after = isBefore ? firstKeyOf(cluster, from) : cluster + behindAllDates;
      isDone = false;
      break;
    }
  }
}

/** Where the keys of a cluster begin whose runs are of a time or later. */
function firstKeyOf(prefix: string, from: Date): string {
  return `${prefix}date=${dateOf(from)}/${stampOf(from)}.`;
}

export interface ClusterObject extends ObjectName, ListedObject {}

/**
 * The objects of one resource of one cluster, oldest run first. Only that part of the archive is listed.
 * @param stop ends the listing at whatever key it is: very many may be none of an archive
 */
export async function* clusterObjects(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  { from, to }: Period,
  stop?: AbortSignal,
): AsyncGenerator<ClusterObject> {
  const prefix = clusterPrefix(resource, cluster);
  for await (const object of reader.list(prefix, from && firstKeyOf(prefix, from))) {
    stop?.throwIfAborted();
    const name = parseObjectKey(object.key);
    // `verify` reports objects with other names.
    if (name === undefined) continue;
    if (to !== undefined && name.run > to) return;
    yield { ...object, ...name };
  }
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
