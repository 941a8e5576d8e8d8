import { ArchiveReadError, type ArchiveReader } from '../read/archive-reader';
import type { StoredRun } from '../read/read-run';
import { readStarts } from '../read/record-lines';
import type { ListedRun } from '../read/run-keys';
import type { StoredConfigurations } from '../read/stored-configurations';
import { type AbsentRuns, DueRuns, type Span } from './due-runs';
import { readHead } from './seals/read-chain';
import { planOf } from './seals/seal-plans';
import { mostRunsBeside, runsBefore, runsUntilScheduled, type SeenRun, seenRun } from './seen-run';

/** What was due up to now, as the runs and the newest seal of an archive say. */
export interface DueNow {
  /** What is not there of it. */
  readonly due: AbsentRuns;
  /** Whether a seal says that the schedule was in force: its plan is newer than all configurations that runs used. */
  readonly isSealed: boolean;
  /** So many of the newest runs were looked at in vain: the schedule started none, and nobody can say what is due. */
  readonly unscheduled?: number | undefined;
}

/**
 * Looks back to the last run that the schedule started, however many a person started since.
 * @param longestMs how long a run in so many parts may take, in milliseconds: what was due later may be there yet
 * @throws ArchiveReadError
 */
export async function dueNow(
  reader: ArchiveReader,
  configurations: StoredConfigurations,
  now: Date,
  longestMs: (shards: number) => number,
): Promise<DueNow> {
  let shards = 1;
  const read = async (listed: ListedRun) => {
    for (const { shard } of listed.records) shards = Math.max(shards, shard?.count ?? 1);
    return seenRun(await readStarts(reader, listed), configurations);
  };
  const dueRuns = new DueRuns({});
  const runs = await runsBefore(reader, { from: new Date(now.getTime() + 1) }, read);
  for (const run of runs) dueRuns.add(run);
  // Whoever may not list the seals, as a stack's own function, goes by the configurations alone.
  const chain = await readHead(reader, {}, () => undefined).catch((error: unknown) => {
    if (error instanceof ArchiveReadError && error.isLasting) return undefined;
    throw error;
  });
  const plan = chain?.head && planOf(chain.head);
  const isUnknown = plan === undefined && runs.length === mostRunsBeside && runs[0]?.isScheduled !== true;
  const until = new Date(now.getTime() - longestMs(plan?.shards ?? shards));
  return {
    due: dueRuns.upTo(until, plan),
    isSealed: runs.every(({ used }) => used.every(({ usedAt }) => plan !== undefined && usedAt <= plan.usedAt)),
    unscheduled: isUnknown ? runs.length : undefined,
  };
}

/**
 * What was due in a period, and is not there.
 * @param passed the runs of the period, oldest first, as far as they are read already
 * @returns `isOpen` if no run behind the period was started by the schedule: what was due up to now may count too
 * @throws ArchiveReadError
 */
export async function dueBetween(
  reader: ArchiveReader,
  configurations: StoredConfigurations,
  period: Span,
  passed: readonly Pick<StoredRun, 'run' | 'starts'>[],
): Promise<{ readonly absent: readonly AbsentRuns[]; readonly isOpen: boolean }> {
  const read = async (listed: ListedRun) => seenRun(await readStarts(reader, listed), configurations);
  const seen: SeenRun[] = [];
  for (const run of passed) seen.push(await seenRun(run, configurations));
  if (seen[0]?.isScheduled !== true) seen.unshift(...(await runsBefore(reader, period, read)));
  const next = await runsUntilScheduled(reader, period, read);
  const due = new DueRuns(period);
  return {
    absent: [...seen, ...next].map((run) => due.add(run)),
    isOpen: next.every(({ isScheduled }) => !isScheduled),
  };
}
