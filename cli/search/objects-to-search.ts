import { objectKey } from '../../lambda/archive/archive-layout';
import type { Resource } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { hashesOf } from '../archive/changes';
import { isMissing, type JoinedLog, joinLogs } from '../archive/join-logs';
import type { OutcomeScope } from '../archive/list-outcomes';
import type { RunReader } from '../archive/run-reader';
import type { RunSelection } from '../archive/select-runs';
import type { LinePattern } from './line-pattern';
import { isRecorded, type SearchedObject, searchObject } from './search-object';

interface SearchScope extends OutcomeScope {
  readonly resource: Resource;
  readonly selection: RunSelection;
}

/** All that is kept of an archived log: of a fleet there is no room for more. */
type RecordedLog = Pick<SearchedObject, 'run' | 'recorded'>;

/** Clusters whose logs are joined at once. */
const joinedAtOnce = 8;

/** Finds the objects to search, run by run, and counts them. */
export class ObjectsToSearch {
  objects = 0;
  /** Outcomes without an object in these runs and clusters. */
  notArchived = 0;
  /** Clusters whose logs could not be read to the end: only those before that are searched. */
  readonly notJoined: { readonly cluster: string; readonly problem: string }[] = [];
  readonly #reader: RunReader;
  readonly #scope: SearchScope;

  constructor(reader: RunReader, scope: SearchScope) {
    this.#reader = reader;
    this.#scope = scope;
  }

  /** @throws NoSuchRunError if one run was asked for and is not there */
  async *list(): AsyncGenerator<SearchedObject> {
    const { resource, clusters, selection } = this.#scope;
    for await (const { run, outcomes } of this.#reader.outcomes(selection, clusters?.uid))
      for (const outcome of outcomes) {
        const { cluster } = outcome;
        if (outcome.resource !== resource || clusters?.matches(cluster) === false) continue;
        if (!isStored(outcome)) {
          this.notArchived += 1;
          continue;
        }
        this.objects += 1;
        yield { key: objectKey({ resource, cluster, run }), cluster, resource, run, recorded: hashesOf(outcome) };
      }
  }

  /**
   * The logs cluster by cluster, each from where it is new. Clusters whose logs have no line that matches are left out: only
   * the others are joined.
   */
  async *listJoined(pattern: LinePattern): AsyncGenerator<SearchedObject> {
    const clusters = new Map<string, RecordedLog[]>();
    for await (const { cluster, run, recorded } of this.list()) {
      const own = clusters.get(cluster) ?? [];
      clusters.set(cluster, own);
      own.push({ run, recorded });
    }
    const join = ([cluster, logs]: readonly [string, readonly RecordedLog[]]) => this.#join(cluster, logs, pattern);
    for await (const found of mapConcurrently(clusters, joinedAtOnce, join)) yield* found;
  }

  async #join(cluster: string, logs: readonly RecordedLog[], pattern: LinePattern) {
    const found: SearchedObject[] = [];
    if (!(await this.#mayMatch(cluster, logs, pattern))) return found;
    try {
      for await (const joined of joinLogs(this.#reader, cluster, logs))
        if (!isMissing(joined)) found.push(searched(cluster, joined));
    } catch (error) {
      // One cluster that cannot be read must not hide what the others have.
      this.notJoined.push({ cluster, problem: (error as Error).message });
    }
    return found;
  }

  /** Whether any of a cluster's logs has a line that matches, or is not what its run record says. */
  async #mayMatch(cluster: string, logs: readonly RecordedLog[], pattern: LinePattern): Promise<boolean> {
    let last: string | undefined;
    for (const { run, recorded } of logs) {
      // A text that was searched is not read again.
      if (recorded.logSha256 !== undefined && recorded.logSha256 === last) continue;
      const name = { resource: 'log', cluster, run } as const;
      const object = { ...name, key: objectKey(name), recorded };
      const search = await searchObject(this.#reader.archive, object, { pattern, context: 0, format: () => '' });
      for await (const _ of search.output) if (search.lines.matches > 0) break;
      if (search.lines.matches > 0 || search.problem !== undefined || !isRecorded(search)) return true;
      last = recorded.logSha256;
    }
    return false;
  }
}

/** What adds nothing is read for its problems alone. */
function searched(cluster: string, joined: JoinedLog & RecordedLog): SearchedObject {
  const { key, run, recorded, link, added } = joined;
  const bytes = added?.lineFrom ?? Number.POSITIVE_INFINITY;
  return { key, cluster, resource: 'log', run, recorded, from: { bytes, lines: link.lines - (added?.added ?? 0) } };
}
