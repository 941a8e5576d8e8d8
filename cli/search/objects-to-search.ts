import type { Resource } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { type BadRecord, readRun } from '../../lambda/verify/read-run';
import type { ClusterFilter } from '../archive/cluster-filter';
import { clusterObjects } from '../archive/cluster-objects';
import { isMissing, type JoinedLog, joinLogs } from '../archive/join-logs';
import { type RunSelection, selectPeriod, selectRuns } from '../archive/select-runs';
import type { SearchedObject } from './search-object';

export interface SearchScope {
  readonly resource: Resource;
  readonly selection: RunSelection;
  /** Left out: all clusters. */
  readonly clusters?: ClusterFilter | undefined;
  /** Search each line of a log once, under the first run that has it. */
  readonly joined: boolean;
}

/** Clusters whose logs are joined at once. */
const joinedAtOnce = 8;

/** Finds the objects to search, run by run, and keeps what is known about them. */
export class ObjectsToSearch {
  objects = 0;
  runs = 0;
  oldestRun: Date | undefined;
  newestRun: Date | undefined;
  /** Outcomes without an object in these runs and clusters, as far as run records were read. */
  notArchived = 0;
  readonly badRecords: BadRecord[] = [];
  readonly #reader: ArchiveReader;
  readonly #scope: SearchScope;
  readonly #now: Date;

  constructor(reader: ArchiveReader, scope: SearchScope, now: Date) {
    this.#reader = reader;
    this.#scope = scope;
    this.#now = now;
  }

  /** @throws NoSuchRunError if one run was asked for and is not there */
  async *list(): AsyncGenerator<SearchedObject> {
    const uid = this.#scope.clusters?.uid;
    const objects = uid === undefined ? this.#ofRuns() : this.#ofCluster(uid);
    for await (const object of this.#scope.joined ? this.#joined(objects) : objects) {
      this.objects += 1;
      yield object;
    }
  }

  /** The same objects cluster by cluster, each from where it is new. */
  async *#joined(objects: AsyncIterable<SearchedObject>): AsyncGenerator<SearchedObject> {
    const clusters = new Set<string>();
    for await (const { cluster } of objects) clusters.add(cluster);
    const { from, to } = { from: this.oldestRun, to: this.newestRun };
    const join = async (cluster: string) => {
      const found: SearchedObject[] = [];
      const options = { cluster, period: { from, to }, hold: 0, now: this.#now };
      for await (const joined of joinLogs(this.#reader, options))
        if (!isMissing(joined)) found.push(searched(cluster, joined));
      return found;
    };
    for await (const found of mapConcurrently(clusters, joinedAtOnce, join)) yield* found;
  }

  /** One cluster: from its own part of the archive, without the run records, which are large in a large fleet. */
  async *#ofCluster(cluster: string): AsyncGenerator<SearchedObject> {
    const { resource, selection } = this.#scope;
    const period = await selectPeriod(this.#reader, selection, this.#now);
    if (period === undefined) return;
    for await (const object of clusterObjects(this.#reader, resource, cluster, period)) {
      this.#noteRun(object.run);
      yield object;
    }
  }

  async *#ofRuns(): AsyncGenerator<SearchedObject> {
    const { resource, selection, clusters } = this.#scope;
    for await (const listed of selectRuns(this.#reader, selection, this.#now)) {
      const { run, outcomes, badRecords } = await readRun(this.#reader, listed);
      this.#noteRun(run);
      for (const bad of badRecords) this.badRecords.push(bad);
      for (const { cluster, key, ...outcome } of outcomes) {
        if (outcome.resource !== resource || clusters?.matches(cluster) === false) continue;
        if (isStored(outcome) && key !== undefined) yield { key, cluster, resource, run };
        else this.notArchived += 1;
      }
    }
  }

  #noteRun(run: Date): void {
    this.runs += 1;
    this.oldestRun ??= run;
    this.newestRun = run;
  }
}

/** What adds nothing is read for its problems alone. */
function searched(cluster: string, { key, run, link, added }: JoinedLog): SearchedObject {
  const bytes = added?.lineFrom ?? Number.POSITIVE_INFINITY;
  return { key, cluster, resource: 'log', run, from: { bytes, lines: link.lines - (added?.added ?? 0) } };
}
