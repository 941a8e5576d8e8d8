import { type ObjectFacts, readObjectMetadata } from '../../lambda/archive/object-metadata';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import { settled } from '../../lambda/time-limits';
import type { ArchiveReader, ObjectHead } from '../../lambda/verify/archive-reader';
import { contradiction, describePending } from '../../lambda/verify/check-object';
import { Expiry } from '../../lambda/verify/expiry';
import { firstOf } from '../../lambda/verify/newest-first';
import type { ClusterObject } from '../../lambda/verify/objects-between';
import { readClusterRecord } from '../../lambda/verify/record-lines';
import { runsBetween } from '../../lambda/verify/run-keys';
import { readChain } from '../../lambda/verify/seals/read-chain';
import { SealedArchive } from '../../lambda/verify/seals/sealed-archive';
import { StoredConfigurations } from '../../lambda/verify/stored-configurations';
import type { OpenedArchive } from './open-archive';

/** What the run records say of an object that a command shows. */
export interface Remark {
  /** `note`: worth a word, and no damage. `unreadable`: a run record that may name it could not be read. */
  readonly kind: 'damage' | 'unreadable' | 'note';
  readonly text: string;
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
    if (outcome !== undefined && isStored(outcome) && outcome.key === key) return remarkOnRecorded(outcome, head);
    const [bad] = badRecords;
    if (bad?.kind === 'unreadable') return { kind: 'unreadable', text: `its run record ${bad.key}: ${bad.problem}` };
    const isRefused = outcome !== undefined && !isStored(outcome) && bad === undefined;
    const pending = describePending(object, settled(now), isRefused ? listed?.records : []);
    if (pending !== undefined) return { kind: 'note', text: pending };
    if (await mayHaveExpired(archive, now, object)) return { kind: 'note', text: 'its run record has expired' };
    if (bad !== undefined) return { kind: 'damage', text: `its run record ${bad.key}: ${bad.problem}` };
    const reason = outcome && [outcome.outcome, outcome.httpStatus].filter((part) => part !== undefined).join(', ');
    const text = reason === undefined ? 'no run record says that it was archived' : `the run record says: ${reason}`;
    return { kind: 'damage', text };
  };
  return { ...object, facts, remark: await remarkOn() };
}

/**
 * What an object says about itself against the record that says that it was archived; undefined: the same.
 * @param head undefined: it is not there
 */
export function remarkOnRecorded(outcome: RunOutcome, head: ObjectHead | undefined): Remark | undefined {
  const facts = head && readObjectMetadata(head.metadata);
  if (head === undefined || facts === undefined) return { kind: 'damage', text: 'its metadata is absent or malformed' };
  const problem = contradiction({ ...head, facts }, outcome)?.problem;
  if (problem !== undefined) return { kind: 'damage', text: problem };
  return outcome.sha256 === undefined ? { kind: 'note', text: 'no run record has its hash' } : undefined;
}

/** Whether the lifecycle may have removed the record: by the seals, and by the configurations where no seal can tell. */
async function mayHaveExpired(reader: ArchiveReader, now: Date, { writtenAt, key }: ClusterObject): Promise<boolean> {
  const sealed = new SealedArchive(await readChain(reader, {}, () => {}), () => {}, { now });
  const configurations = new StoredConfigurations(reader, () => {});
  return new Expiry({ reader, configurations, sealed, now }).mayHaveRemoved(writtenAt, key);
}
