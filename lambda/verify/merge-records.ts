import { MergedOutcomes } from '../run/merged-outcomes';
import { isStored, type Outcome, type RunOutcome, type StoredRecord } from '../run/run-record';
import type { ListedRun } from './run-keys';

export type AttemptStart = Pick<StoredRecord, 'trigger' | 'startedAt' | 'configuration'>;

/** What the valid records of a run say together. */
export interface MergedRecords {
  readonly run: Date;
  /** `complete` only if the records of all shards are there and everything they cover is archived. */
  readonly status: 'complete' | 'incomplete';
  /** Most attempts that any shard took. */
  readonly attempts: number;
  /** How and when each attempt was started, and with which configuration. */
  readonly starts: readonly AttemptStart[];
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
  const totals = new Totals();
  for (const record of records) outcomes.add(record, undefined, (outcome, before) => totals.replace(before, outcome));
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
    starts: records.map(({ trigger, startedAt, configuration }) => ({ trigger, startedAt, configuration })),
    shards: largest(listed.records.map(({ shard }) => shard?.count ?? 1)),
    startedAt: records.map((record) => record.startedAt).sort()[0],
    finishedAt: records
      .map((record) => record.finishedAt)
      .sort()
      .at(-1),
    durationMs: Math.max(0, ...worked.values()),
    counts: totals.counts,
    bytes: totals.bytes,
    storedBytes: totals.storedBytes,
    outcomes,
    stopped: records.flatMap(({ stopped }) => stopped ?? []),
  };
}

/** Counts while records are merged: reading all outcomes once more would take a quarter of the time. */
class Totals {
  readonly counts = { archived: 0, failed: 0, notAttempted: 0, optionalMissing: 0, doubts: 0 };
  bytes = 0;
  storedBytes = 0;

  replace(before: Outcome | undefined, after: Outcome): void {
    if (before !== undefined) this.#add(before, -1);
    this.#add(after, 1);
  }

  #add(outcome: Outcome, sign: 1 | -1): void {
    const { counts } = this;
    if (isStored(outcome)) counts.archived += sign;
    else if (outcome.optional) counts.optionalMissing += sign;
    else if (outcome.outcome === 'failed') counts.failed += sign;
    else counts.notAttempted += sign;
    if (outcome.doubt !== undefined) counts.doubts += sign;
    this.bytes += sign * (outcome.bytes ?? 0);
    this.storedBytes += sign * (outcome.storedBytes ?? 0);
  }
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
