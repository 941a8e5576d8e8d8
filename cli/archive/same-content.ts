import type { Outcome } from '../../lambda/run/run-record';

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
