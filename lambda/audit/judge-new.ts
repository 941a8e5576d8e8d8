import { parseObjectKey, parseRunRecordKey } from '../../archive/format/keys';
import { resources } from '../../archive/format/resources';
import type { Position } from '../../archive/format/seal-state';
import { checkObject, judgeBeside, type Met, type Sealed, take, unlessExpired } from '../../archive/prove/attest';
import {
  allClusters,
  clusterNames,
  mapConcurrently,
  type Period,
  readRunRecord,
  type StoredOutcome,
} from '../../archive/read';
import { type AuditJudge, concurrency } from './audit-judge';
import type { LogSeams } from './log-seams';
import type { NewRecords } from './seal-records';

/** Runs without their sealed record that one audit lists: all the others are judged with what is old. */
const mostIncomplete = 20;

/**
 * Lists what all clusters of the bucket have of the new runs, and of those that have lost a sealed record. It lists cluster by
 * cluster, so that its cost does not grow with the archive's age.
 * @param met what the records of the new runs were met to name
 * @param search the new runs; undefined: not all of their records were read
 * @param incomplete times of runs that have lost a sealed record
 * @returns whether the new runs were listed, and the time sufficed
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function listNew(
  judge: AuditJudge,
  met: Met,
  search: Period | undefined,
  incomplete: readonly Date[],
): Promise<boolean> {
  const isListed = await judge.inTime(async () => {
    const clusters = allClusters(await clusterNames(judge.reader, judge.find));
    for (const run of incomplete.slice(0, mostIncomplete))
      await judge.judgeSlice({ from: run, to: run, clusters, depth: 'names' });
    if (search === undefined) return false;
    await take(judgeBeside({ ...search, clusters, depth: 'names' }, judge.world, met), judge.observe);
    return true;
  });
  return isListed === true;
}

/** What was read so far. */
interface Reading {
  objects: number;
  bytes: number;
  /** Where the next audit goes on: behind the last seal, if everything was read. */
  position: Position;
}

/**
 * Reads what run records archived that were sealed and not read yet, in the order of the records: a log is compared with the
 * one before it, and what was completed late is read too. A run has all clusters, so that reading that is cut off has read as
 * much of one cluster as of another.
 * @param number of the seal that is being made
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readNew(
  judge: AuditJudge,
  number: number,
  { records }: Pick<NewRecords, 'records'>,
  logs: Pick<LogSeams, 'check'>,
): Promise<Reading> {
  const { chain } = judge;
  const from = chain.state.cursor.verified;
  const reading: Reading = { objects: 0, bytes: 0, position: from };
  const seals = [...chain.all, { number, records }].filter((seal) => seal.number >= from.seal);
  await judge.inTime(async () => {
    for (const seal of seals) {
      if (seal.number > reading.position.seal) reading.position = { seal: seal.number, record: 0, outcome: 0 };
      for (const { key } of seal.records.slice(reading.position.record)) {
        await readRecord(judge, key, reading, logs);
        reading.position = { ...reading.position, record: reading.position.record + 1, outcome: 0 };
      }
    }
    if (from.seal <= number) reading.position = { seal: number + 1, record: 0, outcome: 0 };
  });
  return reading;
}

/** A call of its own: a variable of the loop would keep the outcomes of a record while those of the next are read. */
async function readRecord(
  judge: AuditJudge,
  recordKey: string,
  reading: Reading,
  logs: Pick<LogSeams, 'check'>,
): Promise<void> {
  const { reader, sealed, find } = judge;
  const name = parseRunRecordKey(recordKey);
  if (name === undefined) return;
  const { record, file, bad } = await readRunRecord(reader, { ...name, key: recordKey });
  const forged = sealed.compareRecord(recordKey, file?.sha256);
  if (typeof forged === 'object') judge.observe({ finding: forged });
  // It could be read when it was sealed. That it is gone, or was damaged then, is said elsewhere.
  if (bad !== undefined && file === undefined && bad.kind !== 'missing') find(bad.kind, recordKey, bad.problem);
  if (record === undefined) return;
  const { attempt, collectorVersion, outcomes } = record;
  const first = reading.position.outcome;
  const archived = function* (): Generator<{ index: number; outcome: StoredOutcome }> {
    for (let index = first; ; index += 1) {
      const outcome = outcomes.at(index);
      if (outcome === undefined) return;
      const { key = '' } = outcome;
      const name = outcome.outcome === 'archived' ? parseObjectKey(key) : undefined;
      if (name !== undefined)
        yield { index, outcome: Object.assign(outcome, { key, name, attempt, collectorVersion }) };
    }
  };
  const check = async ({ index, outcome }: { readonly index: number; readonly outcome: StoredOutcome }) => {
    const isLog = resources[outcome.resource].holdsLog;
    return { index, outcome, ...(await (isLog ? logs.check(outcome) : checkObject(reader, outcome.key, outcome))) };
  };
  const there = new Set<Sealed>();
  for await (const { index, outcome, problem, bytes, sha256 } of mapConcurrently(archived(), concurrency, check)) {
    const { key } = outcome;
    const other = sealed.compareObject(key, sha256, there);
    if (typeof other === 'object') judge.observe({ finding: other });
    if (problem?.kind === 'missing')
      judge.observe(await unlessExpired(judge, sealed.lost([recordKey], outcome, problem.problem)));
    else if (problem !== undefined) find(problem.kind, key, problem.problem);
    reading.objects += 1;
    reading.bytes += bytes;
    reading.position = { ...reading.position, outcome: index + 1 };
  }
}
