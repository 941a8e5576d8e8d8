import { type Resource, resourceNames } from '../resources';
import { underWayMs } from '../time-limits';
import type { ListedObject } from '../verify/archive-reader';
import { checkObject, describeUnrecorded } from '../verify/check-object';
import { mapConcurrently } from '../verify/map-concurrently';
import { clusterObjects } from '../verify/objects-between';
import { readStoredRun } from '../verify/read-run';
import { RecordedObjects } from '../verify/recorded-objects';
import { type Period, runsBetween } from '../verify/run-keys';
import type { Hashed } from '../verify/seals/seal';
import { storedOutcomes, unvouchedWithout } from '../verify/verify-run';
import { type AuditWalk, concurrency, inTime } from './audit-walk';

export interface UnrecordedSearch extends Period {
  readonly clusters: Iterable<string>;
  /** What the records of these runs have. */
  readonly recorded: RecordedObjects;
}

/**
 * Lists what the clusters have of a period of runs and finds the objects that no run record has: their attempts were
 * killed. It lists cluster by cluster, so that its cost does not grow with the archive's age.
 * @returns what it found, hashed; undefined if the time did not suffice
 * @throws ArchiveReadError if the archive cannot be read
 */
export function findUnrecorded(walk: AuditWalk, search: UnrecordedSearch): Promise<Hashed[] | undefined> {
  const { reader, find, mayHaveRemoved } = walk;
  return inTime(walk, async () => {
    const hashed: Hashed[] = [];
    for await (const { key, writtenAt } of unrecordedIn(walk, search)) {
      if (await mayHaveRemoved(writtenAt)) continue;
      const { problem, sha256, bytes } = await checkObject(reader, key);
      find('unrecorded', key, describeUnrecorded(problem));
      if (sha256 !== undefined) hashed.push({ key, sha256, bytes });
    }
    return hashed;
  });
}

/** Runs without their sealed record that one audit looks at. */
const mostRuns = 20;

/**
 * Finds what is left of runs that have lost a sealed record, by the records that are left: nothing vouches for it any more.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function findUnvouched(walk: AuditWalk, clusters: Iterable<string>): Promise<void> {
  const { reader, find, incomplete } = walk;
  await inTime(walk, async () => {
    for (const [time, record] of [...incomplete].slice(0, mostRuns)) {
      const run = new Date(time);
      const recorded = new RecordedObjects();
      for await (const listed of runsBetween(reader, { from: run, to: run }))
        for (const { name } of storedOutcomes(await readStoredRun(reader, listed))) recorded.add(name);
      for await (const { key } of unrecordedIn(walk, { clusters, from: run, to: run, recorded }))
        find('unvouched', key, unvouchedWithout(record));
    }
  });
}

async function* unrecordedIn(
  { reader, stop, now }: AuditWalk,
  { clusters, recorded, ...period }: UnrecordedSearch,
): AsyncGenerator<ListedObject> {
  const list = async ([resource, cluster]: readonly [Resource, string]) => {
    stop.throwIfAborted();
    const found: ListedObject[] = [];
    for await (const object of clusterObjects(reader, resource, cluster, period, stop)) {
      const isSettled = now.getTime() - object.writtenAt.getTime() >= underWayMs;
      if (isSettled && !recorded.has(object)) found.push(object);
    }
    return found;
  };
  const listings = function* () {
    for (const cluster of clusters) for (const resource of resourceNames) yield [resource, cluster] as const;
  };
  for await (const found of mapConcurrently(listings(), concurrency, list)) yield* found;
}
