import { type ObjectFacts, readObjectMetadata } from '../../lambda/archive/object-metadata';
import type { Resource } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import { underWayMs } from '../../lambda/time-limits';
import type { ArchiveReader, ObjectHead } from '../../lambda/verify/archive-reader';
import { contradiction } from '../../lambda/verify/check-object';
import { Expiry } from '../../lambda/verify/expiry';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { firstOf } from '../../lambda/verify/newest-first';
import { type ClusterObject, clusterObjects } from '../../lambda/verify/objects-between';
import { readStoredRun } from '../../lambda/verify/read-run';
import { type ListedRun, type Period, runsBetween } from '../../lambda/verify/run-keys';
import { readChain } from '../../lambda/verify/seals/read-chain';
import { SealedArchive } from '../../lambda/verify/seals/sealed-archive';
import { runsAfter, type SeenRun, seenRun } from '../../lambda/verify/seen-run';
import { StoredConfigurations } from '../../lambda/verify/stored-configurations';
import { type ClusterRecord, readClusterRecord, recordsOf } from './cluster-record';
import { byRun } from './list-outcomes';
import type { OpenedArchive } from './open-archive';

/** What the run records say of an object that a command shows. */
export interface Remark {
  /** `note`: worth a word, and no damage. `unreadable`: a run record that may name it could not be read. */
  readonly kind: 'damage' | 'unreadable' | 'note';
  readonly text: string;
}

/** One run of one cluster: what lies there of a resource, and what the run's records say of the cluster. */
export interface RecordedRun {
  readonly run: Date;
  /** Undefined: nothing lies there. */
  readonly object: ClusterObject | undefined;
  /** Undefined: the run has no record. */
  readonly record: ClusterRecord | undefined;
}

/** An object with what it says about itself, and what its run's records say of it. */
export interface RecordedObject extends ClusterObject {
  /** Undefined: its metadata is absent or malformed, or it is no longer there. */
  readonly facts: ObjectFacts | undefined;
  readonly remark: Remark | undefined;
}

interface ReadObject extends Pick<RecordedRun, 'record'> {
  readonly object: ClusterObject;
  readonly head: ObjectHead | undefined;
}

/** Runs whose records are read at once. */
const recordsAtOnce = 8;

/** Holds objects against their run records, as `verify` does. Every method @throws ArchiveReadError */
export class RecordedObjects {
  readonly #reader: ArchiveReader;
  readonly #now: Date;
  #sealed: Promise<SealedArchive> | undefined;

  constructor({ archive, now }: Pick<OpenedArchive, 'archive' | 'now'>) {
    this.#reader = archive;
    this.#now = now;
  }

