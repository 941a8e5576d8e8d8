import type { Excusable } from '../format/finding';
import { parseObjectKey, parseRunRecordKey } from '../format/keys';
import { problems } from '../format/problems';
import { isStored, type Outcome, type RunOutcome, taskName } from '../format/run-record';
import type { Clusters } from '../read/clusters';
import { mapConcurrently } from '../read/map-concurrently';
import { readStoredRun, type StoredRun } from '../read/read-run';
import { type ListedRun, runsBetween } from '../read/run-keys';
import { recordsOf, type StoredOutcome, storedOutcomes } from '../read/stored-outcomes';
import { type CheckedObject, checkObject } from './check-object';
import { checkRun } from './check-run';
import { judgeBeside, Met } from './judge-beside';
import type { JudgeContext, Stretch } from './judge-context';
import { type SeenRun, seenRun } from './seen-run';

/** One run that has records, and what a judgement of it could tell. */
export interface JudgedRun extends SeenRun {
  /** How many records it has. */
  readonly records: number;
  /**
   * Whether all records and configurations are there, can be read, and are what the seals say: what is not found then is not so.
   */
  readonly isWhole: boolean;
  /** Whether any of them, or an object that they name, could not be read. */
  readonly isUnread: boolean;
}

/**
 * Judges a stretch: the records of each run beside each other, their configurations and the seals; every object that they
 * name; every object that lies there and none names; and what is sealed and gone. Memory: the records of one run at a time,
 * and a few bits for each object.
 * @returns the runs that have records, oldest first. What lies beside them is judged after the last
 * @throws ArchiveReadError, and whatever the reader throws when its time is over: then the stretch was not judged whole
 */
export async function* judge(stretch: Stretch, context: JudgeContext): AsyncGenerator<JudgedRun> {
  const { reader, sealed } = context;
  const met = new Met();
  const gone = new Set<string>();
  const findUnlessExpired = (one: Excusable) => {
    gone.add(one.key);
    return context.findUnlessExpired(one);
  };
  // No variable may keep the outcomes of a run while those of the next are read.
  const judgeOne = async (listed: ListedRun): Promise<JudgedRun> => {
    const { stored, ...judged } = await judgeRun(listed, stretch.clusters, { ...context, findUnlessExpired }, met);
    return judged;
  };
  for await (const listed of runsBetween(reader, stretch)) yield await judgeOne(listed);
  await judgeBeside(stretch, { ...context, findUnlessExpired }, met);
  for (const one of sealed.gone(stretch))
    if (!gone.has(one.key) && isIn(stretch, one.key)) await context.findUnlessExpired(one);
}

/** Judges the records of one run, and what they name. @returns `stored` has the records in memory */
export async function judgeRun(
  listed: ListedRun,
  clusters: Clusters,
  context: JudgeContext,
  met: Met,
): Promise<JudgedRun & { readonly stored: StoredRun }> {
  const { reader, configurations, sealed } = context;
  const stored = await readStoredRun(reader, listed);
  const { run, badRecords } = stored;
  const seen = await seenRun(stored, configurations);
  let isRight = true;
  const find: JudgeContext['find'] = (...finding) => {
    isRight = false;
    context.find(...finding);
  };
  const lacking = await checkRun(listed, stored, { ...context, find });
  const unattested = sealed.checkRun(stored);
  for (const { key } of badRecords) if (unattested.has(key) && clusters.has({ run })) met.lost.set(run.getTime(), key);
  const isRecordUnread = badRecords.some(({ kind }) => kind === 'unreadable');
  if (isRecordUnread) met.unread.add(run.getTime());
  for (const one of lacking) await context.findUnlessExpired(one);
  if (isRight && unattested.size === 0) addUnarchived(stored, clusters, met);
  const areObjectsRead = await judgeNamed(stored, unattested, clusters, context, met);
  const isMissing = [...sealed.gone({ from: run, to: run }), ...lacking].some(
    ({ kind, key }) => kind === 'missing' && parseRunRecordKey(key) !== undefined,
  );
  const areConfigured = seen.used.every(({ isKnown }) => isKnown);
  const isWhole = areConfigured && !isMissing && badRecords.length === 0 && unattested.size === 0;
  const isUnread =
    isRecordUnread || !areObjectsRead || seen.used.some(({ sha256 }) => configurations.unread.has(sha256));
  return { ...seen, records: listed.records.length, isWhole, isUnread, stored };
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

/** Judges what the records of a run name. @returns whether all of it could be read */
async function judgeNamed(
  stored: StoredRun,
  unattested: ReadonlySet<string>,
  clusters: Clusters,
  context: JudgeContext,
  met: Met,
): Promise<boolean> {
  const { reader, concurrency, isRead } = context;
  const isAttested = attestedOutcomes(stored, unattested);
  const [forged] = unattested;
  const unvouched = problems.unvouched(forged ?? '');
  let areRead = true;
  const check = async (outcome: StoredOutcome) => ({
    outcome,
    checked: isRead(outcome) ? await checkObject(reader, outcome.key, outcome) : undefined,
  });
  for await (const { outcome, checked } of mapConcurrently(storedOutcomes(stored, clusters.has), concurrency, check)) {
    const { key, name } = outcome;
    if (checked?.problem?.kind !== 'missing') met.named.add(name);
    areRead &&= checked?.problem?.kind !== 'unreadable';
    const isSealed = checked !== undefined && (await judgeContent(stored, outcome, checked, context));
    const isVouched = isSealed || isAttested(outcome);
    if (!isVouched && checked?.problem === undefined) context.find('unvouched', key, unvouched);
    if (checked !== undefined) context.onObject({ key, outcome, ...checked, isVouched, isUnrecorded: false });
  }
  return areRead;
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

/** @returns whether a seal itself has its content */
async function judgeContent(
  run: StoredRun,
  outcome: StoredOutcome,
  { problem, sha256 }: CheckedObject,
  { sealed, find, findUnlessExpired }: JudgeContext,
): Promise<boolean> {
  const { key } = outcome;
  if (problem?.kind === 'missing')
    await findUnlessExpired(sealed.lost(recordsOf(run, outcome), outcome, problem.problem));
  else if (problem !== undefined) find(problem.kind, key, problem.problem);
  return problem?.kind !== 'missing' && sealed.checkObject(key, sha256);
}

function isIn({ clusters }: Stretch, key: string): boolean {
  return clusters.has(parseObjectKey(key) ?? { run: parseRunRecordKey(key)?.run });
}
