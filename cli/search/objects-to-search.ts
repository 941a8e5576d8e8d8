import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { clusterObjects } from '../../lambda/verify/objects-between';
import type { FleetScope } from '../archive/fleet-changes';
import { isMissing, type JoinedLog, joinLogs } from '../archive/join-logs';
import { isAbsent, type RunReader } from '../archive/run-reader';
import { selectPeriod } from '../archive/select-runs';
import type { SearchedObject } from './search-object';

/** Clusters whose logs are joined at once. */
const joinedAtOnce = 8;

/** Finds the objects to search, run by run, and counts them. */
export class ObjectsToSearch {
  objects = 0;
  /** Runs that were searched, and the first and the last of them. */
  runs = 0;
  oldest: Date | undefined;
  newest: Date | undefined;
  /** Outcomes without an object in these runs and clusters, as far as run records were read. */
  notArchived = 0;
  /** Clusters whose logs could not be read to the end: only those before that are searched. */
  readonly notJoined: { readonly cluster: string; readonly problem: string }[] = [];
  readonly #reader: RunReader;
  readonly #scope: FleetScope;

  constructor(reader: RunReader, scope: FleetScope) {
    this.#reader = reader;
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

  /** One cluster: from its own part of the archive, without the run records, which are large in a large fleet. */
  async *#ofCluster(cluster: string): AsyncGenerator<SearchedObject> {
    const { archive, now } = this.#reader;
    const period = await selectPeriod(archive, this.#scope.selection, now);
    if (period === undefined) return;
    for await (const object of clusterObjects(archive, this.#scope.resource, cluster, period)) {
      this.#note(object.run);
      yield object;
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
        if (key === undefined) this.notArchived += 1;
        else yield { key, cluster, resource, run: row.run };
      }
    }
  }

  #note(run: Date): void {
    this.runs += 1;
    this.oldest ??= run;
    this.newest = run;
  }
}

/** What adds nothing is read for its problems alone. */
function searched(cluster: string, { key, run, link, added }: JoinedLog): SearchedObject {
  const bytes = added?.lineFrom ?? Number.POSITIVE_INFINITY;
  return { key, cluster, resource: 'log', run, from: { bytes, lines: link.lines - (added?.added ?? 0) } };
}
