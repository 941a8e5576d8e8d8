import type { Resource } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type BadRecord, readRun } from '../../lambda/verify/read-run';
import type { ClusterFilter } from '../archive/cluster-filter';
import { clusterObjects } from '../archive/cluster-objects';
import { type RunSelection, selectPeriod, selectRuns } from '../archive/select-runs';
import type { SearchedObject } from './search-object';

export interface SearchScope {
  readonly resource: Resource;
  readonly selection: RunSelection;
  /** Left out: all clusters. */
  readonly clusters?: ClusterFilter | undefined;
}

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
    for await (const object of uid === undefined ? this.#ofRuns() : this.#ofCluster(uid)) {
      this.objects += 1;
      yield object;
    }
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
