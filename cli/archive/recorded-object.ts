import { settled } from '../../archive/format/clocks';
import type { Finding } from '../../archive/format/finding';
import { type ObjectFacts, readObjectMetadata } from '../../archive/format/object-metadata';
import { problems } from '../../archive/format/problems';
import { isStored, type RunOutcome } from '../../archive/format/run-record';
import { contradiction, describePending, Expiry, readChain } from '../../archive/prove';
import {
  type ArchiveReader,
  type ClusterObject,
  firstOf,
  type ObjectHead,
  readClusterRecord,
  runsBetween,
  StoredConfigurations,
} from '../../archive/read';
import type { OpenedArchive } from './open-archive';

/** What is wrong with something that a command reads, as `verify` would find it, or as a seal has it open. */
export interface Remark extends Omit<Finding, 'kind'> {
  /** That of a finding, or `note`: worth a word, and not damage. */
  readonly kind: Finding['kind'] | 'note';
}

/** An object with what it says about itself, and what its run's records say of it. */
export interface RecordedObject extends ClusterObject {
  /** Undefined: its metadata is absent or malformed, or it is no longer there. */
  readonly facts: ObjectFacts | undefined;
  readonly remark: Remark | undefined;
}

/** Holds an object of a listing against its run's records, as `verify` does. @throws ArchiveReadError */
export async function recordedObject(
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  object: ClusterObject,
): Promise<RecordedObject> {
  const { run, cluster, key } = object;
  const listed = await firstOf(runsBetween(archive, { from: run, to: run }));
  const { outcomes = [], badRecords = [] } =
    listed === undefined ? {} : await readClusterRecord(archive, listed, cluster);
  const outcome = outcomes.find(({ resource }) => resource === object.resource);
  const head = await archive.head(key);
  const facts = head && readObjectMetadata(head.metadata);
  const remarkOn = async (): Promise<Remark | undefined> => {
    if (outcome !== undefined && isStored(outcome) && outcome.key === key) return remarkOnRecorded(key, outcome, head);
    const [bad] = badRecords;
    if (bad?.kind === 'unreadable') return bad;
    const isRefused = outcome !== undefined && !isStored(outcome) && bad === undefined;
    const pending = describePending(object, settled(now), isRefused ? listed?.records : []);
    if (pending !== undefined) return { kind: 'pending', key, problem: pending };
    if (await mayHaveExpired(archive, now, object)) return { kind: 'note', key, problem: problems.recordExpired };
    if (bad !== undefined) return bad;
    const reason = outcome && [outcome.outcome, outcome.httpStatus].filter((part) => part !== undefined).join(', ');
    const problem = reason === undefined ? problems.unrecorded : `the run record says: ${reason}`;
    return { kind: 'unrecorded', key, problem };
  };
  return { ...object, facts, remark: await remarkOn() };
}

/**
 * What an object says about itself against the record that says that it was archived; undefined: the same.
 * @param head undefined: it is not there
 */
export function remarkOnRecorded(key: string, outcome: RunOutcome, head: ObjectHead | undefined): Remark | undefined {
  const facts = head && readObjectMetadata(head.metadata);
  if (head === undefined || facts === undefined) return { kind: 'damaged', key, problem: problems.badMetadata };
  const different = contradiction({ ...head, facts }, outcome);
  if (different !== undefined) return { key, ...different };
  return outcome.sha256 === undefined ? { kind: 'note', key, problem: problems.withoutHash } : undefined;
}

/** Whether the lifecycle may have removed the record: by the seals, and by the configurations where no seal can tell. */
async function mayHaveExpired(reader: ArchiveReader, now: Date, object: ClusterObject): Promise<boolean> {
  const chain = await readChain(reader, {}, () => {});
  const configurations = new StoredConfigurations(reader);
  return new Expiry({ reader, configurations, chain, now }).mayHaveRemoved(object);
}
