import { hash } from 'node:crypto';
import { lateContentMs } from '../format/clocks';
import type { Finding } from '../format/finding';
import type { RunRecordName } from '../format/keys';
import { MergedOutcomes } from '../format/merged-outcomes';
import { headersProblem, jsonLinesType } from '../format/object-headers';
import { problems } from '../format/problems';
import { largestRecordBytes, type RunOutcome, type StoredRecord } from '../format/run-record';
import { parseRunRecord } from '../format/run-record-lines';
import { shardName } from '../format/shard';
import type { ArchiveReader } from './archive-reader';
import { readingProblem, readWhole } from './read-whole';
import type { ListedRun, RunRecordObject } from './run-keys';

/** One run record as it was read. */
export interface ReadRecord {
  /** Of the file, as seals have it; undefined: it could not be read whole. */
  readonly file?: { readonly sha256: string; readonly bytes: number } | undefined;
  /** What it says; undefined: it is bad. */
  readonly record?: StoredRecord;
  /** What is wrong with its headers all the same. */
  readonly wrongHeaders?: string | undefined;
  readonly bad?: Finding;
}

/**
 * How an attempt was started, when at the latest, and with which configuration. What a record says of its time, it can have
 * made up: it was written by then.
 */
export type AttemptStart = Pick<StoredRecord, 'trigger' | 'startedAt' | 'configuration' | 'clusterList'>;

export function startOf(record: StoredRecord, writtenAt: Date): AttemptStart {
  const { trigger, startedAt, configuration, clusterList } = record;
  const written = writtenAt.toISOString();
  return { trigger, startedAt: startedAt < written ? startedAt : written, configuration, clusterList };
}

/**
 * One run as it is stored, put together from the records of all its attempts and shards, with their lengths and counts as
 * {@link MergedOutcomes} has them. The texts of the records stay in memory with it.
 */
export interface StoredRun extends Pick<MergedOutcomes, 'counts' | 'bytes' | 'storedBytes'> {
  readonly run: Date;
  /** `complete` only if the records of all shards are there and everything they cover is archived. */
  readonly status: 'complete' | 'incomplete';
  /** Most attempts that any shard took. */
  readonly attempts: number;
  readonly starts: readonly AttemptStart[];
  /** Parts the run was divided into; 1 for an undivided run. */
  readonly shards: number;
  readonly startedAt: string | undefined;
  readonly finishedAt: string | undefined;
  /** Working time in milliseconds: of all attempts of a shard together, of the slowest shard. */
  readonly durationMs: number;
  /** In the order of the first record that covers them. */
  readonly outcomes: Iterable<RunOutcome>;
  /** Why attempts ended early. */
  readonly stopped: readonly string[];
  /** Keys of all its records, the bad ones included. */
  readonly records: readonly string[];
  readonly badRecords: readonly Finding[];
  /** Length of those that could be read whole, in bytes. */
  readonly recordBytes: number;
  readonly read: readonly (RunRecordObject & ReadRecord)[];
}

/** A run with all outcomes in memory, in place of its records: those of 50,000 clusters take 100 MB. */
export interface Run extends Omit<StoredRun, 'read'> {
  readonly outcomes: readonly RunOutcome[];
}

/** {@link readStoredRun} for a reader of few clusters, or of one run. */
export async function readRun(reader: ArchiveReader, listed: ListedRun): Promise<Run> {
  const { read, ...run } = await readStoredRun(reader, listed, undefined, true);
  return { ...run, outcomes: [...run.outcomes] };
}

/**
 * Reads all records of a run. Reports bad and unreadable records, and reads the others.
 * @param valid records that were judged before, and gets these; left out: none
 * @param isKept keeps outcomes in memory too
 */
export async function readStoredRun(
  reader: ArchiveReader,
  listed: ListedRun,
  valid?: ValidRecords,
  isKept = false,
): Promise<StoredRun> {
  const read: StoredRun['read'][number][] = [];
  for (const object of listed.records) read.push({ ...object, ...(await readRunRecord(reader, object, valid)) });
  const merged = mergeRecords(
    read.flatMap(({ record }) => record ?? []),
    isKept,
  );
  const records = listed.records.map(({ key }) => key);
  const badRecords = read.flatMap(({ bad }) => bad ?? []);
  const recordBytes = read.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0);
  const starts = read.flatMap(({ record, writtenAt }) => (record === undefined ? [] : startOf(record, writtenAt)));
  return { ...merged, ...attemptsOf(listed), run: listed.run, starts, records, badRecords, recordBytes, read };
}

