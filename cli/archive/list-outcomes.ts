import { types } from 'node:util';
import { parseObjectKey } from '../../archive/format/keys';
import { type ObjectFacts, readObjectMetadata } from '../../archive/format/object-metadata';
import type { Resource } from '../../archive/format/resources';
import type { RunOutcome } from '../../archive/format/run-record';
import { type ArchiveReader, type ClusterRecord, isLate, mapConcurrently } from '../../archive/read';
import type { ClusterFilter } from './cluster-names';
import type { HeldOutcome } from './held-outcomes';
import type { RunReader } from './run-reader';

/** Requests for listings and metadata under way at once. */
const concurrency = 16;

/** What became of one cluster x resource in a run. */
export interface ListedOutcome extends HeldOutcome {
  readonly run: Date;
  readonly late: boolean;
}

export interface OutcomeScope {
  /** Left out: all. */
  readonly resource?: Resource | undefined;
  /** Left out: all. */
  readonly clusters?: ClusterFilter | undefined;
}

/** The outcomes that are asked for, as recorded. */
export function askedOf(
  { outcomes }: Pick<ClusterRecord, 'outcomes'>,
  { resource, clusters }: OutcomeScope,
): readonly RunOutcome[] {
  return outcomes.filter(
    (one) => clusters?.matches(one.cluster) !== false && (resource ?? one.resource) === one.resource,
  );
}

/**
 * The outcomes of a run, as far as they are asked for, held against what lies there.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* outcomesOf(
  reader: RunReader,
  { run, outcomes, records }: Pick<ClusterRecord, 'run' | 'outcomes' | 'records'>,
  scope: OutcomeScope = {},
): AsyncGenerator<ListedOutcome> {
  const complete = (held: HeldOutcome) => withMetadata(reader.archive, held);
  const hold = (outcome: RunOutcome) => {
    const held = reader.held.outcome({ records }, outcome);
    return types.isPromise(held) ? held.then(complete) : complete(held);
  };
  for await (const outcome of mapConcurrently(askedOf({ outcomes }, scope), concurrency, hold))
    yield Object.assign(outcome, { run, late: isLate(run, outcome.fetchedAt) });
}

/** An outcome with what a record lacks and the object's own metadata has. */
function withMetadata(archive: ArchiveReader, outcome: HeldOutcome): HeldOutcome | Promise<HeldOutcome> {
  const { key, sha256 } = outcome;
  // A run record may name any key: one that an archive cannot have is not looked up.
  if (key === undefined || sha256 !== undefined || parseObjectKey(key) === undefined) return outcome;
  return readMissing(archive, outcome, key);
}

async function readMissing(archive: ArchiveReader, outcome: HeldOutcome, key: string): Promise<HeldOutcome> {
  const facts = await factsOf(archive, key);
  if (facts === undefined) return outcome;
  const { length: bytes, fetchedAt, sha256: own, logSha256, state, doubt } = facts;
  return { ...outcome, bytes, fetchedAt: fetchedAt?.toISOString(), sha256: own, logSha256, state, doubt };
}

/** The metadata of an object; undefined if it is absent or malformed, or the object is not there. */
export async function factsOf(archive: ArchiveReader, key: string): Promise<ObjectFacts | undefined> {
  const head = await archive.head(key);
  return head && readObjectMetadata(head.metadata);
}
