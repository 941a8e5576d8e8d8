import { parseObjectKey, runPrefix, runRecordKey } from '../archive/archive-layout';
import { resourceNames } from '../resources';
import { isStored, type RunOutcome, type RunRecord } from '../run/run-record';
import { functionTimeoutSeconds } from '../stack-contract';
import type { ArchiveReader, ListedObject } from './archive-reader';
import { checkObject, type ObjectProblem } from './check-object';
import { checkAttempts, checkRecord, missingAttempts } from './check-record';
import { mapConcurrently } from './map-concurrently';
import { objectsBetween } from './objects-between';
import { readRun } from './read-run';
import { RecordedObjects } from './recorded-objects';
import { isExpired, type Retention } from './retention';
import { type ListedRun, type Period, runsBetween } from './run-keys';

/**
 * `unrecorded`: there, but in no record. `pending`: the same, but so young that its record may still be written; not
 * damage. The other kinds are those of an object, or of a record that does not add up.
 */
export interface Finding {
  readonly kind: ObjectProblem['kind'] | 'unrecorded' | 'pending';
  readonly key: string;
  readonly problem: string;
}

export interface VerifyCounts {
  runs: number;
  records: number;
  /** Recorded objects that were read and are right. */
  sound: number;
  /** Uncompressed content that was read, in bytes. */
  bytes: number;
  /** Recorded objects that the lifecycle has removed. */
  expired: number;
  found: Record<Finding['kind'], number>;
}

export interface VerifyOptions extends Period {
  readonly retention: Retention | undefined;
  readonly now: Date;
  /** Objects read at once. */
  readonly concurrency: number;
  readonly onFinding: (finding: Finding) => void;
  /** Called now and then with how many of all runs are done, in parts of a run. */
  readonly onProgress: (done: number, total: number, counts: VerifyCounts) => void;
}

/** An attempt may run this long, and its record comes last. */
const pendingMs = functionTimeoutSeconds * 1000;

/**
 * Reads every recorded object of a period and looks for objects without a record. Memory does not grow with the
 * objects' sizes, and with their number only by bits.
 * @throws ArchiveReadError if the archive cannot be listed
 */
export async function verifyArchive(reader: ArchiveReader, options: VerifyOptions): Promise<VerifyCounts> {
  const { retention, now, onProgress } = options;
  const counts: VerifyCounts = {
    runs: 0,
    records: 0,
    sound: 0,
    bytes: 0,
    expired: 0,
    found: { missing: 0, damaged: 0, contradiction: 0, unreadable: 0, unrecorded: 0, pending: 0 },
  };
  const find = (kind: Finding['kind'], key: string, problem: string) => {
    counts.found[kind]++;
    options.onFinding({ kind, key, problem });
  };
  const stranger = ({ key }: ListedObject) => find('unrecorded', key, 'its key is none of an archive');
  const recorded = new RecordedObjects();
  /** When the last record of each run was written, in milliseconds: an attempt writes its objects before its record. */
  const lastRecord = new Map<number, number>();
  // Runs that begin from now on are not this verification's.
  const period = { from: options.from, to: options.to ?? now };

  let total = 0;
  for await (const _ of runsBetween(reader, period)) total++;
  for await (const listed of runsBetween(reader, period, stranger)) {
    const outcomes = await checkRun(reader, listed, isExpired(listed.run, retention, now), find);
    lastRecord.set(listed.run.getTime(), Math.max(...listed.records.map(({ writtenAt }) => writtenAt.getTime())));
    counts.runs++;
    counts.records += listed.records.length;
    let done = 0;
    const check = async (outcome: RunOutcome & { key: string }) => ({
      outcome,
      checked: await checkObject(reader, outcome.key, outcome),
    });
    for await (const { outcome, checked } of mapConcurrently(outcomes, options.concurrency, check)) {
      const name = parseObjectKey(outcome.key);
      if (name !== undefined) recorded.add(name);
      counts.bytes += checked.bytes;
      const { problem } = checked;
      const writtenAt = outcome.fetchedAt === undefined ? listed.run : new Date(outcome.fetchedAt);
      if (problem === undefined) counts.sound++;
      else if (problem.kind === 'missing' && isExpired(writtenAt, retention, now)) counts.expired++;
      else find(problem.kind, outcome.key, problem.problem);
      onProgress(counts.runs - 1 + ++done / outcomes.length, total, counts);
    }
    onProgress(counts.runs, total, counts);
  }

  for (const resource of resourceNames) {
    for await (const { key, name, writtenAt } of objectsBetween(reader, resource, period)) {
      if (name !== undefined && recorded.has(name)) continue;
      if (name === undefined) find('unrecorded', key, 'its key is none of an archive');
      // Its record went the same way a little earlier.
      else if (isExpired(writtenAt, retention, now)) counts.expired++;
      else if (
        now.getTime() - writtenAt.getTime() < pendingMs &&
        writtenAt.getTime() > (lastRecord.get(name.run.getTime()) ?? 0)
      )
        find('pending', key, 'no run record has it yet; it was written a short time ago');
      else find('unrecorded', key, `no run record says that it was archived; ${await ownWord(reader, key)}`);
    }
  }
  return counts;
}

/** What an object without a record says of itself. */
async function ownWord(reader: ArchiveReader, key: string): Promise<string> {
  const { problem } = await checkObject(reader, key);
  return problem === undefined ? 'it is what its own metadata says' : problem.problem;
}

/** Reports what the run's records say that cannot be; returns what they say is stored. */
async function checkRun(
  reader: ArchiveReader,
  listed: ListedRun,
  mayLackFirst: boolean,
  find: (kind: Finding['kind'], key: string, problem: string) => void,
): Promise<(RunOutcome & { key: string })[]> {
  const records: RunRecord[] = [];
  const run = await readRun(reader, listed, (record, { key }) => {
    for (const problem of checkRecord(record)) find('contradiction', key, problem);
    records.push(record);
  });
  for (const { key, problem } of run.badRecords) find('damaged', key, problem);
  for (const key of missingRecords(listed, mayLackFirst))
    find('missing', key, 'the run has records of later attempts, but not this one');
  records.sort((a, b) => a.attempt - b.attempt);
  for (const problem of checkAttempts(records)) find('contradiction', `${runPrefix(listed.run)}*`, problem);
  return run.outcomes.filter((outcome): outcome is RunOutcome & { key: string } => {
    return isStored(outcome) && parseObjectKey(outcome.key ?? '') !== undefined;
  });
}

function missingRecords({ run, records }: ListedRun, mayLackFirst: boolean): string[] {
  const shards = new Map(records.map(({ shard }) => [JSON.stringify(shard ?? null), shard]));
  return [...shards].flatMap(([part, shard]) => {
    const there = records.filter((record) => JSON.stringify(record.shard ?? null) === part);
    const numbers = there.map(({ attempt }) => attempt);
    return missingAttempts(numbers, mayLackFirst).map((attempt) => runRecordKey({ run, shard, attempt }));
  });
}
