import { type ObjectFacts, readObjectMetadata } from '../../lambda/archive/object-metadata';
import type { Outcome } from '../../lambda/run/run-record';
import type { ArchiveReader, ListedObject } from '../../lambda/verify/archive-reader';

/** Requests for metadata under way at once. */
export const headConcurrency = 16;

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
