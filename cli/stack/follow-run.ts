import { asynchronousAttempts, asynchronousRetryWaits, longestRunSeconds } from '../../lambda/time-limits';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { firstOf } from '../../lambda/verify/newest-first';
import { type Run, readRun } from '../../lambda/verify/read-run';
import { type RunRecordObject, runsBetween } from '../../lambda/verify/run-keys';
import { formatDuration, formatSecond } from '../terminal/format';
import type { Progress, ProgressState } from '../terminal/progress';
import { endOfExecution } from './start-in-account';

/** Milliseconds between two looks at the run records. */
const lookEveryMs = 5000;

/** How long a run is followed, in milliseconds: what its attempts may take, and five minutes in Lambda's queue. */
const longestMs = (longestRunSeconds + 300) * 1000;

export interface FollowOptions {
  readonly run: Date;
  /** Keys of the run's records before this start. */
  readonly earlier: ReadonlySet<string>;
  readonly startedAt: Date;
  /** Undefined: the function itself was started. */
  readonly executionArn: string | undefined;
  readonly region: string;
  readonly reader: ArchiveReader;
  readonly progress: Pick<Progress, 'update'>;
  readonly now: () => Date;
  /** Rejects with the reason of an interruption. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** What became of a start. */
export interface FollowedRun {
  /** Undefined if no attempt has left a record. */
  readonly run: Run | undefined;
  readonly execution: Awaited<ReturnType<typeof endOfExecution>>;
}

/**
 * Follows a run by its records until nothing will retry it any more.
 * @throws ArchiveReadError, AwsAccessError; what `wait` rejects with
 */
export async function followRun(options: FollowOptions): Promise<FollowedRun> {
  const { run: time, earlier, startedAt, executionArn, region, reader, progress, now, wait } = options;
  for (;;) {
    const execution = executionArn === undefined ? undefined : await endOfExecution(region, executionArn);
    const listed = await firstOf(runsBetween(reader, { from: time, to: time }));
    const written = (listed?.records ?? []).filter(({ key }) => !earlier.has(key));
    const run = listed === undefined || written.length === 0 ? undefined : await readRun(reader, listed);
    const isOver =
      executionArn === undefined
        ? run?.status === 'complete' || written.length >= asynchronousAttempts
        : execution !== undefined;
    const elapsedMs = now().getTime() - startedAt.getTime();
    if (isOver || elapsedMs > longestMs) return { run, execution };
    progress.update(stateOf(options, run, written, now()));
    await wait(lookEveryMs);
  }
}

function stateOf(
  { executionArn, startedAt }: FollowOptions,
  run: Run | undefined,
  written: readonly RunRecordObject[],
  now: Date,
): ProgressState {
  const elapsed = formatDuration(Math.max(0, now.getTime() - startedAt.getTime()));
  const counts = run && { done: run.counts.archived, total: run.outcomes.length };
  if (executionArn !== undefined)
    return { ...counts, now: `${written.length} attempts of shards have ended, for ${elapsed}` };
  const last = written.at(-1)?.writtenAt.getTime();
  const next = last === undefined ? 0 : last + (asynchronousRetryWaits[written.length - 1] ?? 0) * 1000;
  const attempt = `attempt ${written.length + 1} of ${asynchronousAttempts}`;
  const waiting = next > now.getTime() ? `waiting until about ${formatSecond(new Date(next))}` : `for ${elapsed}`;
  return { ...counts, now: `${attempt}, ${waiting}` };
}
