import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CollectorConfig } from '../../infra/config/config';
import { parseRunRecordKey } from '../../lambda/archive/archive-layout';
import { resourceNames } from '../../lambda/resources';
import { type Outcome, outcomeSchema, type RunSummary } from '../../lambda/run/run-record';
import { logMessages } from '../../lambda/stack-contract';
import { deployLocally, type LocalDeployment } from '../../local/deployment/deploy-locally';
import type { InvocationResult } from '../../local/deployment/local-function';
import { MessageRefusedError } from '../../local/deployment/local-messages';
import { ScheduleError } from '../../local/deployment/schedule';
import type { ExecutionResult } from '../../local/deployment/states/state-machine';
import { eventOf, type RunWishes } from '../stack/event-of';
import type { Terminal } from '../terminal/terminal';
import { LastAttempt } from './last-attempt';
import { type StartedAudit, startAudit } from './start-audit';
import { StartProgress } from './start-progress';
import type { StartedService } from './start-service';

export interface RunChoice extends Omit<RunWishes, 'newRun' | 'requestId'> {
  readonly folder: string;
  /** Whether the archive is audited after the run. */
  readonly audit?: boolean | undefined;
}

/** The run was interrupted. What it has archived stays. */
export class RunInterruptedError extends Error {
  override readonly name = 'RunInterruptedError';

  /**
   * @param archived objects
   * @param hasRecord whether an attempt has written its record
   */
  constructor(
    readonly run: Date,
    readonly archived: number,
    readonly hasRecord: boolean,
    options: ErrorOptions,
  ) {
    super(`Run ${run.toISOString()} was interrupted`, options);
  }
}

/** A run of the locally deployed stack. */
export interface StartedRun {
  /** Whether the schedule was fired, rather than the function invoked by hand. */
  readonly scheduled: boolean;
  /** The execution that the schedule started; undefined for a fleet that is not in shards. */
  readonly execution?: ExecutionResult | undefined;
  /** Oldest first, of all shards; empty if something was refused. */
  readonly attempts: readonly InvocationResult[];
  /** Whether the last attempt was left out, because the one before ended early over a service that is down. */
  readonly isLastLeftOut: boolean;
  /** What the last attempt says of itself; undefined if it did not get so far. */
  readonly summary: RunSummary | undefined;
  /** Each cluster x resource that the run covers. */
  readonly covered: readonly Pick<Outcome, 'cluster' | 'resource'>[];
  /** Outcomes that failed, from the log: a dry run leaves no run record. */
  readonly failures: readonly Outcome[];
  /** Keys of the run records that were written. */
  readonly records: readonly string[];
  /** What kept the schedule or a failure record from being delivered. */
  readonly refused: Error | undefined;
  /** The audit after the run; undefined if none was asked for. */
  readonly audit: StartedAudit | undefined;
}

/**
 * Synthesises the stack, deploys it locally, starts one run, audits the archive if asked to, and takes everything but the archive down again.
 * @throws what synthesis and deployment throw; a run that fails is a result
 */
