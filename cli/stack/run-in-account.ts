import { type ArchiveReader, firstOf, type Run, readRun, runsBetween } from '../../archive/read';
import { asynchronousAttempts, longestRunSeconds } from '../../lambda/time-limits';
import { formatCount, formatDuration } from '../terminal/format';
import type { Progress } from '../terminal/progress';
import { withAws } from './aws-access';
import type { DeployedCollector } from './find-stack';

/** What a person asks the function for. */
export interface RunMembers {
  /** Time of a new run; ignored if an earlier run is completed. */
  readonly newRun: Date;
  /** Time of an earlier run that is to be completed. */
  readonly run?: Date | undefined;
  /** Whether that run left no record. */
  readonly withoutRecord?: boolean | undefined;
  /** Left out: all that the run covers. */
  readonly clusters?: readonly string[] | undefined;
  readonly dryRun?: boolean | undefined;
  readonly requestId?: string | undefined;
}

/** The event that asks the function for this (docs/operations.md, "Starting a run by hand"). */
export function eventOf({ newRun, run, withoutRecord, clusters, dryRun, requestId }: RunMembers): object {
  const time = (run ?? newRun).toISOString();
  const name = run === undefined ? 'newRun' : withoutRecord ? 'scheduledTime' : 'run';
  return { [name]: time, ...(clusters && { clusters }), ...(dryRun && { dryRun }), ...(requestId && { requestId }) };
}

/**
 * Starts a run in the account, and does not wait for it.
 * @returns the ARN of the state machine's execution; undefined if the function itself was started: then only run records show that the run has ended
 * @throws AwsAccessError
 */
export async function startInAccount(collector: DeployedCollector, event: object): Promise<string | undefined> {
  const { region, functionName, stateMachineArn } = collector;
  if (stateMachineArn === undefined) {
    const { LambdaClient, InvokeCommand } = await import('@aws-sdk/client-lambda');
    const input = { FunctionName: functionName, InvocationType: 'Event', Payload: JSON.stringify(event) } as const;
    // A repeated request would be a second run.
    const client = new LambdaClient({ region, maxAttempts: 1 });
    await withAws(`Starting the function ${functionName}`, () => client.send(new InvokeCommand(input)));
    return undefined;
  }
  const { SFNClient, StartExecutionCommand } = await import('@aws-sdk/client-sfn');
  const client = new SFNClient({ region, maxAttempts: 1 });
  const input = { stateMachineArn, input: JSON.stringify(event) };
  const { executionArn } = await withAws(`Starting the state machine ${stateMachineArn}`, () =>
    client.send(new StartExecutionCommand(input)),
  );
  return executionArn;
}

/**
 * How an execution ended, with a status such as `SUCCEEDED`; undefined while it runs.
 * @throws AwsAccessError
 */
export async function endOfExecution(region: string, executionArn: string) {
  const { SFNClient, DescribeExecutionCommand } = await import('@aws-sdk/client-sfn');
  const client = new SFNClient({ region });
  const { status = '', cause } = await withAws(`Following the execution ${executionArn}`, () =>
    client.send(new DescribeExecutionCommand({ executionArn })),
  );
  return status === 'RUNNING' || status === 'PENDING_REDRIVE' ? undefined : { status, cause };
}

/** The answer of the function to an invocation. */
export type FunctionAnswer =
  | { readonly payload: unknown }
  | { readonly error: { readonly errorType?: string; readonly errorMessage?: string } };

/** Invokes the function and waits for its answer, for as long as it may run. @throws AwsAccessError */
export async function invokeInAccount(
  { region, functionName }: DeployedCollector,
  event: object,
  signal: AbortSignal,
): Promise<FunctionAnswer> {
  const { LambdaClient, InvokeCommand } = await import('@aws-sdk/client-lambda');
  // No time limit of its own: the function has one. Its agents send TCP keep-alives, without which a NAT gateway cuts a
  // connection that is silent for 350 seconds.
  const client = new LambdaClient({ region, maxAttempts: 1, requestHandler: { requestTimeout: 0, socketTimeout: 0 } });
  const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) });
  const answer = await withAws(`Invoking the function ${functionName}`, () =>
    client.send(command, { abortSignal: signal }),
  );
  const payload = JSON.parse(answer.Payload?.transformToString() || 'null');
  return answer.FunctionError === undefined ? { payload } : { error: payload };
}

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
  /** Whether this start has archived all that it was about. */
  readonly didAll: boolean;
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
    // By its own records: the run may lack what this start was not about, such as clusters that are not configured any more.
    const own = run && (earlier.size === 0 ? run : await readRun(reader, { run: time, records: written }));
    const isOver =
      executionArn === undefined
        ? own?.status === 'complete' || written.length >= asynchronousAttempts
        : execution !== undefined;
    const elapsedMs = now().getTime() - startedAt.getTime();
    if (isOver || elapsedMs > longestMs) return { run, didAll: own?.status === 'complete', execution };
    const counts = run && { done: run.counts.archived, total: run.outcomes.length };
    const ended = formatCount(written.length, 'attempt');
    progress.update({ ...counts, now: `${ended} ended, ${formatDuration(elapsedMs)} since the start` });
    await wait(lookEveryMs);
  }
}
