import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CollectorConfig } from '../../infra/config/config';
import { parseRunRecordKey } from '../../lambda/archive/archive-layout';
import { resourceNames } from '../../lambda/resources';
import type { Outcome, RunSummary } from '../../lambda/run/run-record';
import { firstOf } from '../../lambda/verify/newest-first';
import { type Run, readRun } from '../../lambda/verify/read-run';
import { runsBetween } from '../../lambda/verify/run-keys';
import { deployLocally, type LocalDeployment } from '../../local/deployment/deploy-locally';
import { FolderArchiveReader } from '../archive/folder-archive-reader';
import { eventOf } from '../stack/event-of';
import type { Terminal } from '../terminal/terminal';
import { type Fired, fire } from './fire';
import { LastAttempt } from './last-attempt';
import { type StartedAudit, startAudit } from './start-audit';
import type { StartOptions } from './start-options';
import type { StartedService } from './start-service';
import { WatchedRun } from './watched-run';

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
export interface StartedRun extends Fired {
  /** Whether the schedule was fired, rather than the function invoked by hand. */
  readonly scheduled: boolean;
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
  /** The run as those records have it; undefined if none was written. */
  readonly stored: Run | undefined;
  /** The audit after the run; undefined if none was asked for. */
  readonly audit: StartedAudit | undefined;
}

/**
 * Synthesises the stack, deploys it locally, starts one run, audits the archive if asked to, and takes everything but the archive down again.
 * @throws what synthesis and deployment throw; a run that fails is a result
 */
export async function startRun(
  { config, apiKey }: StartedService,
  options: StartOptions,
  terminal: Terminal,
  interrupted: AbortSignal,
): Promise<StartedRun> {
  const outdir = await mkdtemp(join(tmpdir(), 'cdk-out-'));
  const run = options.run ?? new Date();
  const covered = coveredBy(config, options);
  const lastAttempt = new LastAttempt();
  let deployment: LocalDeployment | undefined;
  let watched: WatchedRun | undefined;
  try {
    // Loading the CDK takes a second, which whoever only mistyped an option should not wait for.
    const { synthesize } = await Promise.race([import('../../infra/collector-app'), aborted(interrupted)]);
    const assembly = synthesize({ config, outdir, validate: false });
    interrupted.throwIfAborted();
    deployment = await deployLocally({
      assembly,
      folder: options.folder,
      secretValue: apiKey,
      aroundInvocation: lastAttempt.aroundInvocation,
      onRequest: (request) => watched?.request(request),
      onLog: (line) => watched?.line(line),
    });
    const byHand = isByHand(deployment, options);
    watched = new WatchedRun(terminal, { objects: covered.length, isRetried: !byHand, shards: config.shards });
    interrupted.throwIfAborted();
    const worked = work(deployment, run, byHand, options);
    const { fired, audit } = await Promise.race([worked, aborted(interrupted)]);
    const { summary, failures, records } = watched;
    const stored = await storedRun(options.folder, records);
    const { isLeftOut: isLastLeftOut } = lastAttempt;
    return { ...fired, scheduled: !byHand, audit, covered, isLastLeftOut, summary, failures, records, stored };
  } catch (error) {
    if (!interrupted.aborted || watched === undefined || options.dryRun) throw error;
    const hasRecord = watched.records.length > 0 || (options.run !== undefined && !options.withoutRecord);
    throw new RunInterruptedError(run, watched.archived, hasRecord, { cause: error });
  } finally {
    watched?.stop();
    await deployment?.close();
    await rm(outdir, { recursive: true, force: true });
  }
}

/** Starts the run, and audits the archive after it if asked to. */
async function work(
  deployment: LocalDeployment,
  run: Date,
  byHand: boolean,
  options: StartOptions,
): Promise<{ fired: Fired; audit: StartedAudit | undefined }> {
  const fired: Fired = byHand
    ? { attempts: [await deployment.invoke(eventOf({ ...options, newRun: run }))], refused: undefined }
    : await fire(() => deployment.fireSchedule(run));
  return { fired, audit: options.audit === true ? await startAudit(deployment) : undefined };
}

/** Whether the function is invoked, rather than the schedule fired. */
function isByHand({ schedule }: LocalDeployment, { clusters, dryRun, run }: StartOptions): boolean {
  return clusters !== undefined || dryRun === true || run !== undefined || schedule?.enabled !== true;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Each cluster x resource that the run covers. */
function coveredBy({ clusters }: CollectorConfig, { clusters: chosen }: StartOptions): StartedRun['covered'] {
  return clusters
    .filter(({ uid }) => chosen === undefined || chosen.includes(uid))
    .flatMap(({ uid, resources = resourceNames }) => resources.map((resource) => ({ cluster: uid, resource })));
}

async function storedRun(folder: string, records: readonly string[]): Promise<Run | undefined> {
  const time = parseRunRecordKey(records[0] ?? '')?.run;
  if (time === undefined) return undefined;
  const archive = new FolderArchiveReader(folder);
  const listed = await firstOf(runsBetween(archive, { from: time, to: time }));
  return listed && readRun(archive, listed);
}
