import { createHash } from 'node:crypto';
import type { RunRecordName } from '../archive/archive-layout';
import {
  isStored,
  largestRecordBytes,
  mergeOutcomes,
  parseRunRecord,
  type RunOutcome,
  type RunRecord,
  RunRecordError,
} from '../run/run-record';
import type { ArchiveReader } from './archive-reader';
import type { ContentHeaders } from './content-headers';
import { DamagedObjectError } from './open-content';
import { readWhole } from './read-whole';
import type { ListedRun, RunRecordObject } from './run-keys';

export interface BadRecord {
  readonly key: string;
  readonly problem: string;
  /** It was listed, and was gone when it was to be read. */
  readonly isGone: boolean;
}

/** The file of a run record, as seals have it. */
export interface RecordFile {
  /** Lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** As the record itself says; undefined for a bad record. */
  readonly finishedAt?: Date;
  /** How many outcomes say that this attempt archived an object. */
  readonly archived?: number;
}

/** One run, put together from the records of all its attempts and shards. */
export interface Run {
  readonly run: Date;
  /** `complete` only if the records of all shards are there and everything they cover is archived. */
  readonly status: 'complete' | 'incomplete';
  /** Most attempts that any shard took. */
  readonly attempts: number;
  /** Parts the run was divided into; 1 for an undivided run. */
  readonly shards: number;
  /** Keys of all its records, the bad ones included. */
  readonly records: readonly string[];
  readonly badRecords: readonly BadRecord[];
  /** The files of all records that could be read whole, bad ones too, by key. */
  readonly files: ReadonlyMap<string, RecordFile>;
  readonly startedAt: string | undefined;
  readonly finishedAt: string | undefined;
  /** Working time in milliseconds: of all attempts of a shard together, of the slowest shard. */
  readonly durationMs: number;
  /** `optionalMissing`: optional ones that are not archived; `failed` and `notAttempted` leave them out. `doubts` are archived and counted as such. */
  readonly counts: { archived: number; failed: number; notAttempted: number; optionalMissing: number; doubts: number };
  /** Uncompressed and stored length of everything archived, as far as the records say. */
  readonly bytes: number;
  readonly storedBytes: number;
  /** In the order of the first record that covers them. */
  readonly outcomes: readonly RunOutcome[];
  /** Why attempts ended early. */
  readonly stopped: readonly string[];
}

/**
 * Reads all records of a run. A bad record is reported in the result, and the others are read nonetheless.
 * @param onRecord called with each valid record, in order, and with the headers of its object
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readRun(
  reader: ArchiveReader,
  listed: ListedRun,
  onRecord: (record: RunRecord, object: RunRecordObject, headers: ContentHeaders) => void = () => {},
): Promise<Run> {
  const records: RunRecord[] = [];
  const badRecords: BadRecord[] = [];
  const files = new Map<string, RecordFile>();
  for (const object of listed.records) {
    const { file, good, bad } = await readRunRecord(reader, object);
    if (file !== undefined) files.set(object.key, file);
    if (bad !== undefined) badRecords.push(bad);
    if (good === undefined) continue;
    onRecord(good.record, object, good.headers);
    records.push(good.record);
  }
  return { ...mergeRecords(listed, records), records: listed.records.map(({ key }) => key), badRecords, files };
}

function mergeRecords(listed: ListedRun, records: readonly RunRecord[]): Omit<Run, 'records' | 'badRecords' | 'files'> {
  const merged = new Map<string, RunOutcome>();
  for (const record of records) mergeOutcomes(merged, record);
  const outcomes = [...merged.values()];
  const counts = { archived: 0, failed: 0, notAttempted: 0, optionalMissing: 0, doubts: 0 };
  let bytes = 0;
  let storedBytes = 0;
  for (const outcome of outcomes) {
    if (isStored(outcome)) counts.archived += 1;
    else if (outcome.optional) counts.optionalMissing += 1;
    else if (outcome.outcome === 'failed') counts.failed += 1;
    else counts.notAttempted += 1;
    if (outcome.doubt !== undefined) counts.doubts += 1;
    bytes += outcome.bytes ?? 0;
    storedBytes += outcome.storedBytes ?? 0;
  }
  const worked = new Map<string, number>();
  const attempts = new Map<string, number>();
  for (const { shard, startedAt, finishedAt } of records) {
    const part = shardName(shard);
    worked.set(part, (worked.get(part) ?? 0) + Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)));
  }
  for (const { shard } of listed.records) attempts.set(shardName(shard), (attempts.get(shardName(shard)) ?? 0) + 1);
  const allThere = records.length > 0 && hasAllShards(records);
  return {
    run: listed.run,
    status: allThere && counts.failed + counts.notAttempted === 0 ? 'complete' : 'incomplete',
    attempts: largest(attempts.values()),
    shards: largest(listed.records.map(({ shard }) => shard?.count ?? 1)),
    startedAt: records.map((record) => record.startedAt).sort()[0],
    finishedAt: records
      .map((record) => record.finishedAt)
      .sort()
      .at(-1),
    durationMs: Math.max(0, ...worked.values()),
    counts,
    bytes,
    storedBytes,
    outcomes,
    stopped: records.flatMap(({ stopped }) => stopped ?? []),
  };
}

/** Not Math.max, which takes some 120,000 arguments: whoever may write run records can put more there. */
function largest(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return most;
}

function hasAllShards(records: readonly RunRecord[]): boolean {
  const seen = new Map<number, Set<number>>();
  for (const { shard } of records) {
    if (shard === undefined) continue;
    seen.set(shard.count, (seen.get(shard.count) ?? new Set()).add(shard.index));
  }
  return [...seen].every(([count, indices]) => indices.size === count);
}

function shardName(shard: RunRecord['shard']): string {
  return shard === undefined ? '' : `${shard.index}/${shard.count}`;
}

const lateMs = 3_600_000;

/** Whether content was fetched more than an hour after its run's time: it is younger than its key says. */
export function isLate(run: Date, fetchedAt: Date | string | undefined): boolean {
  return fetchedAt !== undefined && new Date(fetchedAt).getTime() - run.getTime() > lateMs;
}

interface ReadRecord {
  /** Undefined: it could not be read whole. */
  readonly file?: RecordFile;
  /** One of them is there. */
  readonly good?: { readonly record: RunRecord; readonly headers: ContentHeaders };
  readonly bad?: BadRecord;
}

/**
 * Reads and validates one run record.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readRunRecord(
  reader: ArchiveReader,
  object: RunRecordName & { readonly key: string },
): Promise<ReadRecord> {
  const { key } = object;
  let file: RecordFile | undefined;
  try {
    const found = await readWhole(reader, key, largestRecordBytes);
    if (found === undefined) return { bad: { key, problem: 'it was listed, and is no longer there', isGone: true } };
    const { bytes, ...headers } = found;
    file = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    const record = parseRunRecord(bytes.toString('utf8'), object);
    const { finishedAt, counts } = record;
    return {
      file: { ...file, finishedAt: new Date(finishedAt), archived: counts.archived },
      good: { record, headers },
    };
  } catch (error) {
    if (!(error instanceof RunRecordError || error instanceof DamagedObjectError)) throw error;
    return { ...(file && { file }), bad: { key, problem: error.message, isGone: false } };
  }
}
