import type { Resource } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import { ArchiveReadError, mapConcurrently } from '../../archive/read';
import { hashesOf } from '../archive/changes';
import { isMissing, joinLogs, type LinkedLog, linesAbove } from '../archive/join-logs';
import type { OutcomeScope } from '../archive/list-outcomes';
import type { RunReader } from '../archive/run-reader';
import type { RunSelection } from '../archive/select-runs';
import type { LinePattern } from './line-pattern';
import { type ObjectSearch, remarkOn, type SearchedObject, searchObject } from './search-object';

interface SearchScope extends OutcomeScope {
  readonly resource: Resource;
  readonly selection: RunSelection;
}

/** Clusters whose logs are joined at once. */
const joinedAtOnce = 8;

/** Finds the objects to search, run by run, and counts them. */
export class ObjectsToSearch {
  objects = 0;
  /** Outcomes without an object in these runs and clusters. */
  notArchived = 0;
  readonly #reader: RunReader;
  readonly #scope: SearchScope;
  /** Of each cluster the last text in which no line matches: it is not read again. */
  readonly #silent = new Map<string, string | undefined>();

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
        yield { cluster, resource, run, recorded: hashesOf(outcome) };
      }
  }

  /**
   * The logs cluster by cluster, each from where it is new. Clusters whose logs have no line that matches are left out: only
   * the others are joined.
   */
  async *listJoined(pattern: LinePattern): AsyncGenerator<SearchedObject> {
    const clusters = new Map<string, SearchedObject[]>();
    for await (const log of this.list()) {
      const own = clusters.get(log.cluster) ?? [];
      clusters.set(log.cluster, own);
      own.push(log);
    }
    const join = ([cluster, logs]: readonly [string, readonly SearchedObject[]]) => this.#join(cluster, logs, pattern);
    for await (const found of mapConcurrently(clusters, joinedAtOnce, join)) yield* found;
  }

  /** What cannot be joined is searched as it is: then it is said what is wrong with it. */
  async #join(
    cluster: string,
    logs: readonly SearchedObject[],
    pattern: LinePattern,
  ): Promise<readonly SearchedObject[]> {
    if (!(await this.#mayMatch(logs, pattern))) return [];
    const parts: SearchedObject['parts'][] = [];
    try {
      for await (const joined of joinLogs(this.#reader, cluster, logs, this.#scope.clusters?.uid === undefined))
        parts.push(isMissing(joined) ? undefined : newIn(joined));
    } catch (error) {
      if (!(error instanceof ArchiveReadError)) throw error;
    }
    return logs.map((log, at) => ({ ...log, parts: parts[at] }));
  }

  /** Whether any of a cluster's logs has a line that matches, or is not what its run record says. */
  async #mayMatch(logs: readonly SearchedObject[], pattern: LinePattern): Promise<boolean> {
    for (const log of logs) {
      if (await this.isSilent(log)) continue;
      const search = await searchObject(this.#reader, log, { pattern, context: 0, formatOf: () => () => '' });
      for await (const _ of search.output) if (search.lines.matches > 0) break;
      if (!this.note(search)) return true;
    }
    return false;
  }

  /** Whether the cluster's text that was searched before is the same, no line of it matches, and this one is there too. */
  async isSilent(log: SearchedObject): Promise<boolean> {
    const { logSha256 } = log.recorded;
    return (
      logSha256 !== undefined && this.#silent.get(log.cluster) === logSha256 && (await this.#reader.held.isThere(log))
    );
  }

  /** Takes note of a search that is at its end. @returns whether no line matches, and the object is what was archived */
  note(search: ObjectSearch): boolean {
    const { cluster, recorded, parts } = search.object;
    const isSilent = search.lines.matches === 0 && remarkOn(search) === undefined;
    // Of a part of a text it does not say anything.
    this.#silent.set(cluster, isSilent && parts === undefined ? recorded.logSha256 : undefined);
    return isSilent;
  }
}

/** What of a log is new. One that adds nothing is read for its problems alone. */
function newIn({ link, added }: LinkedLog): NonNullable<SearchedObject['parts']> {
  if (added === undefined) return { above: { from: 0, to: 0 }, below: Number.POSITIVE_INFINITY, lines: link.lines };
  return { above: linesAbove(added), below: added.lineFrom, lines: link.lines - added.added };
}
