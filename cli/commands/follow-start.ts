import { type ArchiveReader, firstOf, type Run, runsBetween } from '../../archive/read';
import { stackArguments } from '../stack/aws-access';
import type { DeployedCollector } from '../stack/find-stack';
import { type FollowedRun, followRun, startInAccount } from '../stack/run-in-account';
import { formatTime } from '../terminal/format';
import { outcomesFailuresFirst, summarizeRun } from '../terminal/print-run';
import { Progress } from '../terminal/progress';
import { type CommandContext, InterruptedError, print } from '../terminal/terminal';

export interface Start {
  readonly collector: DeployedCollector;
  /** Of its archive. */
  readonly reader: ArchiveReader;
  readonly run: Date;
  /** What the function is asked for. */
  readonly event: object;
  readonly interrupted: AbortSignal;
  /** What an interruption leaves undone besides, in sentences; left out: nothing. */
  readonly undone?: string | undefined;
}

/**
 * Starts the deployed collector, and follows the run to its end.
 * @throws AwsAccessError, ArchiveReadError
 * @throws InterruptedError that says what goes on, if a person has interrupted
 */
export async function startAndFollow({ terminal, surroundings }: CommandContext, start: Start): Promise<FollowedRun> {
  const { collector, reader, run, event, interrupted, undone = '' } = start;
  const before = await firstOf(runsBetween(reader, { from: run, to: run }));
  const startedAt = terminal.now();
  const executionArn = await startInAccount(collector, event);
  const doing = 'run' in event || 'scheduledTime' in event ? 'Completing' : 'Started';
  await print(terminal.err, `${doing} run ${formatTime(run)} of ${collector.name}\n`);
  const progress = new Progress(terminal, 'Archiving', { now: 'started' });
  const following = followRun({
    run,
    startedAt,
    executionArn,
    region: collector.region,
    reader,
    progress,
    now: terminal.now,
    earlier: new Set(before?.records.map(({ key }) => key)),
    wait: (milliseconds) => surroundings.wait(milliseconds, interrupted),
  });
  const goesOn =
    `Run ${formatTime(run)} goes on in AWS, with its retries. See what becomes of it with\n` +
    `  npm run collector -- runs ${formatTime(run)} --archive s3://${collector.archiveBucket}${undone}`;
  return endOf(following, progress, interrupted, goesOn);
}

/**
 * Waits for what goes on in AWS.
 * @throws InterruptedError that says what goes on, if a person has interrupted
 */
export async function endOf<Result>(
  work: Promise<Result>,
  progress: Progress,
  interrupted: AbortSignal,
  goesOn: string,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw interrupted.aborted ? new InterruptedError(goesOn, { cause: error }) : error;
  } finally {
    progress.stop();
  }
}

/** What became of a start, as `--json` documents it. */
export function followedForJson(collector: DeployedCollector, time: Date, { run, execution }: FollowedRun): object {
  const known = run && { ...summarizeRun(run), outcomes: outcomesFailuresFirst(run) };
  const completeWith = run?.status === 'complete' ? undefined : completeCommand(collector, time, run);
  return { run: time, status: 'incomplete', ...known, execution, completeWith };
}

/** What a person can do about a run that is not complete. */
export function whatIsLeft(collector: DeployedCollector, time: Date, { run, didAll }: FollowedRun): string {
  return didAll
    ? 'This start has archived all that it was about. What is missing is of clusters that it did not cover: they are not configured any more, or --clusters left them out.'
    : `Complete it with\n  ${completeCommand(collector, time, run)}`;
}

function completeCommand({ name, region }: DeployedCollector, time: Date, run: Run | undefined): string {
  const record = run === undefined ? ' --without-record' : '';
  return `npm run collector -- run ${stackArguments({ name, region })} --run ${time.toISOString()}${record}`;
}
