import { strayFinding } from '../format/finding';
import { parseRunRecordKey } from '../format/keys';
import { problems } from '../format/problems';
import { resourceNames } from '../format/resources';
import { mapConcurrently } from '../read/map-concurrently';
import { firstOf } from '../read/newest-first';
import { ObjectSet } from '../read/object-set';
import { type FoundObject, keysOfCluster } from '../read/objects-between';
import { readStoredRun, type StoredRun } from '../read/read-run';
import { isWithin, runsBetween } from '../read/run-keys';
import { recordsOf, type StoredOutcome, storedOutcomes } from '../read/stored-outcomes';
import {
  type CheckedObject,
  checkObject,
  describePending,
  describeUnrecorded,
  type WrittenRecord,
} from './check-object';
import type { Sealed } from './seals/seal-chain';
import { found, type Judged, type Slice, unlessExpired, type World } from './world';

/** What was met in a slice so far. */
export class Met {
  /** Objects that run records name, and that no listing has shown yet; not those that were read and are missing. */
  readonly named: ObjectSet;
  /** What is sealed and there. */
  readonly there = new Set<Sealed>();
  /** Keys of what is not there, and was told to be. */
  readonly gone = new Set<string>();
  /** Times of the runs that have a record that could not be read: it may name any object. */
  readonly unread = new Set<number>();
  /** Objects that run records say were not archived. */
  readonly unarchived = new ObjectSet();
  /** By the time of their run: its records, where one says so. */
  readonly refusals = new Map<number, readonly WrittenRecord[]>();
  /** By the time of their run: records that are sealed, and are gone or are not run records any more. */
  readonly lost = new Map<number, string>();

  /** @param keptName gives the name of a cluster to be kept; left out: a copy */
  constructor(keptName?: (cluster: string) => string) {
    this.named = new ObjectSet(keptName);
  }
}

/**
 * Judges what lies beside the runs of a slice: objects that no run record names, and what was to be looked up and is not there.
 * @param met what `judgeRun` met in all runs of the slice
 */
export async function* judgeBeside(slice: Slice, world: World, met: Met): AsyncGenerator<Judged> {
  for (const { key } of world.sealed.gone(slice, met.there)) {
    const { run } = parseRunRecordKey(key) ?? {};
    if (run !== undefined && slice.clusters.has({ run })) met.lost.set(run.getTime(), key);
  }
  const beside = mapConcurrently(unnamedIn(slice, world, met), world.concurrency, (object) =>
    judgeUnnamed(object, slice, world, met),
  );
  for await (const judged of beside) yield* judged;
  yield* lookAgain(slice, world, met);
}

/** Lists what the clusters have of the slice, and gives what no run record names. */
async function* unnamedIn(slice: Slice, { reader, sealed, concurrency }: World, met: Met): AsyncGenerator<FoundObject> {
  const list = async ([resource, cluster]: readonly [(typeof resourceNames)[number], string]) => {
    const unnamed: FoundObject[] = [];
    for await (const object of keysOfCluster(reader, resource, cluster, slice)) {
      // It is there. What it holds is another question.
      sealed.noteObject(object.listed.key, met.there);
      const { name } = object;
      if (name === undefined || !(met.named.has(name) || met.unread.has(name.run.getTime()))) unnamed.push(object);
      else met.named.delete(name);
    }
    return unnamed;
  };
  const listings = function* () {
    for (const resource of resourceNames)
      for (const cluster of slice.clusters.names) yield [resource, cluster] as const;
  };
  for await (const unnamed of mapConcurrently(listings(), concurrency, list)) yield* unnamed;
}

/** Judges an object that no run record names. */
async function judgeUnnamed(
  { listed, name }: FoundObject,
  { isSettled }: Slice,
  world: World,
  met: Met,
): Promise<Judged[]> {
  const { reader, sealed } = world;
  const { key, writtenAt, damage } = listed;
  if (name === undefined) return [{ finding: strayFinding({ key, damage }) }];
  const settled = isSettled ? undefined : world.settled;
  const refusals = met.unarchived.has(name) ? met.refusals.get(name.run.getTime()) : undefined;
  const pending = settled && describePending({ cluster: name.cluster, writtenAt }, settled, refusals);
  if (damage === undefined && pending !== undefined) return [found('pending', key, pending)];
  const checked = await checkObject(reader, key);
  const { problem, sha256 } = checked;
  // It was listed, and has been removed since.
  if (problem?.kind === 'missing' && damage === undefined) return [];
  const compared = sealed.compareObject(key, sha256, met.there);
  const isVouched = compared === 'same';
  const forged = typeof compared === 'object' ? [{ finding: compared }] : [];
  const lost = isVouched ? undefined : met.lost.get(name.run.getTime());
  const told =
    lost === undefined
      ? { kind: 'unrecorded' as const, problem: describeUnrecorded(problem) }
      : (problem ?? { kind: 'unvouched' as const, problem: problems.unvouchedSince(lost) });
  // The lifecycle removes objects. It explains nothing of what cannot be one.
  if (damage !== undefined) return [...forged, found(told.kind, key, told.problem)];
  const judged = await unlessExpired(world, { ...told, key, writtenAt });
  const isUnrecorded = 'finding' in judged && told.kind === 'unrecorded';
  return [...forged, judged, { object: { key, outcome: undefined, ...checked, isVouched, isUnrecorded } }];
}

/** Opens what run records name and no listing has: the records were read before, and may have named what came later. */
async function* lookAgain(slice: Slice, world: World, met: Met): AsyncGenerator<Judged> {
  const { reader, concurrency } = world;
  const { named } = met;
  for (const run of [...named.runs()]) {
    if (!isWithin(run, slice)) continue;
    const listed = await firstOf(runsBetween(reader, { from: run, to: run }));
    if (listed === undefined) continue;
    const stored = await readStoredRun(reader, listed, world.valid);
    const outcomes = storedOutcomes(stored, (name) => slice.clusters.has(name) && named.has(name));
    const check = async (outcome: StoredOutcome) => ({ outcome, ...(await checkObject(reader, outcome.key, outcome)) });
    for await (const { outcome, ...checked } of mapConcurrently(outcomes, concurrency, check)) {
      if (checked.problem?.kind !== 'missing') world.sealed.noteObject(outcome.key, met.there);
      if (checked.problem !== undefined) yield* problemOf(stored, outcome, checked.problem, world, met);
    }
  }
}

/** What is found of an object that a run record names, and with which something is wrong. */
export async function* problemOf(
  stored: StoredRun,
  outcome: StoredOutcome,
  problem: NonNullable<CheckedObject['problem']>,
  world: World,
  met: Pick<Met, 'gone'>,
): AsyncGenerator<Judged> {
  if (problem.kind !== 'missing') {
    yield { finding: { ...problem, key: outcome.key } };
    return;
  }
  met.gone.add(outcome.key);
  yield await unlessExpired(world, world.sealed.lost(recordsOf(stored, outcome), outcome, problem.problem));
}
