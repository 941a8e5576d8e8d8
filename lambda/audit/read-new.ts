import { parseObjectKey, parseRunRecordKey } from '../archive/archive-layout';
import { resources } from '../resources';
import type { StoredRecord } from '../run/run-record';
import { checkObject } from '../verify/check-object';
import { mapConcurrently } from '../verify/map-concurrently';
import { readRunRecord } from '../verify/read-run';
import type { Position } from '../verify/seals/seal-state';
import type { StoredOutcome } from '../verify/verify-run';
import { type AuditWalk, concurrency, findUnlessExpired, inTime } from './audit-walk';
import type { LogSeams } from './log-seams';
import type { SealedRuns } from './sealed-runs';

/** What was read so far. */
interface Reading {
  objects: number;
  bytes: number;
  /** Where the next audit goes on: behind the last seal, if everything was read. */
  position: Position;
}

/** Checks logs, and how each follows the one before. */
type LogCheck = Pick<LogSeams, 'check'>;

/**
 * Reads what run records archived that were sealed and not read yet, in the order of the records. A run has all clusters, so
 * that reading that is cut off has read as much of one cluster as of another.
 * @param number of the seal that is being made
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readNew(
  walk: AuditWalk,
  number: number,
  { records }: Pick<SealedRuns, 'records'>,
  logs: LogCheck,
): Promise<Reading> {
  const { chain } = walk;
  const from = chain.state.cursor.verified;
  const reading: Reading = { objects: 0, bytes: 0, position: from };
  const lists = new Map<number, string[]>();
  const add = (key: string, seal: number) => {
    if (seal >= from.seal) lists.set(seal, [...(lists.get(seal) ?? []), key]);
  };
  for (const [key, { by }] of chain.records) add(key, by.number);
  for (const { key } of records) add(key, number);
  await inTime(walk, async () => {
    for (const [seal, keys] of [...lists].sort(([one], [other]) => one - other)) {
      if (seal > reading.position.seal) reading.position = { seal, record: 0, outcome: 0 };
      for (const key of keys.slice(reading.position.record)) {
        await readRecord(walk, key, reading, logs);
        reading.position = { ...reading.position, record: reading.position.record + 1, outcome: 0 };
      }
    }
    if (from.seal <= number) reading.position = { seal: number + 1, record: 0, outcome: 0 };
  });
  return reading;
}

/** A call of its own: a variable of the loop would keep the outcomes of a record while those of the next are read. */
async function readRecord(walk: AuditWalk, key: string, reading: Reading, logs: LogCheck): Promise<void> {
  const { reader, sealed, find } = walk;
  const name = parseRunRecordKey(key);
  if (name === undefined) return;
  const { record, file, bad } = await readRunRecord(reader, { ...name, key });
  sealed.checkRecordFile(key, file?.sha256);
  // It could be read when it was sealed. That it is gone, or was damaged then, is said elsewhere.
  if (bad !== undefined && file === undefined && bad.kind !== 'missing') find(bad.kind, key, bad.problem);
  if (record !== undefined) await readObjects(walk, key, record, reading, logs);
}

async function readObjects(
  walk: AuditWalk,
  recordKey: string,
  record: StoredRecord,
  reading: Reading,
  logs: LogCheck,
): Promise<void> {
  const { reader, find, sealed } = walk;
  const check = async ({ index, outcome }: { readonly index: number; readonly outcome: StoredOutcome }) => {
    const isLog = resources[outcome.resource].holdsLog;
    return { index, outcome, ...(await (isLog ? logs.check(outcome) : checkObject(reader, outcome.key, outcome))) };
  };
  const objects = archivedBy(record, reading.position.outcome);
  for await (const { index, outcome, problem, bytes, sha256 } of mapConcurrently(objects, concurrency, check)) {
    const { key } = outcome;
    sealed.checkObject(key, sha256);
    if (problem?.kind === 'missing') await findUnlessExpired(walk, sealed.lost([recordKey], outcome, problem.problem));
    else if (problem !== undefined) find(problem.kind, key, problem.problem);
    reading.objects += 1;
    reading.bytes += bytes;
    reading.position = { ...reading.position, outcome: index + 1 };
  }
}

function* archivedBy({ outcomes, attempt, collectorVersion }: StoredRecord, first: number) {
  for (let index = first; ; index += 1) {
    const outcome = outcomes.at(index);
    if (outcome === undefined) return;
    const { key = '' } = outcome;
    const name = parseObjectKey(key);
    if (outcome.outcome === 'archived' && name !== undefined)
      yield { index, outcome: Object.assign(outcome, { key, name, attempt, collectorVersion }) };
  }
}
