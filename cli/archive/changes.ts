import type { Resource } from '../../archive/format/resources';
import type { Outcome } from '../../archive/format/run-record';
import { type ClusterRecord, clusterObjectsNewestFirst, firstOf } from '../../archive/read';
import { wasArchived } from './held-outcomes';
import { factsOf, type ListedOutcome, type OutcomeScope, outcomesOf } from './list-outcomes';
import type { RunReader } from './run-reader';

/** A run that archived another content of a cluster than the run before it. */
export interface Change extends Pick<ListedOutcome, 'cluster' | 'run' | 'key' | 'fetchedAt' | 'bytes'> {
  /** `first`: nothing is archived before it. */
  readonly change: 'changed' | 'first';
  /** Of the content, lower-case hex, and of that before it; null for the first. */
  readonly sha256: string;
  readonly before: string | null;
  /** Of the object before it; undefined: there is none, or it is not known. */
  readonly keyBefore: string | undefined;
  /** Whether it is not there any more, and should be. */
  readonly missing: boolean;
}

/** What records and metadata say of content. */
export type ContentHashes = Pick<Outcome, 'sha256' | 'logSha256'>;

type KnownContent = ContentHashes & Pick<Outcome, 'key'>;

/**
 * Every change, each once, oldest first, by the hashes in the run records. What was not archived is passed over.
 * @param runs by their times
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* changesIn(
  reader: RunReader,
  runs: AsyncIterable<Pick<ClusterRecord, 'run' | 'outcomes' | 'records'>>,
  scope: OutcomeScope & { readonly resource: Resource },
): AsyncGenerator<Change> {
  const known = new Map<string, KnownContent>();
  let contentOf: Awaited<ReturnType<typeof contentBefore>> | undefined;
  for await (const listed of runs)
    for await (const outcome of outcomesOf(reader, listed, scope)) {
      if (!wasArchived(outcome) || outcome.sha256 === undefined) continue;
      const { cluster, run, key, fetchedAt, bytes, sha256 } = outcome;
      contentOf ??= await contentBefore(reader, scope.resource, run);
      const before = known.get(cluster) ?? (await contentOf(cluster));
      known.set(cluster, { ...hashesOf(outcome), key });
      if (before !== undefined && isSameContent(before, outcome)) continue;
      const change = before === undefined ? 'first' : 'changed';
      const missing = outcome.outcome === 'missing';
      const own = { cluster, run, change, key, fetchedAt, bytes, sha256, missing } as const;
      yield { ...own, before: before?.sha256 ?? null, keyBefore: before?.key };
    }
}

/**
 * Whether two objects have the same manifest, or two log records the same text, without reading them; what is not known
 * counts as the same. The record of a log changes with its `lastModifiedTimestamp`. A text that is too long for a hash counts
 * as changed with its record.
 */
export function isSameContent(one: ContentHashes, other: ContentHashes): boolean {
  if (one.logSha256 !== undefined && other.logSha256 !== undefined) return one.logSha256 === other.logSha256;
  return one.sha256 === undefined || other.sha256 === undefined || one.sha256 === other.sha256;
}

/** Not the whole outcome: it would stay in memory. */
export function hashesOf({ sha256, logSha256 }: ContentHashes): ContentHashes {
  return { sha256, logSha256 };
}

/** Tells what was archived before a run: by the run before it; of a cluster that this did not archive, by its newest object. */
async function contentBefore(
  reader: RunReader,
  resource: Resource,
  first: Date,
): Promise<(cluster: string) => Promise<KnownContent | undefined>> {
  const { archive, now } = reader;
  const to = new Date(first.getTime() - 1);
  const before = await reader.newestRun({ to });
  if (before === undefined) return async () => undefined;
  const own = before.outcomes.filter((outcome) => outcome.resource === resource && outcome.sha256 !== undefined);
  const hashes = new Map(own.map((outcome) => [outcome.cluster, { ...hashesOf(outcome), key: outcome.key }]));
  return async (cluster) => {
    const known = hashes.get(cluster);
    if (known !== undefined) return known;
    // A listing alone: of a cluster that is new, all records of the archive would be read.
    const newest = await firstOf(clusterObjectsNewestFirst(archive, resource, cluster, { to }, now));
    return newest && { ...(await factsOf(archive, newest.key)), key: newest.key };
  };
}
