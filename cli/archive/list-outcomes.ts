import { parseObjectKey } from '../../lambda/archive/archive-layout';
import { type Resource, resourceNames } from '../../lambda/resources';
import type { Outcome } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { type ClusterObject, clusterObjects } from '../../lambda/verify/objects-between';
import { isLate } from '../../lambda/verify/read-run';
import type { ClusterFilter } from './cluster-names';
import { factsOf, headConcurrency } from './content-hashes';
import type { AbsentRow } from './overdue';
import { isAbsent, type RunReader, type RunRow } from './run-reader';
import { type RunSelection, selectPeriod } from './select-runs';

/** What became of one cluster x resource in a run. */
export interface ListedOutcome extends Omit<Outcome, 'outcome'> {
  readonly run: Date;
  /** `unrecorded`: the object is there, and no record of its run names it. */
  readonly outcome: Outcome['outcome'] | 'unrecorded';
  readonly late: boolean;
}

type FoundOutcome = Omit<ListedOutcome, 'run' | 'late'>;

export interface OutcomeScope {
  readonly resources?: readonly Resource[];
  /** Left out: all clusters. */
  readonly clusters?: ClusterFilter | undefined;
  readonly selection: RunSelection;
}

/**
 * The outcomes of a scope by the time of their run, and the runs that are absent. Of a single cluster, the objects that no
 * run record names are listed too.
 * @throws NoSuchRunError if one run was asked for and is not there
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* listOutcomes(
  reader: RunReader,
  { resources = resourceNames, clusters, selection }: OutcomeScope,
): AsyncGenerator<ListedOutcome | AbsentRow> {
  const { archive, now } = reader;
  const uid = clusters?.uid;
  const period = uid === undefined ? undefined : await selectPeriod(archive, selection, now);
  const objects = period === undefined ? [] : resources.map((one) => clusterObjects(archive, one, uid ?? '', period));
  let recorded: ReadonlySet<string | undefined> = new Set();
  for await (const item of byRun<RunRow | ClusterObject>([reader.select(selection), ...objects])) {
    if (isAbsent(item)) {
      yield item;
      continue;
    }
    const isRun = 'outcomes' in item;
    if (!isRun && recorded.has(item.key)) continue;
    const outcomes: readonly FoundOutcome[] = isRun
      ? item.outcomes.filter((one) => clusters?.matches(one.cluster) !== false && resources.includes(one.resource))
      : [{ ...item, outcome: 'unrecorded' as const }];
    if (isRun) recorded = new Set(outcomes.map(({ key }) => key));
    for await (const outcome of withMetadata(archive, outcomes))
      yield { ...outcome, run: item.run, late: isLate(item.run, outcome.fetchedAt) };
  }
}

/** Outcomes with what a record lacks and the object's own metadata has. */
export function withMetadata<Listed extends Partial<Omit<Outcome, 'outcome'>>>(
  archive: ArchiveReader,
  outcomes: Iterable<Listed>,
): AsyncGenerator<Listed> {
  return mapConcurrently(outcomes, headConcurrency, async (outcome) => {
    const { key, sha256 } = outcome;
    // A run record may name any key: one that an archive cannot have is not looked up.
    const isSkipped = key === undefined || sha256 !== undefined || parseObjectKey(key) === undefined;
    const facts = isSkipped ? undefined : await factsOf(archive, { key });
    if (facts === undefined) return outcome;
    const { length: bytes, fetchedAt, sha256: own, logSha256, state, doubt } = facts;
    return { ...outcome, bytes, fetchedAt: fetchedAt?.toISOString(), sha256: own, logSha256, state, doubt };
  });
}

/** Merges sequences that are each in the order of their runs. Of one run, the item of the first sequence comes first. */
export async function* byRun<Item extends { readonly run: Date }>(sources: readonly AsyncGenerator<Item>[]) {
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    const left = heads.map((head) => (head.done === true ? Number.POSITIVE_INFINITY : head.value.run.getTime()));
    const first = left.indexOf(Math.min(...left));
    const [head, source] = [heads[first], sources[first]];
    if (head === undefined || head.done === true || source === undefined) return;
    yield head.value;
    heads[first] = await source.next();
  }
}
