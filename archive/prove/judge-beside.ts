import { findStray } from '../format/finding';
import { formerKeyProblem, parseRunRecordKey } from '../format/keys';
import { problems } from '../format/problems';
import { resourceNames } from '../format/resources';
import { mapConcurrently } from '../read/map-concurrently';
import { firstOf } from '../read/newest-first';
import { type FoundObject, keysOfCluster } from '../read/objects-between';
import { readStoredRun } from '../read/read-run';
import { RecordedObjects } from '../read/recorded-objects';
import { isWithin, runsBetween } from '../read/run-keys';
import { recordsOf, type StoredOutcome, storedOutcomes } from '../read/stored-outcomes';
import { checkObject, describePending, describeUnrecorded, type WrittenRecord } from './check-object';
import type { JudgeContext, Stretch } from './judge-context';

/** What was met in a stretch so far. */
export class Met {
  /** Objects that run records name, and that no listing has shown yet; not those that were read and are missing. */
  readonly named: RecordedObjects;
  /** Times of the runs that have a record that could not be read: it may name any object. */
  readonly unread = new Set<number>();
  /** Objects that run records say were not archived. */
  readonly unarchived = new RecordedObjects();
  /** By the time of their run: its records, where one says so. */
  readonly refusals = new Map<number, readonly WrittenRecord[]>();
  /** By the time of their run: records that are sealed, and are gone or are not run records any more. */
  readonly lost = new Map<number, string>();

  /** @param keptName gives the name of a cluster to be kept; left out: a copy */
  constructor(keptName?: (cluster: string) => string) {
    this.named = new RecordedObjects(keptName);
  }
}

/**
 * Judges what lies beside the runs of a stretch: objects that no run record names, and what was to be looked up and is not
 * there.
 * @param met what {@link judgeRun} met in all runs of the stretch
 */
export async function judgeBeside(stretch: Stretch, context: JudgeContext, met: Met): Promise<void> {
  for (const { key } of context.sealed.gone(stretch)) {
    const { run } = parseRunRecordKey(key) ?? {};
    if (run !== undefined && stretch.clusters.has({ run })) met.lost.set(run.getTime(), key);
  }
  const beside = mapConcurrently(unnamedIn(stretch, context, met), context.concurrency, (object) =>
    judgeUnnamed(object, context, met),
  );
  for await (const _ of beside);
  await lookAgain(stretch, context, met);
}

/** Lists what the clusters have of the stretch, and gives what no run record names. */
async function* unnamedIn(stretch: Stretch, { reader, sealed, concurrency }: JudgeContext, met: Met) {
  const list = async ([resource, cluster]: readonly [(typeof resourceNames)[number], string]) => {
    const unnamed: FoundObject[] = [];
    for await (const object of keysOfCluster(reader, resource, cluster, stretch)) {
      // It is there. What it holds is another question.
      sealed.checkObject(object.listed.key, undefined);
      const { name } = object;
      if (name === undefined || !(met.named.has(name) || met.unread.has(name.run.getTime()))) unnamed.push(object);
      else met.named.delete(name);
    }
    return unnamed;
  };
  const listings = function* () {
    for (const resource of resourceNames)
      for (const cluster of stretch.clusters.names) yield [resource, cluster] as const;
  };
  for await (const unnamed of mapConcurrently(listings(), concurrency, list)) yield* unnamed;
}

/** Judges an object that no run record names. */
async function judgeUnnamed({ listed, name }: FoundObject, context: JudgeContext, met: Met): Promise<void> {
  const { reader, sealed, find, settled, findUnlessExpired, onObject } = context;
  const { key, writtenAt, damage } = listed;
  if (name === undefined) return findStray(find, { key, damage: damage ?? formerKeyProblem(key) });
  const refusals = met.unarchived.has(name) ? met.refusals.get(name.run.getTime()) : undefined;
  const pending = settled && describePending({ cluster: name.cluster, writtenAt }, settled, refusals);
  if (damage === undefined && pending !== undefined) return find('pending', key, pending);
  const checked = await checkObject(reader, key);
  const { problem, sha256 } = checked;
  // It was listed, and has been removed since.
  if (problem?.kind === 'missing' && damage === undefined) return;
  const isVouched = sealed.checkObject(key, sha256);
  const lost = isVouched ? undefined : met.lost.get(name.run.getTime());
  const told =
    lost === undefined
      ? { kind: 'unrecorded' as const, problem: describeUnrecorded(problem) }
      : (problem ?? {
          kind: 'unvouched' as const,
          problem: problems.unvouchedSince(lost),
        });
  // The lifecycle removes objects. It explains nothing of what cannot be one.
  if (damage !== undefined) return find(told.kind, key, told.problem);
  const isUnrecorded = (await findUnlessExpired({ ...told, key, writtenAt })) && told.kind === 'unrecorded';
  onObject({ key, outcome: undefined, ...checked, isVouched, isUnrecorded });
}

/** Opens what run records name and no listing has: the records were read before, and may have named what came later. */
async function lookAgain(stretch: Stretch, context: JudgeContext, { named }: Met): Promise<void> {
  const { reader, concurrency, find, sealed, findUnlessExpired } = context;
  for (const run of [...named.runs()]) {
    if (!isWithin(run, stretch)) continue;
    const listed = await firstOf(runsBetween(reader, { from: run, to: run }));
    if (listed === undefined) continue;
    const stored = await readStoredRun(reader, listed);
    const outcomes = storedOutcomes(stored, (name) => stretch.clusters.has(name) && named.has(name));
    const check = async (outcome: StoredOutcome) => ({ outcome, ...(await checkObject(reader, outcome.key, outcome)) });
    for await (const { outcome, problem } of mapConcurrently(outcomes, concurrency, check)) {
      if (problem?.kind === 'missing')
        await findUnlessExpired(sealed.lost(recordsOf(stored, outcome), outcome, problem.problem));
      else if (problem !== undefined) find(problem.kind, outcome.key, problem.problem);
    }
  }
}
