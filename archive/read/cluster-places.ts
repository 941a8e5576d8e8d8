import type { Resource } from '../format/resources';
import type { ArchiveReader } from './archive-reader';
import { newestFirst } from './newest-first';
import { type ClusterObject, clusterObjects } from './objects-between';
import { type ListedRun, type Period, runsBetween } from './run-keys';

/** Where an object of one cluster may be: a run that has records, an object, or both. */
export interface ClusterPlace {
  readonly run: Date;
  /** Undefined: the run has no record. */
  readonly listed?: ListedRun | undefined;
  /** Undefined: nothing lies there. */
  readonly object?: ClusterObject | undefined;
}

/**
 * The runs that have records, and the objects of one resource of one cluster, beside each other, newest first. Who takes an
 * object from here has not passed over a run that archived one: only its records can tell, and they are not read here.
 */
export function clusterPlacesNewestFirst(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  period: Period,
  now: Date,
): AsyncGenerator<ClusterPlace> {
  return newestFirst((part) => clusterPlaces(reader, resource, cluster, part), period, now);
}

/** The same, oldest first. */
async function* clusterPlaces(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  period: Period,
): AsyncGenerator<ClusterPlace> {
  const runs = runsBetween(reader, period);
  const objects = clusterObjects(reader, resource, cluster, period);
  try {
    let [listed, object] = [(await runs.next()).value, (await objects.next()).value];
    for (;;) {
      const times = [listed, object].flatMap((one) => (one ? [one.run.getTime()] : []));
      if (times.length === 0) return;
      const time = Math.min(...times);
      const place = { run: new Date(time), ...(listed?.run.getTime() === time && { listed }) };
      const isObject = object?.run.getTime() === time;
      yield isObject ? { ...place, object } : place;
      if ('listed' in place) listed = (await runs.next()).value;
      if (isObject) object = (await objects.next()).value;
    }
  } finally {
    await Promise.all([runs.return(undefined), objects.return(undefined)]);
  }
}
