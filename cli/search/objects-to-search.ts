import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { isMissing, type JoinedLog, joinLogs } from '../archive/join-logs';
import { listOutcomes, type OutcomeScope } from '../archive/list-outcomes';
import { isAbsent, type RunReader } from '../archive/run-reader';
import type { SearchedObject } from './search-object';

/** Clusters whose logs are joined at once. */
const joinedAtOnce = 8;

/** Finds the objects to search, run by run, and counts them. */
export class ObjectsToSearch {
  objects = 0;
  /** Outcomes without an object in these runs and clusters. */
  notArchived = 0;
  readonly #reader: RunReader;
  readonly #scope: OutcomeScope;

  constructor(reader: RunReader, scope: OutcomeScope) {
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
    let from: Date | undefined;
    let to: Date | undefined;
    for await (const { cluster, run } of this.#archived()) {
      clusters.add(cluster);
      from ??= run;
      to = run;
    }
    const { archive, now } = this.#reader;
    const join = async (cluster: string) => {
      const found: SearchedObject[] = [];
      for await (const joined of joinLogs(archive, { cluster, period: { from, to }, hold: 0, now }))
        if (!isMissing(joined)) found.push(searched(cluster, joined));
      return found;
    };
    for await (const found of mapConcurrently(clusters, joinedAtOnce, join)) yield* found;
  }

  async *#archived(): AsyncGenerator<SearchedObject> {
    for await (const outcome of listOutcomes(this.#reader, this.#scope)) {
      if (isAbsent(outcome)) continue;
      const { key, cluster, resource, run } = outcome;
      if (key === undefined) this.notArchived += 1;
      else yield { key, cluster, resource, run };
    }
  }
}

/** What adds nothing is read for its problems alone. */
function searched(cluster: string, { key, run, link, added }: JoinedLog): SearchedObject {
  const bytes = added?.lineFrom ?? Number.POSITIVE_INFINITY;
  return { key, cluster, resource: 'log', run, from: { bytes, lines: link.lines - (added?.added ?? 0) } };
}
