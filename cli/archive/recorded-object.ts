import { readObjectMetadata } from '../../lambda/archive/object-metadata';
import type { Resource } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import { underWayMs } from '../../lambda/time-limits';
import type { ArchiveReader, ObjectHead } from '../../lambda/verify/archive-reader';
import { contradiction } from '../../lambda/verify/check-object';
import { Expiry } from '../../lambda/verify/expiry';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { firstOf, newestFirst } from '../../lambda/verify/newest-first';
import { type ClusterObject, clusterObjects } from '../../lambda/verify/objects-between';
import { readStoredRun } from '../../lambda/verify/read-run';
import { type ListedRun, type Period, runsBetween } from '../../lambda/verify/run-keys';
import { runsAfter, type SeenRun, seenRun } from '../../lambda/verify/seen-run';
import { StoredConfigurations } from '../../lambda/verify/stored-configurations';
import { type ClusterRecord, readClusterRecord } from './cluster-record';
import { byRun } from './list-outcomes';

/** What the run records say of an object that a command shows. */
export interface Remark {
  /** `note`: worth a word, and no damage. `unreadable`: a run record that may name it could not be read. */
  readonly kind: 'damage' | 'unreadable' | 'note';
  readonly text: string;
}

/** One run of one cluster: what lies there of a resource, and what the run's records say of it. */
export interface RecordedRun {
  readonly run: Date;
  /** Undefined: nothing lies there. */
  readonly object: ClusterObject | undefined;
  /** Undefined: the run has no record. */
  readonly record: ClusterRecord | undefined;
  /** What the object says about itself. */
  readonly head: ObjectHead | undefined;
  readonly remark: Remark | undefined;
}

interface ListedOfRun {
  readonly run: Date;
  readonly listed?: ListedRun;
  readonly object?: ClusterObject;
}

/** Runs whose records are read at once. */
const recordsAtOnce = 8;

/** Holds objects against their run records, as `verify` does. */
export class RecordedObjects {
  readonly #reader: ArchiveReader;
  readonly #now: Date;

  /** @param now the archive's own time, where it has a clock */
  constructor(reader: ArchiveReader, now: Date) {
    this.#reader = reader;
    this.#now = now;
  }

  /** What the records of an object's run say of its cluster; undefined: the run has none. @throws ArchiveReadError */
  async recordOf({ run, cluster }: Pick<ClusterObject, 'run' | 'cluster'>): Promise<ClusterRecord | undefined> {
    const listed = await firstOf(runsBetween(this.#reader, { from: run, to: run }));
    return listed && readClusterRecord(this.#reader, listed, cluster);
  }

  /**
   * Undefined if a record says that it was archived, with the same hash.
   * @param record of its run; undefined: the run has none
   * @param head what the object says about itself; undefined: it is not there
   * @throws ArchiveReadError
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

  /**
   * The runs of a period that have a record or an object of a cluster, oldest first.
   * @throws ArchiveReadError
   */
  runs(resource: Resource, cluster: string, period: Period): AsyncGenerator<RecordedRun> {
    return this.#judged(this.#listed(resource, cluster, period), cluster);
  }

  /** The same, newest first. */
  runsNewestFirst(resource: Resource, cluster: string, period: Period): AsyncGenerator<RecordedRun> {
    const list = (part: Period) => this.#listed(resource, cluster, part);
    return this.#judged(newestFirst(list, period, this.#now), cluster);
  }

  async *#listed(resource: Resource, cluster: string, period: Period): AsyncGenerator<ListedOfRun> {
    const reader = this.#reader;
    let last: ListedOfRun | undefined;
    const sources = [runsBetween(reader, period), clusterObjects(reader, resource, cluster, period)];
    for await (const item of byRun<ListedRun | ClusterObject>(sources)) {
      const own = 'key' in item ? { object: item } : { listed: item };
      const isNext = last === undefined || last.run.getTime() !== item.run.getTime();
      if (last !== undefined && isNext) yield last;
      last = { ...(isNext ? {} : last), run: item.run, ...own };
    }
    if (last !== undefined) yield last;
  }

  #judged(listed: AsyncGenerator<ListedOfRun>, cluster: string): AsyncGenerator<RecordedRun> {
    return mapConcurrently(listed, recordsAtOnce, async ({ run, listed: records, object }) => {
      const record = records && (await readClusterRecord(this.#reader, records, cluster));
      const head = object && (await this.#reader.head(object.key));
      return { run, object, record, head, remark: object && (await this.remarkOn(object, record, head)) };
    });
  }

  /** By the configurations that were in force since. Only an object that no record has is worth the reading of later runs. */
  #mayHaveExpired({ run, writtenAt }: ClusterObject): Promise<boolean> {
    const reader = this.#reader;
    const configurations = new StoredConfigurations(reader, () => {});
    const later = async function* (): AsyncGenerator<SeenRun> {
      for await (const listed of runsAfter(reader, { to: run }))
        yield seenRun(await readStoredRun(reader, listed), configurations);
    };
    return new Expiry({ reader, configurations, now: this.#now, later }).mayHaveRemoved(writtenAt);
  }
}
