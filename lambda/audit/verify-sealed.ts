import { parseObjectKey, parseRunRecordKey } from '../archive/archive-layout';
import type { RunOutcome, StoredRecord } from '../run/run-record';
import { checkObject } from '../verify/check-object';
import { mapConcurrently } from '../verify/map-concurrently';
import { readRunRecord } from '../verify/read-run';
import type { Position, Seal } from '../verify/seals/seal';
import type { AuditWalk } from './audit-walk';
import type { LogSeams } from './log-seams';

/** Objects read at once. */
const concurrency = 16;

export interface VerifySealedOptions {
  /** The seal that is being made. */
  readonly current: Pick<Seal, 'number' | 'records' | 'objects'>;
  /** Verifies the records of a run again. Left out: all this is read for the first time since it was sealed. */
  readonly verifyRun?: (run: Date) => Promise<void>;
  /** Checks a log, and how it follows the one before; left out: logs are checked like everything else. */
  readonly logs?: Pick<LogSeams, 'check'>;
}

type Walk = AuditWalk & VerifySealedOptions;

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
export async function verifySealed(
  walk: AuditWalk,
  options: VerifySealedOptions,
  from: Position,
  to: number,
): Promise<VerifiedObjects> {
  const context = { ...walk, ...options };
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
    if (context.verifyRun !== undefined) await verifyObjects(context, objects, totals);
    if (context.verifyRun !== undefined && context.stop.aborted) return { ...totals, position, isDone: false };
  }
  return { ...totals, position: from.seal > to ? from : { seal: to + 1, record: 0, outcome: 0 }, isDone: true };
}

/** Keys of run records, and objects. */
interface SealedLists {
  readonly records: string[];
  readonly objects: SealedObject[];
}

/** What seals name first, by the number of the seal, in order. */
function listsOf({ chain, current }: Walk, from: number, to: number): Map<number, SealedLists> {
  const lists = new Map<number, SealedLists>();
  const listOf = (number: number): SealedLists => {
    const list = lists.get(number) ?? { records: [], objects: [] };
    if (number >= from && number <= to) lists.set(number, list);
    return list;
  };
  for (const [key, { by }] of chain.records) listOf(by.number).records.push(key);
  for (const [key, { by }] of chain.objects) listOf(by.number).objects.push({ key });
  for (const { key } of current.records) listOf(current.number).records.push(key);
  for (const { key } of current.objects) listOf(current.number).objects.push({ key });
  return new Map([...lists].sort(([one], [other]) => one - other));
}

/** Verifies the run of a record again. @returns whether there was time */
async function isVerified({ verifyRun, stop }: Walk, key: string): Promise<boolean> {
  const run = parseRunRecordKey(key)?.run;
  try {
    if (run !== undefined) await verifyRun?.(run);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return !stop.aborted;
}

/** @returns the index of the first outcome that there was no time for; undefined: all were read */
async function verifyRecord(context: Walk, key: string, first: number, totals: Totals): Promise<number | undefined> {
  const record = await readRecord(context, key);
  if (record === undefined) return context.stop.aborted ? first : undefined;
  const last = await verifyObjects(context, archivedBy(record, first), totals);
  for (const { index } of archivedBy(record, last === undefined ? first : last.index + 1)) return index;
  return undefined;
}

/** @returns the last object that there was time for */
async function verifyObjects<Item extends SealedObject>(
  { reader, stop, find, sealed, logs, mayHaveRemoved }: Walk,
  objects: Iterable<Item>,
  totals: Totals,
): Promise<Item | undefined> {
  const check = async (item: Item) => {
    const { key, outcome } = item;
    const isFollowed = logs !== undefined && outcome?.resource === 'log';
    return { item, ...(await (isFollowed ? logs.check(outcome) : checkObject(reader, key, outcome))) };
  };
  let last: Item | undefined;
  for await (const { item, problem, bytes, sha256 } of mapConcurrently(
    untilAborted(objects, stop),
    concurrency,
    check,
  )) {
    // What ended because the time is over says nothing.
    if (stop.aborted && problem !== undefined) break;
    last = item;
    totals.objects += 1;
    totals.bytes += bytes;
    const { key, outcome } = item;
    sealed.checkObject(key, sha256);
    const writtenAt = new Date(outcome?.fetchedAt ?? parseObjectKey(key)?.run ?? 0);
    if (problem !== undefined && !(problem.kind === 'missing' && (await mayHaveRemoved(writtenAt, key))))
      find(problem.kind, key, problem.problem);
  }
  return last;
}

interface Totals {
  objects: number;
  bytes: number;
}

interface SealedObject {
  readonly key: string;
  /** What its run record says of it; left out: only the seal has a hash of it. */
  readonly outcome?: RunOutcome & { readonly key: string };
}

interface IndexedObject extends SealedObject {
  /** In the outcomes of the record. */
  readonly index: number;
}

function* archivedBy({ outcomes, attempt, collectorVersion }: StoredRecord, first: number): Generator<IndexedObject> {
  for (let index = first; ; index += 1) {
    const outcome = outcomes.at(index);
    if (outcome === undefined) return;
    const { key } = outcome;
    if (outcome.outcome === 'archived' && key !== undefined && parseObjectKey(key) !== undefined)
      yield { key, outcome: Object.assign(outcome, { key, attempt, collectorVersion }), index };
  }
}

function* untilAborted<Item>(items: Iterable<Item>, signal: AbortSignal): Generator<Item> {
  for (const item of items) {
    if (signal.aborted) return;
    yield item;
  }
}

/** Undefined for a record that is gone or bad, or if the time is over. */
async function readRecord({ reader, stop, sealed, find }: Walk, key: string): Promise<StoredRecord | undefined> {
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
