import { clusterPrefix, dateOf, type ObjectName, parseObjectKey, stampOf } from '../archive/archive-layout';
import { type Resource, resources } from '../resources';
import type { ArchiveReader, ListedObject } from './archive-reader';
import type { Period } from './run-keys';

/** What S3 gives at once: to start anew within it would cost a request and save none. */
const onePage = 1000;

/** Greater than any date in a key. */
const behindAllDates = 'date=~';

export interface FoundObject extends ListedObject {
  /** Undefined for an object whose key is none of an archive. */
  readonly name: ObjectName | undefined;
}

/**
 * Every object of a resource whose run lies in the period, of all clusters, also of those nobody knows of. Keys sort by
 * cluster and then by time: what lies outside the period is skipped by listing from behind it, cluster by cluster.
 * @param patience objects outside the period that are passed by before the listing starts anew
 */
export async function* objectsBetween(
  reader: ArchiveReader,
  resource: Resource,
  { from, to }: Period,
  patience = onePage,
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
        yield { ...object, name };
        continue;
      }
      if (++passed < patience) continue;
      const cluster = clusterPrefix(resource, name.cluster);
      after = isBefore ? `${cluster}date=${dateOf(from)}/${stampOf(from)}.` : cluster + behindAllDates;
      isDone = false;
      break;
    }
  }
}
