import type { Resource } from '../resources';
import { type Outcome, type RunRecord, runRecordSchema } from '../run/run-record';
import { ArchiveReadError, type ArchiveReader } from './archive-reader';
import { damageOf } from './open-content';
import type { ListedRun, RunRecordObject } from './run-keys';

/** What became of one cluster x resource in a run, over all its attempts. */
export interface RunOutcome extends Outcome {
  /** The attempt whose record says so. */
  readonly attempt: number;
  /** Version of the collector that wrote that record. */
  readonly collectorVersion: string;
}

export interface BadRecord {
  readonly key: string;
  readonly problem: string;
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
  readonly startedAt: string | undefined;
  readonly finishedAt: string | undefined;
  /** Working time in milliseconds: of all attempts of a shard together, of the slowest shard. */
  readonly durationMs: number;
  readonly counts: { archived: number; failed: number; notAttempted: number };
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
 * @param onRecord called with each valid record, in order
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readRun(
  reader: ArchiveReader,
  listed: ListedRun,
  onRecord: (record: RunRecord, object: RunRecordObject) => void = () => {},
): Promise<Run> {
  const records: RunRecord[] = [];
  const badRecords: BadRecord[] = [];
  for (const object of listed.records) {
    try {
      const record = await readRunRecord(reader, object);
      onRecord(record, object);
      records.push(record);
    } catch (error) {
      if (!(error instanceof BadRunRecordError)) throw error;
      badRecords.push({ key: object.key, problem: error.message });
    }
  }
  return { ...mergeRecords(listed, records), records: listed.records.map(({ key }) => key), badRecords };
}

function mergeRecords(listed: ListedRun, records: readonly RunRecord[]): Omit<Run, 'records' | 'badRecords'> {
  const outcomes = [...mergeOutcomes(records).values()];
  const counts = { archived: 0, failed: 0, notAttempted: 0 };
  let bytes = 0;
  let storedBytes = 0;
  for (const outcome of outcomes) {
    if (isStored(outcome)) counts.archived++;
    else if (outcome.outcome === 'failed') counts.failed++;
    else counts.notAttempted++;
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
    attempts: Math.max(...attempts.values()),
    shards: Math.max(...listed.records.map(({ shard }) => shard?.count ?? 1)),
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

/**
 * What was archived stays archived, and a failure says more than a later attempt that did not get that far. Of two
 * failures the later counts, of two that are stored the earlier: it wrote the object.
 */
function mergeOutcomes(records: readonly RunRecord[]): Map<string, RunOutcome> {
  const merged = new Map<string, RunOutcome>();
  for (const { attempt, collectorVersion, outcomes } of records) {
    for (const outcome of outcomes) {
      const name = outcomeName(outcome.cluster, outcome.resource);
      const known = merged.get(name);
      const better = known === undefined ? 1 : weight(outcome) - weight(known);
      if (better > 0 || (better === 0 && !isStored(outcome)))
        merged.set(name, { ...outcome, attempt, collectorVersion });
    }
  }
  return merged;
}

function weight({ outcome, sha256 }: Outcome): number {
  if (outcome === 'archived') return 4;
  if (outcome === 'already-archived') return sha256 === undefined ? 2 : 3;
  return outcome === 'failed' ? 1 : 0;
}

function hasAllShards(records: readonly RunRecord[]): boolean {
  const seen = new Map<number, Set<number>>();
  for (const { shard } of records) {
    if (shard === undefined) continue;
    seen.set(shard.count, (seen.get(shard.count) ?? new Set()).add(shard.index));
  }
  return [...seen].every(([count, indices]) => indices.size === count);
}

export function isStored({ outcome }: Outcome): boolean {
  return outcome === 'archived' || outcome === 'already-archived';
}

/** One name per cluster x resource; a resource has no space in it. */
export function outcomeName(cluster: string, resource: Resource): string {
  return `${resource} ${cluster}`;
}

function shardName(shard: RunRecord['shard']): string {
  return shard === undefined ? '' : `${shard.index}/${shard.count}`;
}

const lateMs = 3_600_000;

/** Whether content was fetched more than an hour after its run's time: it is younger than its key says. */
export function isLate(run: Date, fetchedAt: Date | string | undefined): boolean {
  return fetchedAt !== undefined && new Date(fetchedAt).getTime() - run.getTime() > lateMs;
}

/** Largest run record that is read, in bytes: about 500,000 outcomes. What is larger was not written by a collector. */
const maxRecordBytes = 256 * 1024 * 1024;

/** A run record is there but is none: damaged, replaced, or written by something else. */
export class BadRunRecordError extends Error {
  override readonly name = 'BadRunRecordError';
}

/**
 * Reads and validates one run record. What is read back is as untrusted as what the service sends.
 * @throws BadRunRecordError if it is not a valid record, or not the one its key names
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readRunRecord(reader: ArchiveReader, object: RunRecordObject): Promise<RunRecord> {
  const text = await readText(reader, object);
  const parsed = runRecordSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.map(String).join('.');
    throw new BadRunRecordError(`it is no valid run record: ${path}: ${issue?.message ?? 'unknown'}`);
  }
  const record = parsed.data;
  const same =
    record.run === object.run.toISOString() &&
    record.attempt === object.attempt &&
    record.shard?.index === object.shard?.index &&
    record.shard?.count === object.shard?.count;
  if (!same) throw new BadRunRecordError('its content names another run, shard or attempt than its key');
  return record;
}

async function readText(reader: ArchiveReader, { key, storedBytes }: RunRecordObject): Promise<string> {
  if (storedBytes > maxRecordBytes)
    throw new BadRunRecordError(`it is too large to be a run record: ${storedBytes} bytes`);
  const opened = await reader.open(key);
  if (opened === undefined) throw new ArchiveReadError(`Reading ${key} failed: it was listed but is no longer there`);
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of opened.body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxRecordBytes) throw new BadRunRecordError('it is too large to be a run record');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    const damage = damageOf(error);
    if (damage !== undefined) throw new BadRunRecordError(damage, { cause: error });
    if (error instanceof BadRunRecordError) throw error;
    throw new ArchiveReadError(`Reading ${key} failed: ${(error as Error).message}`, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new BadRunRecordError('it is not JSON', { cause: error });
    throw error;
  }
}
