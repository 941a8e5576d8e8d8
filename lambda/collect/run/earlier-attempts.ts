import { hasOwnKey, MergedOutcomes } from '../../../archive/format/merged-outcomes';
import { isStored, type Outcome, type RunOutcome, taskName } from '../../../archive/format/run-record';
import { type Shard, shardName } from '../../../archive/format/shard';
import { identityOf } from './outcomes';
import type { RecordStore } from './record-store';

/** What earlier attempts of a run left behind. */
export interface EarlierAttempts {
  /** Attempts of the same run and shard so far. */
  readonly attempts: number;
  /** Clusters that the run's first record covers; of all shards, where no shard is asked for. */
  readonly clusters: ReadonlySet<string>;
  /** What they say of each task, by its name: of what is archived, as a later attempt records it. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/**
 * Highest attempt number that the next one is counted from. No run has a million attempts: somebody else has put an object
 * with such a name there, and near the largest number there is, no next one could be written.
 */
const mostAttempts = 1_000_000;

/**
 * Reads every record of a run rather than the last alone: an attempt on a few clusters, or one beside another, knows
 * nothing of the rest.
 * @param shard whose records alone are read; left out: all
 * @param onUnreadable called when a record cannot be used, or the records cannot be listed. What it said is missing
 * then, which costs requests only: conditional writes keep the archive right
 * @throws the signal's reason when it aborts
 */
export async function readEarlierAttempts(
  source: Pick<RecordStore, 'list' | 'read'>,
  { run, shard }: { readonly run: Date; readonly shard?: Shard | undefined },
  signal: AbortSignal,
  onUnreadable: (error: unknown) => void,
): Promise<EarlierAttempts> {
  const skip = (error: unknown) => {
    signal.throwIfAborted();
    onUnreadable(error);
  };
  const all = await source.list(run, signal).catch(skip);
  if (all === undefined) return { attempts: 0, clusters: new Set(), outcomes: new Map() };
  const own = all.filter((name) => shardName(name.shard) === shardName(shard));
  const names = shard === undefined ? all : own;
  const merged = new MergedOutcomes();
  const clusters = new Set<string>();
  const firstOf = new Set<string>();
  for (const name of names) {
    const record = await source.read(name, signal).catch(skip);
    if (record === undefined) continue;
    // One that says an object is stored under another key than its own is not believed.
    merged.add(record, (outcome) => !isStored(outcome) || hasOwnKey(outcome, run));
    const part = shardName(name.shard);
    if (!firstOf.has(part)) for (const { cluster } of record.outcomes) clusters.add(cluster);
    firstOf.add(part);
  }
  const outcomes = new Map<string, Outcome>();
  for (const outcome of merged) {
    // Without its error, which may be long: no later attempt asks for it.
    const missing = { ...identityOf(outcome), outcome: outcome.outcome };
    outcomes.set(taskName(outcome), isStored(outcome) ? asAlreadyArchived(outcome) : missing);
  }
  const attempts = own.findLast(({ attempt }) => attempt <= mostAttempts)?.attempt ?? 0;
  return { attempts, clusters, outcomes };
}

/** The facts, but not what it cost an earlier attempt or how that was configured. */
function asAlreadyArchived(outcome: RunOutcome): Outcome {
  const { attempt, collectorVersion, optional, leaving, requests, durationMs, httpStatus, error, ...facts } = outcome;
  return { ...facts, outcome: 'already-archived' };
}
