import { parseObjectKey, parseRunRecordKey } from '../archive/archive-layout';
import { type RunOutcome, type RunRecord, RunRecordError } from '../run/run-record';
import type { ArchiveReader } from '../verify/archive-reader';
import { type CheckedObject, checkObject } from '../verify/check-object';
import type { Find } from '../verify/finding';
import { mapConcurrently } from '../verify/map-concurrently';
import { readRunRecord } from '../verify/read-run';
import type { Hashed, Position } from '../verify/seals/seal';
import { readSeal } from '../verify/seals/seal-files';

/** Objects read at once. */
const concurrency = 16;

export interface VerifySealedContext {
  readonly reader: ArchiveReader;
  readonly stop: AbortSignal;
  readonly find: Find;
  /** The seal that is being made. */
  readonly current: { readonly number: number; readonly records: readonly Hashed[] };
  /** Whether the lifecycle may have removed what was written then. */
  readonly mayHaveRemoved: (writtenAt: Date) => Promise<boolean>;
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
 * Reads the objects of sealed run records from a place on, in the order of the records. A run has all clusters, so that
 * reading that is cut off has read as much of one cluster as of another.
 * @param to number of the last seal whose objects are read
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifySealed(context: VerifySealedContext, from: Position, to: number): Promise<VerifiedObjects> {
  const { current, stop, reader } = context;
  const totals = { objects: 0, bytes: 0 };
  let position = from;
  while (position.seal <= to) {
    const isCurrent = position.seal === current.number;
    const records = isCurrent ? current.records : await recordsOf(reader, position.seal, stop);
    if (records === undefined) return { ...totals, position, isDone: false };
    for (const { key } of records.slice(position.record)) {
      if (stop.aborted) return { ...totals, position, isDone: false };
      const outcome = await verifyRecord(context, key, position.outcome, totals);
      if (outcome !== undefined) return { ...totals, position: { ...position, outcome }, isDone: false };
      position = { ...position, record: position.record + 1, outcome: 0 };
    }
    position = { seal: position.seal + 1, record: 0, outcome: 0 };
  }
  return { ...totals, position, isDone: true };
}

/** Undefined: there was no time to read the seal. A seal that is gone or broken was found when the chain was read. */
async function recordsOf(
  reader: ArchiveReader,
  number: number,
  stop: AbortSignal,
): Promise<readonly Hashed[] | undefined> {
  try {
    return (await readSeal(reader, number))?.records ?? [];
  } catch (error) {
    if (stop.aborted) return undefined;
    throw error;
  }
}

/** @returns the index of the first outcome that there was no time for; undefined: all were read */
async function verifyRecord(
  { reader, stop, find, mayHaveRemoved }: VerifySealedContext,
  key: string,
  first: number,
  totals: { objects: number; bytes: number },
): Promise<number | undefined> {
  const record = await readRecord(reader, key, stop);
  if (record === undefined) return stop.aborted ? first : undefined;
  const archived = archivedBy(record, first);
  const check = async ({ outcome }: IndexedOutcome): Promise<CheckedOutcome> => ({
    outcome,
    ...(await checkObject(reader, outcome.key, outcome)),
  });
  let done = 0;
  for await (const checked of mapConcurrently(untilAborted(archived, stop), concurrency, check)) {
    const { outcome, problem, bytes } = checked;
    // What ended because the time is over says nothing.
    if (stop.aborted && problem !== undefined) break;
    done += 1;
    totals.objects += 1;
    totals.bytes += bytes;
    if (problem === undefined) continue;
    const isExpired = problem.kind === 'missing' && (await mayHaveRemoved(new Date(outcome.fetchedAt ?? record.run)));
    if (!isExpired) find(problem.kind, outcome.key, problem.problem);
  }
  return archived[done]?.index;
}

interface IndexedOutcome {
  readonly outcome: RunOutcome & { readonly key: string };
  readonly index: number;
}

type CheckedOutcome = CheckedObject & Pick<IndexedOutcome, 'outcome'>;

function archivedBy({ outcomes, attempt, collectorVersion }: RunRecord, first: number): IndexedOutcome[] {
  return outcomes.flatMap((outcome, index) => {
    const { key } = outcome;
    const isNext = index >= first && outcome.outcome === 'archived';
    if (!isNext || key === undefined || parseObjectKey(key) === undefined) return [];
    return { outcome: { ...outcome, key, attempt, collectorVersion }, index };
  });
}

function* untilAborted<Item>(items: Iterable<Item>, signal: AbortSignal): Generator<Item> {
  for (const item of items) {
    if (signal.aborted) return;
    yield item;
  }
}

/** Undefined for a record that is gone or bad, which was said when it was sealed, or if the time is over. */
async function readRecord(reader: ArchiveReader, key: string, stop: AbortSignal): Promise<RunRecord | undefined> {
  const name = parseRunRecordKey(key);
  if (name === undefined) return undefined;
  try {
    return (await readRunRecord(reader, { ...name, key })).record;
  } catch (error) {
    if (stop.aborted || error instanceof RunRecordError) return undefined;
    throw error;
  }
}