function mergeRecords(records: readonly StoredRecord[], isKept: boolean) {
  const outcomes = new MergedOutcomes(isKept);
  const worked = new Map<string, number>();
  for (const record of records) {
    outcomes.add(record);
    const part = shardName(record.shard);
    const tookMs = Date.parse(record.finishedAt) - Date.parse(record.startedAt);
    worked.set(part, (worked.get(part) ?? 0) + Math.max(0, tookMs));
  }
  const { counts, bytes, storedBytes } = outcomes;
  const isComplete = hasAllShards(records) && counts.failed + counts.notAttempted === 0;
  return {
    status: isComplete ? 'complete' : 'incomplete',
    startedAt: records.map(({ startedAt }) => startedAt).sort()[0],
    finishedAt: records
      .map(({ finishedAt }) => finishedAt)
      .sort()
      .at(-1),
    durationMs: largest(worked.values()),
    counts,
    bytes,
    storedBytes,
    outcomes,
    stopped: records.flatMap(({ stopped }) => stopped ?? []),
  } as const;
}

/** Of all records, the bad ones included. */
function attemptsOf({ records }: ListedRun): Pick<StoredRun, 'attempts' | 'shards'> {
  const attempts = new Map<string, number>();
  for (const { shard } of records) attempts.set(shardName(shard), (attempts.get(shardName(shard)) ?? 0) + 1);
  return { attempts: largest(attempts.values()), shards: largest(records.map(({ shard }) => shard?.count ?? 1)) };
}

/** Not Math.max, which takes some 120,000 arguments: whoever may write run records can put more there. */
function largest(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return most;
}

function hasAllShards(records: readonly StoredRecord[]): boolean {
  if (records.length === 0) return false;
  const seen = new Map<number, Set<number>>();
  for (const { shard } of records) {
    if (shard === undefined) continue;
    seen.set(shard.count, (seen.get(shard.count) ?? new Set()).add(shard.index));
  }
  return [...seen].every(([count, indices]) => indices.size === count);
}

/** Whether content was fetched more than an hour after its run's time: it is younger than its key says. */
export function isLate(run: Date, fetchedAt: Date | string | undefined): boolean {
  return fetchedAt !== undefined && new Date(fetchedAt).getTime() - run.getTime() > lateContentMs;
}

/**
 * Run records whose lines were judged, by the SHA-256 of their files, and whether these have other members: an audit reads each
 * record three times and more, and judging its lines takes half of that.
 */
export type ValidRecords = Map<string, boolean>;

/** Who reads a record again has read no more others meanwhile. */
const mostValid = 2000;

function note(valid: ValidRecords, sha256: string, { outcomes }: StoredRecord): void {
  valid.set(sha256, outcomes.hasOthers === true);
  const [oldest] = valid.keys();
  if (valid.size > mostValid && oldest !== undefined) valid.delete(oldest);
}

/** Reads and validates one run record. One object that cannot be read must not stop whoever reads all. */
export async function readRunRecord(
  reader: ArchiveReader,
  object: RunRecordName & { readonly key: string },
  valid: ValidRecords = new Map(),
): Promise<ReadRecord> {
  const { key } = object;
  let file: ReadRecord['file'];
  try {
    const found = await readWhole(reader, key, largestRecordBytes);
    if (found === undefined) return { bad: missingRecord(key) };
    const { bytes } = found;
    const sha256 = hash('sha256', bytes);
    file = { sha256, bytes: bytes.length };
    const record = parseRunRecord(object, bytes, valid.get(sha256));
    note(valid, sha256, record);
    return { file, record, wrongHeaders: headersProblem(found, { contentType: jsonLinesType }) };
  } catch (error) {
    return { file, bad: { key, ...readingProblem(error) } };
  }
}

export function missingRecord(key: string): Finding {
  return { key, problem: problems.goneSinceListed, kind: 'missing' };
}
