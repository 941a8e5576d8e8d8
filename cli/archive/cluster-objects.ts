import { clusterPrefix, dateOf, type ObjectName, parseObjectKey, stampOf } from '../../lambda/archive/archive-layout';
import { type ObjectFacts, readObjectMetadata } from '../../lambda/archive/object-metadata';
import type { Resource } from '../../lambda/resources';
import type { ArchiveReader, ListedObject, ObjectHead } from '../../lambda/verify/archive-reader';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import type { Period } from '../../lambda/verify/run-keys';

/** Requests for metadata under way at once. */
const headConcurrency = 16;

/** How much the clocks of collector and archive may differ; S3 cuts its times to seconds on top. */
const clockSlackMs = 300_000;

export interface ClusterObject extends ObjectName, ListedObject {}

/** An object with what it says about itself; `facts` is undefined where it says nothing valid. */
export interface DescribedObject extends ClusterObject {
  readonly facts: ObjectFacts | undefined;
}

/** What is archived of one resource of one cluster, by the runs' times, from a listing of that part alone. */
export async function* clusterObjects(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  period: Period,
): AsyncGenerator<ClusterObject> {
  const prefix = clusterPrefix(resource, cluster);
  const after = period.from && `${prefix}date=${dateOf(period.from)}/${stampOf(period.from)}.`;
  for await (const object of reader.list(prefix, after)) {
    const name = parseObjectKey(object.key);
    // Strangers are for `verify` to report.
    if (name === undefined) continue;
    if (period.to !== undefined && name.run > period.to) return;
    yield { ...object, ...name };
  }
}

/** The objects with what they say about themselves, in the same order. */
export function describe<Listed extends ListedObject>(
  reader: ArchiveReader,
  objects: AsyncIterable<Listed>,
): AsyncGenerator<Listed & { facts: ObjectFacts | undefined }> {
  return mapConcurrently(objects, headConcurrency, async (object) => ({
    ...object,
    facts: await factsOf(reader, object),
  }));
}

/** What an object says about itself; undefined if it says nothing valid, or is not there. */
export async function factsOf(
  reader: ArchiveReader,
  { key, metadata }: Pick<ListedObject, 'key' | 'metadata'>,
): Promise<ObjectFacts | undefined> {
  const head: Pick<ObjectHead, 'metadata'> | undefined = metadata === undefined ? await reader.head(key) : { metadata };
  return head && readObjectMetadata(head.metadata);
}

/**
 * The objects that were fetched last at or before a time, newest first. A run that was completed late has objects that
 * are younger than their keys: so what counts is `fetched-at`, which the listing does not have. But nothing is fetched
 * after it was written, so that an object written before the best ones known were fetched is passed by unasked.
 * @param at left out: without limit
 */
export async function newestFetched(
  reader: ArchiveReader,
  resource: Resource,
  cluster: string,
  at: Date | undefined,
  count: number,
): Promise<(DescribedObject & { facts: ObjectFacts })[]> {
  const candidates: ClusterObject[] = [];
  for await (const object of clusterObjects(reader, resource, cluster, { to: at })) candidates.push(object);
  candidates.reverse();
  const best: (DescribedObject & { facts: ObjectFacts })[] = [];
  for await (const { facts, ...object } of describe(reader, candidatesWorthAsking(candidates, best, count))) {
    if (facts === undefined || (at !== undefined && facts.fetchedAt > at)) continue;
    best.push({ ...object, facts });
    best.sort((a, b) => b.facts.fetchedAt.getTime() - a.facts.fetchedAt.getTime());
    best.length = Math.min(best.length, count);
  }
  return best;
}

async function* candidatesWorthAsking(
  candidates: readonly ClusterObject[],
  best: readonly { facts: ObjectFacts }[],
  count: number,
): AsyncGenerator<ClusterObject> {
  for (const candidate of candidates) {
    const worst = best[count - 1]?.facts.fetchedAt;
    if (worst === undefined || candidate.writtenAt.getTime() + clockSlackMs > worst.getTime()) yield candidate;
  }
}
