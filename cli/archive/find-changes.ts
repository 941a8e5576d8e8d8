import type { Resource } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { clusterObjectsNewestFirst } from '../../lambda/verify/objects-between';
import type { Period } from '../../lambda/verify/run-keys';
import { type Content, type DescribedObject, headConcurrency, isSameContent, withFacts } from './cluster-objects';

/** A run that archived another content than the run before it. */
export interface Change {
  readonly content: Content;
  /** Undefined for the first content in the archive. */
  readonly before: Content | undefined;
  /** How many runs archived this content, up to the next change. */
  readonly runs: number;
}

export interface Changes {
  /** Newest first. */
  readonly changes: readonly Change[];
  /** Objects in the period that were looked at. */
  readonly objects: number;
  /** The first and the last run that were looked at; undefined without objects. */
  readonly newest: Date | undefined;
  readonly oldest: Date | undefined;
  /** Objects whose metadata is absent or malformed, so that nothing can be said about them. */
  readonly damaged: readonly DescribedObject[];
}

export interface ChangeSearch extends Period {
  readonly resource: Resource;
  readonly cluster: string;
  /** Only so many objects of the period, the newest; left out: all. */
  readonly last?: number | undefined;
  /** Most changes. */
  readonly limit: number;
}

/**
 * The newest changes of a period, by the hashes in the metadata of the objects; of a log, what counts is its text. No content is read, and hardly any
 * metadata beyond the last change that is asked for.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function findChanges(reader: ArchiveReader, search: ChangeSearch, now: Date): Promise<Changes> {
  const { resource, cluster, from, to, last = Number.POSITIVE_INFINITY, limit } = search;
  let listed = 0;
  const changes: Change[] = [];
  const damaged: DescribedObject[] = [];
  const looked = { objects: 0, newest: undefined as Date | undefined, oldest: undefined as Date | undefined };
  let newer: Content | undefined;
  let runs = 0;
  const objects = clusterObjectsNewestFirst(reader, resource, cluster, { to }, now);
  for await (const object of mapConcurrently(objects, headConcurrency, (one) => withFacts(reader, one))) {
    const { facts, run } = object;
    listed += 1;
    const isBefore = listed > last || (from !== undefined && run < from);
    if (facts === undefined) {
      if (!isBefore) damaged.push(object);
      continue;
    }
    const content = { ...object, facts };
    if (newer !== undefined && isSameContent(newer.facts, facts) === false) {
      changes.push({ content: newer, before: content, runs });
      runs = 0;
    }
    // The object before the period only tells whether the oldest in it changed anything.
    if (isBefore || changes.length === limit) return { changes, damaged, ...looked };
    newer = content;
    runs += 1;
    looked.objects += 1;
    looked.newest ??= run;
    looked.oldest = run;
  }
  if (newer !== undefined) changes.push({ content: newer, before: undefined, runs });
  return { changes, damaged, ...looked };
}