export async function startRun(
  { config, apiKey }: StartedService,
  choice: RunChoice,
  terminal: Terminal,
  interrupted: AbortSignal,
): Promise<StartedRun> {
  const outdir = await mkdtemp(join(tmpdir(), 'cdk-out-'));
  let deployment: LocalDeployment | undefined;
  let progress: StartProgress | undefined;
  const run = choice.run ?? new Date();
  const records: string[] = [];
  const lastAttempt = new LastAttempt();
  try {
    // Loading the CDK takes a second, which whoever only mistyped an option should not wait for.
    const { synthesize } = await Promise.race([import('../../infra/collector-app'), aborted(interrupted)]);
    const assembly = synthesize({ config, outdir, validate: false });
    interrupted.throwIfAborted();
    deployment = await deployLocally({
      assembly,
      folder: choice.folder,
      secretValue: apiKey,
      aroundInvocation: lastAttempt.aroundInvocation,
      onRequest: (request) => {
        progress?.request(request);
        const { action, key = '', status } = request;
        if (action === 'PutObject' && status === 200 && parseRunRecordKey(key) !== undefined) records.push(key);
      },
      onLog: (line) => progress?.line(line),
    });
    const covered = coveredBy(config, choice);
    const isRetried = !isByHand(deployment, choice);
    progress = new StartProgress(terminal, { objects: covered.length, isRetried, shards: config.shards });
    interrupted.throwIfAborted();
    const invoked = await Promise.race([invokeAndAudit(deployment, run, choice), aborted(interrupted)]);
    const { logs } = deployment;
    const { isLeftOut: isLastLeftOut } = lastAttempt;
    return { ...invoked, covered, isLastLeftOut, summary: summaryIn(logs), failures: failuresIn(logs), records };
  } catch (error) {
    if (!interrupted.aborted || progress === undefined || choice.dryRun) throw error;
    const hasRecord = records.length > 0 || (choice.run !== undefined && !choice.withoutRecord);
    throw new RunInterruptedError(run, progress.archived, hasRecord, { cause: error });
  } finally {
    progress?.stop();
    await deployment?.close();
    await rm(outdir, { recursive: true, force: true });
  }
}

type Invoked = Pick<StartedRun, 'scheduled' | 'execution' | 'attempts' | 'refused'>;

async function invokeAndAudit(
  deployment: LocalDeployment,
  run: Date,
  choice: RunChoice,
): Promise<Invoked & Pick<StartedRun, 'audit'>> {
  const invoked = await invoke(deployment, run, choice);
  return { ...invoked, audit: choice.audit === true ? await startAudit(deployment) : undefined };
}

/** Whether the function is invoked, rather than the schedule fired. */
function isByHand({ schedule }: LocalDeployment, { clusters, dryRun, run }: RunChoice): boolean {
  return clusters !== undefined || dryRun === true || run !== undefined || schedule?.enabled !== true;
}

async function invoke(deployment: LocalDeployment, run: Date, choice: RunChoice): Promise<Invoked> {
  if (isByHand(deployment, choice)) {
    const event = eventOf({ ...choice, newRun: run });
    return { scheduled: false, attempts: [await deployment.invoke(event)], refused: undefined };
  }
  try {
    const { attempts, execution } = await deployment.fireSchedule(run);
    return { scheduled: true, execution, attempts, refused: undefined };
  } catch (error) {
    if (!(error instanceof MessageRefusedError || error instanceof ScheduleError)) throw error;
    return { scheduled: true, attempts: [], refused: error };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Each cluster x resource that the run covers. */
function coveredBy({ clusters }: CollectorConfig, { clusters: chosen }: RunChoice): StartedRun['covered'] {
  return clusters
    .filter(({ uid }) => chosen === undefined || chosen.includes(uid))
    .flatMap(({ uid, resources = resourceNames }) => resources.map((resource) => ({ cluster: uid, resource })));
}

/** The log has the summary even of a run that failed, whose answer is an error. */
function summaryIn(logs: readonly string[]): RunSummary | undefined {
  for (const line of [...logs].reverse()) {
    if (!line.includes(logMessages.run)) continue;
    const entry = JSON.parse(line) as RunSummary & { message?: string };
    if (entry.message !== logMessages.run) continue;
    // The line also says what the logger adds, such as the function's name.
    const { run, shard, attempt, status, dryRun, counts, record, stopped, durationMs } = entry;
    return {
      run,
      shard,
      status,
      dryRun,
      counts,
      stopped,
      durationMs,
      ...(attempt && { attempt }),
      ...(record && { record }),
    };
  }
  return undefined;
}

function failuresIn(logs: readonly string[]): Outcome[] {
  const failures = logs.filter((line) => line.includes(logMessages.failure)).map((line) => JSON.parse(line));
  return failures.flatMap((line) => (line.message === logMessages.failure ? outcomeSchema.parse(line) : []));
}
