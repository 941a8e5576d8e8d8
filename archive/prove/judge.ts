import type { Excusable } from '../format/finding';
import { parseObjectKey, parseRunRecordKey, runPrefix } from '../format/keys';
import { problems } from '../format/problems';
import { isStored, type Outcome, type RunOutcome, taskName } from '../format/run-record';
import { isInShard } from '../format/shard';
import type { Clusters } from '../read/clusters';
import { mapConcurrently } from '../read/map-concurrently';
import { readStoredRun, type StoredRun } from '../read/read-run';
import { type ListedRun, runsBetween } from '../read/run-keys';
import { type StoredOutcome, storedOutcomes } from '../read/stored-outcomes';
import { checkRun } from './check-run';
import { judgeBeside, Met, problemOf } from './judge-beside';
import { seenRun } from './seen-run';
import { uncoveredOf } from './uncovered';
import { found, type Judged, type Slice, unlessExpired, type World } from './world';

/**
 * Judges a slice: the records of each run beside each other, their configurations and the seals; every object that they
 * name; every object that lies there and none names; and what is sealed and gone. Memory: the records of one run at a time,
 * and a few bits for each object.
 * @returns findings, objects that were read, and the runs that have records, oldest first. What lies beside them comes after the last
 * @throws ArchiveReadError, and whatever the reader throws when its time is over: then the slice was not judged whole
 */
export async function* judge(slice: Slice, world: World): AsyncGenerator<Judged> {
  const met = new Met(world.keptName);
  const { sealedSince } = slice;
  const isNew = ({ key }: { readonly key: string }) => world.sealed.isSealedSince(key, sealedSince);
  for await (const listed of runsBetween(world.reader, slice))
    if (sealedSince === undefined) yield* judgeRun(listed, slice, world, met);
    else if (listed.records.some(isNew)) yield* judgeNew(listed, slice, world, met);
  if (sealedSince !== undefined) return;
  yield* judgeBeside(slice, world, met);
  for (const one of world.sealed.gone(slice, met.there))
    if (!met.gone.has(one.key) && isIn(slice, one.key)) yield await unlessExpired(world, one);
}

/** Judges the content of what new records of a run archived: they themselves were judged when they were sealed. */
async function* judgeNew(listed: ListedRun, slice: Slice, world: World, met: Met): AsyncGenerator<Judged> {
  const stored = await readStoredRun(world.reader, listed, world.valid);
  const { unattested, findings } = world.sealed.checkRun(stored, met.there);
  for (const finding of [...stored.badRecords, ...findings]) if (finding.kind !== 'missing') yield { finding };
  yield* judgeNamed(stored, unattested, slice, world, met);
}

/**
 * Judges the records of one run, and what they name.
 * @param met gets what they name
 * @param kept gets the records. They are not yielded: what an iterator gave last stays in memory while the next run is read
 */
export async function* judgeRun(
  listed: ListedRun,
  slice: Pick<Slice, 'clusters' | 'depth'>,
  world: World,
  met: Met,
  kept: { stored?: StoredRun } = {},
): AsyncGenerator<Judged> {
  const { clusters } = slice;
  const { reader, configurations, sealed } = world;
  const stored = await readStoredRun(reader, listed, world.valid);
  kept.stored = stored;
  const { run, badRecords } = stored;
  const seen = await seenRun(stored, configurations);
  const lacking: Excusable[] = [];
  let isRight = true;
  for await (const one of checkRun(listed, stored, world)) {
    if ('writtenAt' in one) {
      lacking.push(one);
      continue;
    }
    isRight = false;
    yield { finding: one };
  }
  const { unattested, findings } = sealed.checkRun(stored, met.there);
  for (const finding of findings) yield { finding };
  for (const { key } of badRecords) if (unattested.has(key) && clusters.has({ run })) met.lost.set(run.getTime(), key);
  const isRecordUnread = badRecords.some(({ kind }) => kind === 'unreadable');
  if (isRecordUnread) met.unread.add(run.getTime());
  for (const one of lacking) {
    const judged = await unlessExpired(world, one);
    // What the lifecycle may have removed by the run's time, it may not have by the time that a seal has.
    if ('finding' in judged) met.gone.add(one.key);
    yield judged;
  }
  if (isRight && unattested.size === 0) addUnarchived(stored, clusters, met);
  let areObjectsRead = true;
  for await (const one of judgeNamed(stored, unattested, slice, world, met)) {
    if ('finding' in one && one.finding.kind === 'unreadable') areObjectsRead = false;
    yield one;
  }
  const isMissing = [...sealed.gone({ from: run, to: run }, met.there), ...lacking].some(
    ({ kind, key }) => kind === 'missing' && parseRunRecordKey(key)?.run.getTime() === run.getTime(),
  );
  const isDue = seen.used.some(({ firings }) => firings?.includes(run) === true);
  const uncovered = await uncoveredOf(stored, configurations);
  const isOver = world.settled === undefined || run <= world.settled;
  // What records cover that are wrong, cannot be read or are not there, nobody knows.
  const isKnown = isRight && badRecords.length === 0 && !isMissing;
  if (isKnown && isDue && isOver && uncovered !== undefined && uncovered.count > 0) {
    const { count, configured, first } = uncovered;
    const problem = problems.uncovered(run.toISOString(), count, configured, first);
    yield await unlessExpired(world, { kind: 'absent', key: `${runPrefix(run)}*`, problem, writtenAt: run });
  }
  const areConfigured = seen.used.every(({ isKnown }) => isKnown);
  const isWhole = areConfigured && !isMissing && badRecords.length === 0 && unattested.size === 0;
  const isUnread =
    isRecordUnread || !areObjectsRead || seen.used.some(({ sha256 }) => configurations.unread.has(sha256));
  yield { run: { ...seen, records: listed.records.length, isWhole, isUnread, isDue, uncovered } };
}

