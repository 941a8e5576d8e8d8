import { MergedOutcomes } from '../run/merged-outcomes';
import { isStored, type RunOutcome, type StoredRecord } from '../run/run-record';
import type { ListedRun } from './run-keys';

/** What the valid records of a run say together. */
export interface MergedRecords {
  readonly run: Date;
  /** `complete` only if the records of all shards are there and everything they cover is archived. */
  readonly status: 'complete' | 'incomplete';
  /** Most attempts that any shard took. */
  readonly attempts: number;
  /** Parts the run was divided into; 1 for an undivided run. */
  readonly shards: number;
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
  readonly outcomes: Iterable<RunOutcome>;
  /** Why attempts ended early. */
  readonly stopped: readonly string[];
}

/** Puts the records of a run together. Their texts stay in memory with its outcomes. */
export function mergeRecords(listed: ListedRun, records: readonly StoredRecord[]): MergedRecords {
  const outcomes = new MergedOutcomes();
  for (const record of records) outcomes.add(record);
  const totals = totalsOf(outcomes);
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
    status: allThere && totals.counts.failed + totals.counts.notAttempted === 0 ? 'complete' : 'incomplete',
    attempts: largest(attempts.values()),
    shards: largest(listed.records.map(({ shard }) => shard?.count ?? 1)),
    startedAt: records.map((record) => record.startedAt).sort()[0],
    finishedAt: records
      .map((record) => record.finishedAt)
      .sort()
      .at(-1),
    durationMs: Math.max(0, ...worked.values()),
    ...totals,
    outcomes,
    stopped: records.flatMap(({ stopped }) => stopped ?? []),
  };
}

function totalsOf(outcomes: Iterable<RunOutcome>): Pick<MergedRecords, 'counts' | 'bytes' | 'storedBytes'> {
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
  return { counts, bytes, storedBytes };
}

/** Not Math.max, which takes some 120,000 arguments: whoever may write run records can put more there. */
function largest(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return most;
}

function hasAllShards(records: readonly StoredRecord[]): boolean {
  const seen = new Map<number, Set<number>>();
  for (const { shard } of records) {
    if (shard === undefined) continue;
    seen.set(shard.count, (seen.get(shard.count) ?? new Set()).add(shard.index));
  }
  return [...seen].every(([count, indices]) => indices.size === count);
}

function shardName(shard: StoredRecord['shard']): string {
  return shard === undefined ? '' : `${shard.index}/${shard.count}`;
}
