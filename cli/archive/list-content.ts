import { parseObjectKey } from '../../lambda/archive/archive-layout';
import type { Resource } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type BadRecord, isLate, readRun } from '../../lambda/verify/read-run';
import type { ClusterFilter } from './cluster-filter';
import { clusterObjects, describe } from './cluster-objects';
import { type RunSelection, selectPeriod, selectRuns } from './select-runs';

/** One archived object, as `list --json` documents it. Null: not known. */
export interface ListedContent {
  readonly run: string;
  readonly fetchedAt: string | null;
  readonly late: boolean;
  readonly cluster: string;
  readonly resource: Resource;
  readonly bytes: number | null;
  readonly storedBytes: number | null;
  readonly state: string | null;
  readonly sha256: string | null;
  readonly key: string;
}

export interface ContentScope {
  readonly resources: readonly Resource[];
  /** Left out: all clusters. */
  readonly clusters?: ClusterFilter | undefined;
  readonly selection: RunSelection;
}

/**
 * The archived objects of a scope, by the time of their run.
 * @throws NoSuchRunError if one run was asked for and is not there
 * @throws ArchiveReadError if the archive cannot be read
 */
export function listContent(
  reader: ArchiveReader,
  scope: ContentScope,
  now: Date,
  onBadRecord: (record: BadRecord) => void,
): AsyncGenerator<ListedContent> {
  const uid = scope.clusters?.uid;
  return uid === undefined ? contentOfRuns(reader, scope, now, onBadRecord) : contentOfCluster(reader, scope, uid, now);
}

/** One cluster: from its own part of the archive, with the metadata of the objects. */
async function* contentOfCluster(
  reader: ArchiveReader,
  { resources, selection }: ContentScope,
  cluster: string,
  now: Date,
): AsyncGenerator<ListedContent> {
  const period = await selectPeriod(reader, selection, now);
  if (period === undefined) return;
  const described = resources.map((resource) => describe(reader, clusterObjects(reader, resource, cluster, period)));
  for await (const { run, facts, resource, storedBytes, key } of byRun(described)) {
    yield {
      run: run.toISOString(),
      fetchedAt: facts?.fetchedAt.toISOString() ?? null,
      late: isLate(run, facts?.fetchedAt),
      cluster,
      resource,
      bytes: facts?.length ?? null,
      storedBytes,
      state: facts?.state ?? null,
      sha256: facts?.sha256 ?? null,
      key,
    };
  }
}

/** Many clusters: keys sort by cluster first, so the run records say what each run has. */
async function* contentOfRuns(
  reader: ArchiveReader,
  { resources, clusters, selection }: ContentScope,
  now: Date,
  onBadRecord: (record: BadRecord) => void,
): AsyncGenerator<ListedContent> {
  for await (const listed of selectRuns(reader, selection, now)) {
    const run = await readRun(reader, listed);
    run.badRecords.forEach(onBadRecord);
    for (const outcome of run.outcomes) {
      const { cluster, resource, key, fetchedAt, bytes, storedBytes, state, sha256 } = outcome;
      if (clusters?.matches(cluster) === false || !resources.includes(resource)) continue;
      if (key === undefined || parseObjectKey(key) === undefined) continue;
      yield {
        run: run.run.toISOString(),
        fetchedAt: fetchedAt ?? null,
        late: isLate(run.run, fetchedAt),
        cluster,
        resource,
        bytes: bytes ?? null,
        storedBytes: storedBytes ?? null,
        state: state ?? null,
        sha256: sha256 ?? null,
        key,
      };
    }
  }
}

/** Merges sequences that are each in the order of their runs. */
async function* byRun<Item extends { readonly run: Date }>(sources: readonly AsyncGenerator<Item>[]) {
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    let first = -1;
    heads.forEach((head, at) => {
      const best = heads[first];
      if (head.done !== true && (best === undefined || best.done === true || head.value.run < best.value.run))
        first = at;
    });
    const head = heads[first];
    const source = sources[first];
    if (head === undefined || head.done === true || source === undefined) return;
    yield head.value;
    heads[first] = await source.next();
  }
}
