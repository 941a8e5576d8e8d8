import type { Resource } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import type { Period } from '../../lambda/verify/run-keys';
import { type ContentHashes, factsOf, isSameContent } from './cluster-objects';
import { RecordedObjects, type RecordedRun, type Remark } from './recorded-object';

/** What a run archived, as its records say. */
export interface ArchivedContent extends ContentHashes {
  readonly run: Date;
  readonly key: string;
  readonly fetchedAt: string | undefined;
  /** Length of the uncompressed content. */
  readonly bytes: number | undefined;
}

/** A run that archived another content than the run before it. */
export interface Change {
  readonly content: ArchivedContent;
  /** Undefined for the first content in the archive. */
  readonly before: ArchivedContent | undefined;
  /** How many runs archived this content, up to the next change. */
  readonly runs: number;
}

export interface Changes {
  /** Newest first. */
  readonly changes: readonly Change[];
  /** Runs of the period that archived it, as far as they were looked at. */
  readonly runs: number;
  /** The first and the last of them. */
  readonly newest: Date | undefined;
  readonly oldest: Date | undefined;
  /** Objects of these runs that are not what the run records say. */
  readonly remarks: readonly (RecordedRun & { readonly remark: Remark })[];
}

export interface ChangeSearch extends Period {
  readonly resource: Resource;
  readonly cluster: string;
  /** Only so many runs of the period that archived it, the newest; left out: all. */
  readonly last?: number | undefined;
  /** Most changes. */
  readonly limit: number;
}

/**
 * The newest changes of a period, by the hashes in the run records, as `fleetChanges` finds those of a fleet; of a log, what
 * counts is its text. No content is read, and no run before the last change that is asked for.
 * @param onRun called with the time of each run that was looked at
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function findChanges(
  archive: ArchiveReader,
  { resource, cluster, from, to, last = Number.POSITIVE_INFINITY, limit }: ChangeSearch,
  now: Date,
  onRun: (run: Date) => void,
): Promise<Changes> {
  const changes: Change[] = [];
  const remarks: (RecordedRun & { remark: Remark })[] = [];
  const looked = { runs: 0, newest: undefined as Date | undefined, oldest: undefined as Date | undefined };
  let newer: ArchivedContent | undefined;
  let same = 0;
  for await (const found of new RecordedObjects(archive, now).runsNewestFirst(resource, cluster, { to })) {
    const { run, remark } = found;
    onRun(run);
    const isBefore = looked.runs === last || (from !== undefined && run < from);
    if (remark !== undefined && !isBefore) remarks.push({ ...found, remark });
    const content = await contentOf(archive, found, resource);
    if (content === undefined) continue;
    if (newer !== undefined && isSameContent(newer, content) === false) {
      changes.push({ content: newer, before: content, runs: same });
      same = 0;
    }
    // The run before the period only tells whether the oldest in it changed anything.
    if (isBefore || changes.length === limit) return { changes, remarks, ...looked };
    newer = content;
    same += 1;
    looked.runs += 1;
    looked.newest ??= run;
    looked.oldest = run;
  }
  if (newer !== undefined) changes.push({ content: newer, before: undefined, runs: same });
  return { changes, remarks, ...looked };
}

/** Undefined: no record of the run says that it was archived. A hash that the record lacks is in the object's own metadata. */
async function contentOf(
  archive: ArchiveReader,
  { run, record, head }: RecordedRun,
  resource: Resource,
): Promise<ArchivedContent | undefined> {
  const outcome = record?.outcomes.find((one) => one.resource === resource);
  if (outcome?.key === undefined || !isStored(outcome)) return undefined;
  const { key, fetchedAt, bytes, sha256, logSha256 } = outcome;
  if (sha256 !== undefined || head === undefined) return { run, key, fetchedAt, bytes, sha256, logSha256 };
  const facts = await factsOf(archive, { key, metadata: head.metadata });
  return { run, key, ...facts, fetchedAt: facts?.fetchedAt?.toISOString(), bytes: facts?.length };
}
