import { type ObjectFacts, readObjectMetadata } from '../../lambda/archive/object-metadata';
import type { Outcome } from '../../lambda/run/run-record';
import type { ArchiveReader, ListedObject, ObjectHead } from '../../lambda/verify/archive-reader';
import type { ClusterObject } from '../../lambda/verify/objects-between';

/** Requests for metadata under way at once. */
export const headConcurrency = 16;

/** An object with its own metadata; `facts` is undefined where that is absent or malformed. */
export interface DescribedObject extends ClusterObject {
  readonly facts: ObjectFacts | undefined;
  /** What it says about itself; undefined: it is no longer there. */
  readonly head: ObjectHead | undefined;
}

export interface Content extends DescribedObject {
  readonly facts: ObjectFacts;
}

/** Content as `--json` of `diff` documents it. */
export function summarizeContent({ key, run, facts }: Content) {
  const { fetchedAt, sha256, length: bytes } = facts;
  return { run: run.toISOString(), fetchedAt: fetchedAt?.toISOString(), key, sha256, bytes };
}

export async function withFacts(reader: ArchiveReader, object: ClusterObject): Promise<DescribedObject> {
  const head = await reader.head(object.key);
  return { ...object, head, facts: head && readObjectMetadata(head.metadata) };
}

/** The metadata of an object; undefined if it is absent or malformed, or the object is not there. */
export async function factsOf(
  reader: ArchiveReader,
  { key, metadata }: Pick<ListedObject, 'key' | 'metadata'>,
): Promise<ObjectFacts | undefined> {
  const found = metadata ?? (await reader.head(key))?.metadata;
  return found && readObjectMetadata(found);
}

/** What records and metadata say of content. */
export type ContentHashes = Pick<Outcome, 'sha256' | 'logSha256'>;

/**
 * Whether two objects have the same manifest, or two log records the same text, without reading them; undefined: not known.
 * The record of a log changes with its `lastModifiedTimestamp`. A text that is too long for a hash counts as changed with
 * its record.
 */
export function isSameContent(one: ContentHashes, other: ContentHashes): boolean | undefined {
  if (one.logSha256 !== undefined && other.logSha256 !== undefined) return one.logSha256 === other.logSha256;
  if (one.sha256 === undefined || other.sha256 === undefined) return undefined;
  return one.sha256 === other.sha256;
}
