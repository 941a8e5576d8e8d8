import { parseObjectKey, parseRunRecordKey } from '../archive/archive-layout';
import type { RunOutcome, StoredRecord } from '../run/run-record';
import type { ArchiveReader } from '../verify/archive-reader';
import { type CheckedObject, checkObject } from '../verify/check-object';
import type { Find } from '../verify/finding';
import { mapConcurrently } from '../verify/map-concurrently';
import { readRunRecord } from '../verify/read-run';
import type { Position, Seal } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';
import type { SealedArchive } from '../verify/seals/sealed-archive';
import type { LogSeams } from './log-seams';

/** Objects read at once. */
const concurrency = 16;

export interface VerifySealedContext {
  readonly reader: ArchiveReader;
  readonly stop: AbortSignal;
  readonly find: Find;
  readonly chain: Pick<SealChain, 'records' | 'objects'>;
  readonly sealed: Pick<SealedArchive, 'checkRecordFile' | 'checkObject'>;
  /** The seal that is being made. */
  readonly current: Pick<Seal, 'number' | 'records' | 'objects'>;
  /** Verifies the records of a run again. Left out: all this is read for the first time since it was sealed. */
  readonly verifyRun?: (run: Date) => Promise<void>;
  /** Checks a log, and how it follows the one before; left out: logs are checked like everything else. */
  readonly logs?: Pick<LogSeams, 'check'>;
  /** Whether the lifecycle may have removed what was written then. */
  readonly mayHaveRemoved: (writtenAt: Date, key?: string) => Promise<boolean>;
}

export interface VerifiedObjects {
  readonly objects: number;
  readonly bytes: number;
  /** Where the next audit goes on. */
  readonly position: Position;
  /** Whether everything up to the end was read. */
  readonly isDone: boolean;
}

/**
 * Reads sealed run records and their objects from a place on, in the order of the records. A run has all clusters, so that
 * reading that is cut off has read as much of one cluster as of another.
 * @param to number of the last seal whose objects are read
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifySealed(context: VerifySealedContext, from: Position, to: number): Promise<VerifiedObjects> {
  const totals = { objects: 0, bytes: 0 };
  let position = from;
  for (const [number, { records, objects }] of listsOf(context, from.seal, to)) {
    if (number > position.seal) position = { seal: number, record: 0, outcome: 0 };
    for (const key of records.slice(position.record)) {
      const { outcome: first } = position;
      const isNext = first > 0 ? !context.stop.aborted : await isVerified(context, key);
      const outcome = isNext ? await verifyRecord(context, key, first, totals) : first;
      if (outcome !== undefined) return { ...totals, position: { ...position, outcome }, isDone: false };
      position = { ...position, record: position.record + 1, outcome: 0 };
    }
    // What seals say of objects was read when they were made.
    if (context.verifyRun !== undefined && !(await verifySealedObjects(context, objects, totals)))
      return { ...totals, position, isDone: false };
  }
  return { ...totals, position: from.seal > to ? from : { seal: to + 1, record: 0, outcome: 0 }, isDone: true };
}

/** Keys of run records and objects. */
interface SealedKeys {
  readonly records: string[];
  readonly objects: string[];
}

/** What seals name first, by the number of the seal, in order. */
function listsOf({ chain, current }: VerifySealedContext, from: number, to: number): Map<number, SealedKeys> {
  const lists = new Map<number, SealedKeys>();
  const add = (number: number, kind: keyof SealedKeys, key: string) => {
    if (number < from || number > to) return;
    const keys = lists.get(number) ?? { records: [], objects: [] };
    lists.set(number, keys);
    keys[kind].push(key);
  };
  for (const kind of ['records', 'objects'] as const) {
    for (const [key, { by }] of chain[kind]) add(by.number, kind, key);
    for (const { key } of current[kind]) add(current.number, kind, key);
  }
  return new Map([...lists].sort(([one], [other]) => one - other));
}