  /** The runs of a period that have a record or an object of a cluster, oldest first. */
  runs(resource: Resource, cluster: string, period: Period): AsyncGenerator<RecordedRun> {
    return mapConcurrently(this.#listed(resource, cluster, period), recordsAtOnce, async ({ listed, ...found }) => {
      return { ...found, record: listed && (await readClusterRecord(this.#reader, listed, cluster)) };
    });
  }

  /**
   * How many bytes, as stored, are read of a period at most: of the records that may name a cluster, and of its objects.
   * @param resource undefined: no object is read
   */
  async bytes(resource: Resource | undefined, cluster: string, period: Period): Promise<number> {
    let bytes = 0;
    for await (const { records } of runsBetween(this.#reader, period))
      for (const { storedBytes } of recordsOf(records, cluster)) bytes += storedBytes;
    if (resource === undefined) return bytes;
    for await (const { storedBytes } of clusterObjects(this.#reader, resource, cluster, period)) bytes += storedBytes;
    return bytes;
  }

  /** The same as `runs`, without those that have no object, and without records, which are not read. */
  async *objects(resource: Resource, cluster: string, period: Period): AsyncGenerator<RecordedRun> {
    for await (const object of clusterObjects(this.#reader, resource, cluster, period))
      yield { run: object.run, object, record: undefined };
  }

  /** @param record of its run, if it has been read */
  async describe(object: ClusterObject, record?: ClusterRecord): Promise<RecordedObject> {
    const { run, cluster, key } = object;
    const listed = record ?? (await firstOf(runsBetween(this.#reader, { from: run, to: run })));
    const own = listed && ('outcomes' in listed ? listed : await readClusterRecord(this.#reader, listed, cluster));
    const head = await this.#reader.head(key);
    const facts = head && readObjectMetadata(head.metadata);
    return { ...object, facts, remark: await this.remarkOn(object, own, head) };
  }

  /** The same of an object that was read. @param head undefined: it is damaged, so it did not say what it is */
  async remarkOnRead({ object, record, head }: ReadObject): Promise<Remark | undefined> {
    return head === undefined ? (await this.describe(object, record)).remark : this.remarkOn(object, record, head);
  }

  /**
   * Undefined if a record says that it was archived, with the same hash.
   * @param record of its run; undefined: the run has none
   * @param head what the object says about itself; undefined: it is not there
   */
  async remarkOn(
    object: ClusterObject,
    record: ClusterRecord | undefined,
    head: ObjectHead | undefined,
  ): Promise<Remark | undefined> {
    const outcome = record?.outcomes.find(({ resource }) => resource === object.resource);
    const facts = head && readObjectMetadata(head.metadata);
    if (outcome !== undefined && isStored(outcome) && outcome.key === object.key) {
      if (head === undefined || facts === undefined)
        return { kind: 'damage', text: 'its metadata is absent or malformed' };
      const problem = contradiction({ ...head, facts }, outcome)?.problem;
      if (problem !== undefined) return { kind: 'damage', text: problem };
      return outcome.sha256 === undefined ? { kind: 'note', text: 'no run record has its hash' } : undefined;
    }
    const [bad] = record?.badRecords ?? [];
    if (bad?.kind === 'unreadable') return { kind: 'unreadable', text: `its run record ${bad.key}: ${bad.problem}` };
    if (this.#now.getTime() - object.writtenAt.getTime() < underWayMs)
      return { kind: 'note', text: 'no run record has it yet; it was written a short time ago' };
    if (await this.#mayHaveExpired(object)) return { kind: 'note', text: 'its run record has expired' };
    if (bad !== undefined) return { kind: 'damage', text: `its run record ${bad.key}: ${bad.problem}` };
    const reason = outcome && [outcome.outcome, outcome.httpStatus].filter((part) => part !== undefined).join(', ');
    const text = reason === undefined ? 'no run record says that it was archived' : `the run record says: ${reason}`;
    return { kind: 'damage', text };
  }

  async *#listed(resource: Resource, cluster: string, period: Period) {
    const reader = this.#reader;
    let last: { run: Date; listed: ListedRun | undefined; object: ClusterObject | undefined } | undefined;
    const sources = [runsBetween(reader, period), clusterObjects(reader, resource, cluster, period)];
    for await (const item of byRun<ListedRun | ClusterObject>(sources)) {
      if (last?.run.getTime() !== item.run.getTime()) {
        if (last !== undefined) yield last;
        last = { run: item.run, listed: undefined, object: undefined };
      }
      if ('key' in item) last.object = item;
      else last.listed = item;
    }
    if (last !== undefined) yield last;
  }

  /** By the seals, and by the configurations where no seal can tell. Only for an object that no record has are they read. */
  async #mayHaveExpired({ run, writtenAt, key }: ClusterObject): Promise<boolean> {
    const [reader, now] = [this.#reader, this.#now];
    this.#sealed ??= readChain(reader, {}, () => {}).then((chain) => new SealedArchive(chain, () => {}, { now }));
    const bySeals = (await this.#sealed).mayHaveRemoved(writtenAt, key);
    if (bySeals !== undefined) return bySeals;
    const configurations = new StoredConfigurations(reader, () => {});
    const later = async function* (): AsyncGenerator<SeenRun> {
      for await (const listed of runsAfter(reader, { to: run }))
        yield seenRun(await readStoredRun(reader, listed), configurations);
    };
    return new Expiry({ reader, configurations, now, later }).mayHaveRemoved(writtenAt);
  }
}
