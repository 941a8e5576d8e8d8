import { createHash } from 'node:crypto';
import { isStored, type Outcome } from '../../lambda/run/run-record';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { clusterObjects } from '../../lambda/verify/objects-between';
import type { FleetScope } from '../archive/fleet-changes';
import { isMissing, type JoinedLog, joinLogs } from '../archive/join-logs';
import { RecordedObjects, type Remark } from '../archive/recorded-object';
import { isAbsent, type RunReader } from '../archive/run-reader';
import { selectPeriod } from '../archive/select-runs';
import type { SearchedObject } from './search-object';

/** Clusters whose logs are joined at once. */
const joinedAtOnce = 8;

/** Finds the objects to search, run by run, counts them, and holds them against the run records. */
export class ObjectsToSearch {
  objects = 0;
  /** Runs that were searched, and the first and the last of them. */
  runs = 0;
  oldest: Date | undefined;
  newest: Date | undefined;
  /** Outcomes without an object in these runs and clusters. */
  notArchived = 0;
  readonly #recorded: RecordedObjects;
  /** Of each object that a run record has a hash for, its key and that hash, as a number. */
  readonly #hashes = new Set<number>();
  /** Clusters whose logs could not be read to the end: only those before that are searched. */
  readonly notJoined: { readonly cluster: string; readonly problem: string }[] = [];
  readonly #reader: RunReader;
  readonly #scope: FleetScope;

  constructor(reader: RunReader, scope: FleetScope) {
    this.#reader = reader;
    this.#recorded = new RecordedObjects(reader.archive, reader.now);
    this.#scope = scope;
  }

  /**
   * @param isJoined search each line of a log once, under the first run that has it
   * @throws NoSuchRunError if one run was asked for and is not there
   */
  async *list(isJoined: boolean): AsyncGenerator<SearchedObject> {
    for await (const object of isJoined ? this.#joined() : this.#archived()) {
      this.objects += 1;
      yield object;
    }
  }

  /** The same objects cluster by cluster, each from where it is new. */
  async *#joined(): AsyncGenerator<SearchedObject> {
    const clusters = new Set<string>();
    for await (const { cluster } of this.#archived()) clusters.add(cluster);
    const { archive, now } = this.#reader;
    const { oldest: from, newest: to } = this;
    const join = async (cluster: string) => {
      const found: SearchedObject[] = [];
      try {
        for await (const joined of joinLogs(archive, cluster, { from, to }, false, now))
          if (!isMissing(joined)) found.push(searched(cluster, joined));
      } catch (error) {
        // One cluster that cannot be read must not hide what the others have.
        this.notJoined.push({ cluster, problem: (error as Error).message });
      }
      return found;
    };
    for await (const found of mapConcurrently(clusters, joinedAtOnce, join)) yield* found;
  }

  #archived(): AsyncGenerator<SearchedObject> {
    const uid = this.#scope.clusters?.uid;
    return uid === undefined ? this.#ofRuns() : this.#ofCluster(uid);
  }

  /**
   * What the run records say of an object; undefined: what it says of itself.
   * @param sha256 of its content
   */
  async remarkOn({ key, cluster, resource, run }: SearchedObject, sha256: string): Promise<Remark | undefined> {
    if (this.#hashes.has(fingerprint(key, sha256))) return undefined;
    const objects = clusterObjects(this.#reader.archive, resource, cluster, { from: run, to: run });
    for await (const object of objects)
      if (object.key === key)
        return this.#recorded.remarkOn(
          object,
          await this.#recorded.recordOf(object),
          await this.#reader.archive.head(key),
        );
    return undefined;
  }

  /** One cluster: of the run records, which are large in a large fleet, only its own lines. */
  async *#ofCluster(cluster: string): AsyncGenerator<SearchedObject> {
    const { archive, now } = this.#reader;
    const { resource, selection } = this.#scope;
    const period = await selectPeriod(archive, selection, now);
    if (period === undefined) return;
    for await (const { run, object, record } of this.#recorded.runs(resource, cluster, period)) {
      this.#note(run);
      const outcome = record?.outcomes.find((one) => one.resource === resource);
      if (outcome !== undefined) this.#keep(outcome);
      if (object !== undefined) yield object;
      else if (outcome !== undefined) this.notArchived += 1;
    }
  }

  async *#ofRuns(): AsyncGenerator<SearchedObject> {
    const { resource, clusters, selection } = this.#scope;
    for await (const row of this.#reader.select(selection)) {
      if (isAbsent(row)) continue;
      this.#note(row.run);
      for (const outcome of row.outcomes) {
        const { cluster, key } = outcome;
        if (outcome.resource !== resource || clusters?.matches(cluster) === false) continue;
        this.#keep(outcome);
        if (key === undefined) this.notArchived += 1;
        else yield { key, cluster, resource, run: row.run };
      }
    }
  }

  #keep(outcome: Outcome): void {
    const { key, sha256 } = outcome;
    if (isStored(outcome) && key !== undefined && sha256 !== undefined) this.#hashes.add(fingerprint(key, sha256));
  }

  #note(run: Date): void {
    this.runs += 1;
    this.oldest ??= run;
    this.newest = run;
  }
}

/** Six bytes of a hash: of millions of objects, none is taken for another by chance. */
function fingerprint(key: string, sha256: string): number {
  return createHash('sha256').update(`${sha256} ${key}`).digest().readUIntBE(0, 6);
}

/** What adds nothing is read for its problems alone. */
function searched(cluster: string, { key, run, link, added }: JoinedLog): SearchedObject {
  const bytes = added?.lineFrom ?? Number.POSITIVE_INFINITY;
  return { key, cluster, resource: 'log', run, from: { bytes, lines: link.lines - (added?.added ?? 0) } };
}