/** Verifies the run of a record again. @returns whether there was time */
async function isVerified({ verifyRun, stop }: VerifySealedContext, key: string): Promise<boolean> {
  const run = parseRunRecordKey(key)?.run;
  try {
    if (run !== undefined) await verifyRun?.(run);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return !stop.aborted;
}

/** @returns the index of the first outcome that there was no time for; undefined: all were read */
async function verifyRecord(
  context: VerifySealedContext,
  key: string,
  first: number,
  totals: Totals,
): Promise<number | undefined> {
  const { reader, stop, find, logs, mayHaveRemoved } = context;
  const record = await readRecord(context, key);
  if (record === undefined) return stop.aborted ? first : undefined;
  const check = async ({ outcome, index }: IndexedOutcome): Promise<CheckedOutcome> => ({
    outcome,
    index,
    ...(await (logs !== undefined && outcome.resource === 'log'
      ? logs.check(outcome)
      : checkObject(reader, outcome.key, outcome))),
  });
  let next = first;
  for await (const checked of mapConcurrently(untilAborted(archivedBy(record, first), stop), concurrency, check)) {
    const { outcome, index, problem, bytes } = checked;
    // What ended because the time is over says nothing.
    if (stop.aborted && problem !== undefined) break;
    next = index + 1;
    totals.objects += 1;
    totals.bytes += bytes;
    if (problem === undefined) continue;
    const isExpired = problem.kind === 'missing' && (await mayHaveRemoved(new Date(outcome.fetchedAt ?? record.run)));
    if (!isExpired) find(problem.kind, outcome.key, problem.problem);
  }
  for (const { index } of archivedBy(record, next)) return index;
  return undefined;
}

/** Reads the objects that no record has a hash for. @returns whether there was time for all */
async function verifySealedObjects(
  { reader, stop, find, sealed, mayHaveRemoved }: VerifySealedContext,
  objects: readonly string[],
  totals: Totals,
): Promise<boolean> {
  const check = async (key: string) => ({ key, ...(await checkObject(reader, key)) });
  for await (const { key, sha256, bytes, problem } of mapConcurrently(
    untilAborted(objects, stop),
    concurrency,
    check,
  )) {
    if (stop.aborted) return false;
    totals.objects += 1;
    totals.bytes += bytes;
    sealed.checkObject(key, sha256);
    const { run } = parseObjectKey(key) ?? {};
    const isExpired = problem?.kind === 'missing' && run !== undefined && (await mayHaveRemoved(run, key));
    if (problem !== undefined && !isExpired) find(problem.kind, key, problem.problem);
  }
  return !stop.aborted;
}

interface Totals {
  objects: number;
  bytes: number;
}

interface IndexedOutcome {
  readonly outcome: RunOutcome & { readonly key: string };
  readonly index: number;
}

type CheckedOutcome = CheckedObject & IndexedOutcome;

function* archivedBy({ outcomes, attempt, collectorVersion }: StoredRecord, first: number): Generator<IndexedOutcome> {
  for (let index = first; ; index += 1) {
    const outcome = outcomes.at(index);
    if (outcome === undefined) return;
    const { key } = outcome;
    if (outcome.outcome === 'archived' && key !== undefined && parseObjectKey(key) !== undefined)
      yield { outcome: Object.assign(outcome, { key, attempt, collectorVersion }), index };
  }
}

function* untilAborted<Item>(items: Iterable<Item>, signal: AbortSignal): Generator<Item> {
  for (const item of items) {
    if (signal.aborted) return;
    yield item;
  }
}

/** Undefined for a record that is gone or bad, or if the time is over. */
async function readRecord(
  { reader, stop, sealed, find }: VerifySealedContext,
  key: string,
): Promise<StoredRecord | undefined> {
  const name = parseRunRecordKey(key);
  if (name === undefined) return undefined;
  try {
    const { good, file, bad } = await readRunRecord(reader, { ...name, key });
    sealed.checkRecordFile(key, file?.sha256);
    // It could be read when it was sealed. That one is gone, or was no good record then, is said elsewhere.
    if (bad !== undefined && file === undefined && bad.kind !== 'missing') find(bad.kind, key, bad.problem);
    return good?.record;
  } catch (error) {
    if (stop.aborted) return undefined;
    throw error;
  }
}
