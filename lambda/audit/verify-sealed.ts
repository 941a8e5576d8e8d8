import { parseObjectKey, parseRunRecordKey } from '../archive/archive-layout';
import type { RunOutcome, StoredRecord } from '../run/run-record';
import { dayMs } from '../time-limits';
import { checkObject } from '../verify/check-object';
import { mapConcurrently } from '../verify/map-concurrently';
import { readRunRecord } from '../verify/read-run';
import { type Position, type SealState, start } from '../verify/seals/seal-state';
import { type AuditWalk, concurrency, findLacking, inTime } from './audit-walk';
import { checkRun } from './check-open';
import type { LogSeams } from './log-seams';
import type { SealedRuns } from './sealed-runs';

/**
 * Reads the objects of new records first, and old content again with what time is left.
 * @param number of the seal that is being made
 * @returns what was read, and where the next audit goes on, as a seal has it
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifySealed(walk: AuditWalk, number: number, runs: SealedRuns, logs: LogSeams) {
  const { head: before, state } = walk.chain;
  const current = { number, runs };
  const news = await readSealed({ ...walk, current, logs }, state.cursor.verified, number);
  const isDone = news.position.seal > number;
  const pass = passOf(walk);
  const old = pass?.position && isDone ? await readSealed({ ...walk, current }, pass.position, number - 1) : undefined;
  const place = old?.position ?? pass?.position;
  const position = place && place.seal < number ? place : null;
  const carriedOver = isDone ? 0 : (before?.verified.carriedOver ?? 0) + runs.toVerify - news.objects;
  const isPassOver = old !== undefined && position === null;
  return {
    verified: {
      all: isPassOver && pass ? { from: pass.since, to: walk.now.toISOString() } : (before?.verified.all ?? null),
      objects: news.objects + (old?.objects ?? 0),
      bytes: news.bytes + (old?.bytes ?? 0),
      carriedOver: Math.max(0, carriedOver),
      carriedOverRecords: runs.carriedOver,
    },
    cursor: { verified: news.position, reread: pass && { position, since: pass.since } },
  };
}

/** Goes on with a pass over old content, or begins the next once the last one is old enough; undefined: none is wanted. */
function passOf({ chain, plan: { rereadDays }, now }: AuditWalk): SealState['cursor']['reread'] {
  const last = chain.state.cursor.reread ?? { position: null, since: now.toISOString() };
  if (last.position !== null) return last;
  if (rereadDays === undefined) return undefined;
  const isNext = now.getTime() - Date.parse(last.since) >= rereadDays * dayMs;
  return isNext ? { position: start, since: now.toISOString() } : last;
}

interface Walk extends AuditWalk {
  /** The seal that is being made. */
  readonly current: { readonly number: number; readonly runs: Pick<SealedRuns, 'records' | 'objects'> };
  /** Checks logs, and how each follows the one before; left out: all is read again, the records of runs too. */
  readonly logs?: Pick<LogSeams, 'check'>;
}

/** What was read so far. */
interface Reading {
  objects: number;
  bytes: number;
  /** Where the next audit goes on: behind the last seal, if everything was read. */
  position: Position;
}

/**
 * Reads sealed run records and their objects from a place on, in the order of the records. A run has all clusters, so that
 * reading that is cut off has read as much of one cluster as of another.
 * @param to number of the last seal whose objects are read
 */
async function readSealed(walk: Walk, from: Position, to: number): Promise<Reading> {
  const reading: Reading = { objects: 0, bytes: 0, position: from };
  await inTime(walk, async () => {
    for (const [number, { records, objects }] of listsOf(walk, from.seal, to)) {
      if (number > reading.position.seal) reading.position = { seal: number, record: 0, outcome: 0 };
      for (const key of records.slice(reading.position.record)) {
        await readRecord(walk, key, reading);
        reading.position = { ...reading.position, record: reading.position.record + 1, outcome: 0 };
      }
      // What seals say of objects was read when they were made.
      const again = walk.logs === undefined ? objects.map((key) => ({ key })) : [];
      await readObjects(walk, again, reading);
    }
    if (from.seal <= to) reading.position = { seal: to + 1, record: 0, outcome: 0 };
  });
  return reading;
}

/** Keys of what seals name first, by the number of the seal, in order. */
function listsOf({ chain, current }: Walk, from: number, to: number) {
  const lists = new Map<number, Record<'records' | 'objects', string[]>>();
  const add = (what: 'records' | 'objects', number: number, key: string) => {
    const list = lists.get(number) ?? { records: [], objects: [] };
    if (number >= from && number <= to) lists.set(number, list);
    list[what].push(key);
  };
  for (const what of ['records', 'objects'] as const) {
    for (const [key, { by }] of chain[what]) add(what, by.number, key);
    for (const { key } of current.runs[what]) add(what, current.number, key);
  }
  return [...lists].sort(([one], [other]) => one - other);
}

interface SealedObject {
  readonly key: string;
  /** What its run record says of it, and where; left out: only the seal has a hash of it. */
  readonly outcome?: RunOutcome & { readonly key: string };
  readonly index?: number;
}

/** A call of its own: a variable of the loop would keep the outcomes of a record while those of the next are read. */
async function readRecord(walk: Walk, key: string, reading: Reading): Promise<void> {
  const { reader, sealed, find, logs } = walk;
  const { outcome: first } = reading.position;
  const name = parseRunRecordKey(key);
  if (name === undefined) return;
  if (logs === undefined && first === 0) await checkRun(walk, name.run, []);
  const { record, file, bad } = await readRunRecord(reader, { ...name, key });
  sealed.checkRecordFile(key, file?.sha256);
  // It could be read when it was sealed. That one is gone, or was no good record then, is said elsewhere.
  if (bad !== undefined && file === undefined && bad.kind !== 'missing') find(bad.kind, key, bad.problem);
  if (record !== undefined) await readObjects(walk, archivedBy(record, first), reading);
}

async function readObjects(walk: Walk, objects: Iterable<SealedObject>, reading: Reading): Promise<void> {
  const { reader, find, sealed, logs } = walk;
  const check = async (object: SealedObject) => {
    const { key, outcome } = object;
    const isFollowed = logs !== undefined && outcome?.resource === 'log';
    return { object, ...(await (isFollowed ? logs.check(outcome) : checkObject(reader, key, outcome))) };
  };
  for await (const { object, problem, bytes, sha256 } of mapConcurrently(objects, concurrency, check)) {
    const { key, outcome, index } = object;
    sealed.checkObject(key, sha256);
    const writtenAt = new Date(outcome?.fetchedAt ?? parseObjectKey(key)?.run ?? 0);
    if (problem?.kind === 'missing')
      await findLacking(walk, { kind: 'missing', key, problem: problem.problem, writtenAt });
    else if (problem !== undefined) find(problem.kind, key, problem.problem);
    reading.objects += 1;
    reading.bytes += bytes;
    if (index !== undefined) reading.position = { ...reading.position, outcome: index + 1 };
  }
}

function* archivedBy({ outcomes, attempt, collectorVersion }: StoredRecord, first: number): Generator<SealedObject> {
  for (let index = first; ; index += 1) {
    const outcome = outcomes.at(index);
    if (outcome === undefined) return;
    const { key } = outcome;
    if (outcome.outcome === 'archived' && key !== undefined && parseObjectKey(key) !== undefined)
      yield { key, outcome: Object.assign(outcome, { key, attempt, collectorVersion }), index };
  }
}