/**
 * Keeps what the records of a run say was not archived. Only right records count: whoever plants an object could write over
 * one of them.
 */
function addUnarchived({ run, read, counts, outcomes }: StoredRun, clusters: Clusters, met: Met): void {
  // Reading all outcomes once more takes time.
  if (counts.failed + counts.notAttempted + counts.optionalMissing === 0) return;
  met.refusals.set(
    run.getTime(),
    read.map(({ shard, writtenAt }) => ({ shard, writtenAt })),
  );
  for (const outcome of outcomes) {
    const name = { ...outcome, run };
    if (!isStored(outcome) && clusters.has(name)) met.unarchived.add(name);
  }
}

/** Judges what the records of a run name. */
async function* judgeNamed(
  stored: StoredRun,
  unattested: ReadonlySet<string>,
  { clusters, depth, sealedSince }: Pick<Slice, 'clusters' | 'depth' | 'sealedSince'>,
  world: World,
  met: Met,
): AsyncGenerator<Judged> {
  const { concurrency, sealed } = world;
  const isAttested = attestedOutcomes(stored, unattested);
  const [forged = ''] = unattested;
  const isNew = newOutcomes(stored, world, sealedSince);
  // What has no hash but in a record that was killed has to get one.
  const isRead = (outcome: StoredOutcome) =>
    depth === 'content' ? isNew(outcome) : outcome.sha256 === undefined && !sealed.has(outcome.key);
  const check = async (outcome: StoredOutcome) => ({
    outcome,
    checked: isRead(outcome) ? await world.check(world.reader, outcome.key, outcome) : undefined,
  });
  for await (const { outcome, checked } of mapConcurrently(storedOutcomes(stored, clusters.has), concurrency, check)) {
    const { key, name } = outcome;
    if (checked?.problem?.kind !== 'missing') met.named.add(name);
    if (checked === undefined) {
      if (!isAttested(outcome)) yield found('unvouched', key, problems.unvouched(forged));
      continue;
    }
    const { problem, sha256 } = checked;
    if (problem !== undefined) yield* problemOf(stored, outcome, problem, world, met);
    const compared = problem?.kind === 'missing' ? undefined : sealed.compareObject(key, sha256, met.there);
    if (typeof compared === 'object') yield { finding: compared };
    const isVouched = compared === 'same' || isAttested(outcome);
    if (!isVouched && problem === undefined) yield found('unvouched', key, problems.unvouched(forged));
    yield { object: { key, outcome, ...checked, isVouched, isUnrecorded: false } };
  }
}

/** @returns whether a record that the seals attest says the same of an outcome, with the same hash */
function attestedOutcomes({ read }: StoredRun, unattested: ReadonlySet<string>): (outcome: RunOutcome) => boolean {
  if (unattested.size === 0) return () => true;
  const nameOf = (outcome: RunOutcome | Outcome) => `${outcome.sha256 ?? ''} ${taskName(outcome)}`;
  const attested = new Set<string>();
  for (const { key, record } of read)
    if (!unattested.has(key)) for (const outcome of record?.outcomes ?? []) attested.add(nameOf(outcome));
  return (outcome) => attested.has(nameOf(outcome));
}

/** @returns whether an outcome is of a record that a seal or a later one has first; it keeps no record */
function newOutcomes({ read }: StoredRun, { sealed }: World, sealedSince: number | undefined) {
  if (sealedSince === undefined) return () => true;
  const added = read.flatMap(({ key, attempt, shard }) =>
    sealed.isSealedSince(key, sealedSince) ? { attempt, shard } : [],
  );
  return ({ attempt, cluster }: StoredOutcome) =>
    added.some((record) => record.attempt === attempt && isInShard(cluster, record.shard));
}

function isIn({ clusters }: Slice, key: string): boolean {
  return clusters.has(parseObjectKey(key) ?? { run: parseRunRecordKey(key)?.run });
}
