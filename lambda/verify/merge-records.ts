import { isStored, type Outcome, outranks, type RunOutcome, rankOf, taskName } from '../run/run-record';
import type { StoredRecord } from '../run/stored-record';
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

/** Where the outcome lies that counts of one cluster x resource. */
interface Place {
  readonly record: StoredRecord;
  readonly index: number;
  readonly rank: number;
}

/** Puts the records of a run together. Their texts stay in memory with its outcomes. */
export function mergeRecords(listed: ListedRun, records: readonly StoredRecord[]): MergedRecords {
  const merged = new Map<string, Place>();
  const totals = new Totals();
  for (const record of records) {
    let index = 0;
    for (const outcome of record.outcomes) {
      const name = taskName(outcome);
      const known = merged.get(name);
      if (outranks(outcome, known?.rank)) {
        const before = known?.record.outcomes.at(known.index);
        if (before !== undefined) totals.add(before, -1);
        totals.add(outcome, 1);
        merged.set(name, { record, index, rank: rankOf(outcome) });
      }
      index += 1;
    }
  }
  const places = [...merged.values()];
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
    outcomes: { [Symbol.iterator]: () => outcomesOf(places) },
    stopped: records.flatMap(({ stopped }) => stopped ?? []),
  };
}

function* outcomesOf(places: readonly Place[]): Generator<RunOutcome> {
  for (const { record, index } of places) {
    const { attempt, collectorVersion, outcomes } = record;
    yield Object.assign(outcomes.at(index) as Outcome, { attempt, collectorVersion });
  }
}

class Totals implements Pick<MergedRecords, 'counts' | 'bytes' | 'storedBytes'> {
  readonly counts = { archived: 0, failed: 0, notAttempted: 0, optionalMissing: 0, doubts: 0 };
  bytes = 0;
  storedBytes = 0;

  /** @param sign -1 takes back what was added */
  add(outcome: Outcome, sign: 1 | -1): void {
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
