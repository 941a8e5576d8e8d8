import { objectKey } from '../../lambda/archive/archive-layout';
import { isStored, type Outcome } from '../../lambda/run/run-record';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { clusterObjects } from '../../lambda/verify/objects-between';
import type { FleetScope } from '../archive/changes';
import { isMissing, type JoinedLog, joinLogs } from '../archive/join-logs';
import { RecordedObjects, type Remark } from '../archive/recorded-object';
import { isAbsent, type RunReader } from '../archive/run-reader';
import { selectPeriod } from '../archive/select-runs';
import type { LinePattern } from './line-pattern';
import { isRecorded, type RecordedText, type SearchedObject, searchObject, shortHash } from './search-object';

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
  /** Clusters whose logs could not be read to the end: only those before that are searched. */
  readonly notJoined: { readonly cluster: string; readonly problem: string }[] = [];
  readonly #reader: RunReader;
  readonly #scope: FleetScope;

  constructor(reader: RunReader, scope: FleetScope) {
    this.#reader = reader;
    this.#recorded = new RecordedObjects(reader);
    this.#scope = scope;
  }

  /** @throws NoSuchRunError if one run was asked for and is not there */
  async *list(): AsyncGenerator<SearchedObject> {
    const uid = this.#scope.clusters?.uid;
    for await (const object of uid === undefined ? this.#ofRuns() : this.#ofCluster(uid)) {
      this.objects += 1;
      yield object;
    }
  }

  /**
   * The logs cluster by cluster, each from where it is new. Clusters whose logs have no line that matches are left out: only
   * the others are joined.
   */
  async *listJoined(pattern: LinePattern): AsyncGenerator<SearchedObject> {
    // Of each cluster the times of its runs, and by these what the records say: of a fleet that is all there is room for.
    const clusters = new Map<string, Map<number, RecordedText>>();
    for await (const { cluster, run, recorded } of this.list()) {
      const own = clusters.get(cluster) ?? new Map();
      clusters.set(cluster, own.set(run.getTime(), recorded));
    }
    const search = ([cluster, texts]: readonly [string, ReadonlyMap<number, RecordedText>]) =>
      this.#join(cluster, texts, pattern);
    for await (const found of mapConcurrently(clusters, joinedAtOnce, search)) yield* found;
  }

  async #join(cluster: string, texts: ReadonlyMap<number, RecordedText>, pattern: LinePattern) {
    const found: SearchedObject[] = [];
    if (!(await this.#mayMatch(cluster, texts, pattern))) return found;
    const { oldest: from, newest: to } = this;
    try {
      const runs = this.#recorded.objects('log', cluster, { from, to });
      for await (const joined of joinLogs(this.#reader, cluster, from, runs, false))
        if (!isMissing(joined)) found.push(searched(joined, texts.get(joined.run.getTime())));
    } catch (error) {
      // One cluster that cannot be read must not hide what the others have.
      this.notJoined.push({ cluster, problem: (error as Error).message });
    }
    return found;
  }

  /** Whether any of a cluster's logs has a line that matches, or is not what its run record says. */
  async #mayMatch(cluster: string, texts: ReadonlyMap<number, RecordedText>, pattern: LinePattern): Promise<boolean> {
    let last: number | undefined;
    for (const [time, recorded] of texts) {
      // A text that was searched is not read again.
      if (recorded.text !== undefined && recorded.text === last) continue;
      const name = { resource: 'log', cluster, run: new Date(time) } as const;
      const object = { ...name, key: objectKey(name), recorded };
      const search = await searchObject(this.#reader.archive, object, { pattern, context: 0, format: () => '' });
      for await (const _ of search.output) if (search.lines.matches > 0) break;
      if (search.lines.matches > 0 || search.problem !== undefined || !isRecorded(search)) return true;
      last = recorded.text;
    }
    return false;
  }

  /** What the run records say of an object that has another hash than theirs, or that they do not have. */
  async remarkOn({ key, cluster, resource, run }: SearchedObject): Promise<Remark | undefined> {
    const objects = clusterObjects(this.#reader.archive, resource, cluster, { from: run, to: run });
    for await (const object of objects) if (object.key === key) return (await this.#recorded.describe(object)).remark;
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
      if (object !== undefined) yield { ...object, recorded: recordedText(outcome) };
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
        if (key === undefined) this.notArchived += 1;
        else yield { key, cluster, resource, run: row.run, recorded: recordedText(outcome) };
      }
    }
  }

  #note(run: Date): void {
    this.runs += 1;
    this.oldest ??= run;
    this.newest = run;
  }
}

function recordedText(outcome: Outcome | undefined): RecordedText {
  if (outcome === undefined || !isStored(outcome)) return { content: undefined, text: undefined };
  return { content: shortHash(outcome.sha256), text: shortHash(outcome.logSha256) };
}

/** What adds nothing is read for its problems alone. */
function searched({ object, run, link, added }: JoinedLog, recorded = recordedText(undefined)): SearchedObject {
  const { key, cluster } = object;
  const bytes = added?.lineFrom ?? Number.POSITIVE_INFINITY;
  return { key, cluster, resource: 'log', run, recorded, from: { bytes, lines: link.lines - (added?.added ?? 0) } };
}
