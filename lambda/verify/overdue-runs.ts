import type { ArchiveReader } from './archive-reader';
import { type AbsentRuns, DueRuns } from './due-runs';
import { readStoredRun } from './read-run';
import type { ListedRun } from './run-keys';
import { planOf, SealIndex } from './seals/seal-index';
import { runsBefore, seenRun } from './seen-run';
import type { StoredConfigurations } from './stored-configurations';
import { hourMs, runMarginHours } from './time-limits';

/** Runs that were due since the last scheduled run, have had their time, and are not there. */
export interface Overdue extends AbsentRuns {
  /** Whether a seal says that the schedule was in force: its plan is newer than every stored configuration. */
  readonly isSealed: boolean;
}

/**
 * Finds what is overdue now. Undefined if nothing is, and for an archive without a clock of its own: that is a folder, a
 * copy or one that `npm start` fills, and nothing fires there.
 * @param now by the clock of whoever asks
 * @throws ArchiveReadError
 */
export async function findOverdue(
  reader: ArchiveReader,
  now: Date,
  configurations: StoredConfigurations,
): Promise<Overdue | undefined> {
  if ((await reader.time()) === undefined) return undefined;
  let shards = 1;
  const read = async (listed: ListedRun) => {
    const run = await readStoredRun(reader, listed);
    shards = Math.max(shards, run.shards);
    return seenRun(run, configurations);
  };
  const due = new DueRuns({});
  const runs = await runsBefore(reader, { from: new Date(now.getTime() + 1) }, read);
  for (const run of runs) due.add(run);
  const seal = await new SealIndex(reader).newest();
  const plan = seal && planOf(seal);
  // The archive does not say whether one run waits for another: so it may.
  const until = new Date(now.getTime() - runMarginHours(plan?.shards ?? shards, true) * hourMs);
  const absent = due.upTo(until, plan);
  if (absent.times.length === 0) return undefined;
  const isSealed = plan !== undefined && runs.flatMap(({ used }) => used).every(({ usedAt }) => usedAt <= plan.usedAt);
  return { ...absent, isSealed };
}
