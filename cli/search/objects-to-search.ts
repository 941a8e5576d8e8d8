import { createHash } from 'node:crypto';
import { isStored, type Outcome } from '../../lambda/run/run-record';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { type ClusterObject, clusterObjects } from '../../lambda/verify/objects-between';
import type { FleetScope } from '../archive/changes';
import { isMissing, type JoinedLog, joinLogs } from '../archive/join-logs';
import { RecordedObjects, type Remark } from '../archive/recorded-object';
import { isAbsent, type RunReader } from '../archive/run-reader';
import { selectPeriod } from '../archive/select-runs';
import type { LinePattern } from './line-pattern';
import { type SearchedObject, searchObject } from './search-object';

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
    // Of each cluster the texts that its runs have, by what the records say, as numbers: a fleet's logs are many.
    const texts = new Map<string, Map<number, number>>();
    for await (const { cluster, run, logSha256 } of this.list()) {
      const own = texts.get(cluster) ?? new Map();
      texts.set(cluster, own);
      if (logSha256 !== undefined) own.set(run.getTime(), fingerprint(logSha256));
    }
    const search = ([cluster, own]: readonly [string, ReadonlyMap<number, number>]) =>
      this.#join(cluster, own, pattern);
    for await (const found of mapConcurrently(texts, joinedAtOnce, search)) yield* found;
  }

  async #join(cluster: string, texts: ReadonlyMap<number, number>, pattern: LinePattern): Promise<SearchedObject[]> {
    const { oldest: from, newest: to } = this;
    const found: SearchedObject[] = [];
    try {
      const all: ClusterObject[] = [];
      for await (const object of clusterObjects(this.#reader.archive, 'log', cluster, { from, to })) all.push(object);
      if (!(await this.#mayMatch(all, texts, pattern))) return found;
      const runs = all.map((object) => ({ run: object.run, object, record: undefined }));
      for await (const joined of joinLogs(this.#reader, cluster, from, runs, false))
        if (!isMissing(joined)) found.push(searched(cluster, joined));
    } catch (error) {
      // One cluster that cannot be read must not hide what the others have.
      this.notJoined.push({ cluster, problem: (error as Error).message });
    }
    return found;
  }

  /** Whether any of a cluster's logs has a line that matches, or is not what its run record says. */
  async #mayMatch(logs: readonly ClusterObject[], texts: ReadonlyMap<number, number>, pattern: LinePattern) {
    let last: number | undefined;
    for (const object of logs) {
      const text = texts.get(object.run.getTime());
      // A text that was searched is not read again.
      if (text !== undefined && text === last) continue;
      const { output, lines, sha256, problem } = await searchObject(this.#reader.archive, object, {
        pattern,
        context: 0,
        format: () => '',
      });
      for await (const _ of output) if (lines.matches > 0) break;
      if (lines.matches > 0 || problem !== undefined || !this.isRecorded(object.key, sha256)) return true;
      last = text;
    }
    return false;
  }

  /** Whether a run record has this hash of an object. */
  isRecorded(key: string, sha256: string | undefined): boolean {
    return sha256 !== undefined && this.#hashes.has(fingerprint(`${sha256} ${key}`));
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
      if (outcome !== undefined) this.#keep(outcome);
      if (object !== undefined) yield { ...object, logSha256: outcome?.logSha256 };
      else if (outcome !== undefined) this.notArchived += 1;
    }
  }

  async *#ofRuns(): AsyncGenerator<SearchedObject> {
    const { resource, clusters, selection } = this.#scope;
    for await (const row of this.#reader.select(selection)) {
      if (isAbsent(row)) continue;
      this.#note(row.run);
      for (const outcome of row.outcomes) {
        const { cluster, key, logSha256 } = outcome;
        if (outcome.resource !== resource || clusters?.matches(cluster) === false) continue;
        this.#keep(outcome);
        if (key === undefined) this.notArchived += 1;
        else yield { key, cluster, resource, run: row.run, logSha256 };
      }
    }
  }

  #keep(outcome: Outcome): void {
    const { key, sha256 } = outcome;
    if (isStored(outcome) && key !== undefined && sha256 !== undefined)
      this.#hashes.add(fingerprint(`${sha256} ${key}`));
  }

  #note(run: Date): void {
    this.runs += 1;
    this.oldest ??= run;
    this.newest = run;
  }
}

/** Six bytes of a hash: of millions of texts, none is taken for another by chance. */
function fingerprint(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}

/** What adds nothing is read for its problems alone. */
function searched(cluster: string, { object: { key }, run, link, added }: JoinedLog): SearchedObject {
  const bytes = added?.lineFrom ?? Number.POSITIVE_INFINITY;
  return { key, cluster, resource: 'log', run, from: { bytes, lines: link.lines - (added?.added ?? 0) } };
}
