import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstResources } from '../../archive/format/resources';
import { FolderArchiveReader } from '../../archive/read';
import type { CollectorConfig } from '../../infra/config/config';
import { parseListAddress } from '../../lambda/collect/run/read-list';
import { FolderStore } from '../../local/aws/store/folder-store';
import {
  deployLocally,
  type LocalDeployment,
  type LocalDeploymentOptions,
} from '../../local/deployment/deploy-locally';
import type { AsynchronousResult } from '../../local/deployment/local-function';
import { type StampAuthorityServer, startStampAuthority } from '../../local/stamp-authority/start-stamp-authority';
import { isAbsent } from '../archive/absent-runs';
import { archiveArgument } from '../archive/open-archive';
import { RunReader } from '../archive/run-reader';
import { eventOf } from '../stack/run-in-account';
import { formatCount, formatTime } from '../terminal/format';
import { InterruptedError, print, type Terminal } from '../terminal/terminal';
import { auditArchive, fire } from './start-audit';
import { completingCommand, type StartOptions } from './start-options';
import { printNextSteps, reportStart, type StartedRun } from './start-report';
import type { StartedService } from './start-service';
import { WatchedRun } from './watched-run';

/**
 * Synthesises the stack, deploys it locally, starts one run, audits the archive if asked to, prints what became of both, and
 * takes everything but the archive down again.
 * @returns whether everything was archived, and the audited archive is sound
 * @throws InterruptedError if something was archived before it was interrupted, or before its archive took no more
 * @throws what synthesis and deployment throw, and the reason of an interruption
 */
export async function startRun(
  service: StartedService,
  options: StartOptions,
  terminal: Terminal,
  interrupted: AbortSignal,
): Promise<boolean> {
  const outdir = await mkdtemp(join(tmpdir(), 'cdk-out-'));
  const authority = options.audit ? await startStampAuthority({ now: () => new Date() }) : undefined;
  try {
    // Loading the CDK takes a second, which whoever only mistyped an option should not wait for.
    const { createApp } = await unlessAborted(interrupted, import('../../infra/collector-app'));
    const { clusterList, ...stamped } = authority === undefined ? service.config : stampedBy(authority, service.config);
    // What a list from outside has is not deployed.
    const config = clusterList === undefined ? stamped : { ...stamped, clusterList, clusters: [] };
    const assembly = createApp({ config, outdir, validate: false }).app.synth();
    interrupted.throwIfAborted();
    const otherBuckets = await bucketOfList(clusterList?.from, options, join(outdir, 'other-bucket'));
    return await runAssembly(assembly, service, { ...options, otherBuckets }, terminal, interrupted);
  } finally {
    await Promise.all([authority?.close(), rm(outdir, { recursive: true, force: true })]);
  }
}

/** The bucket that a list of clusters from outside lies in, with the file under its key. */
async function bucketOfList(from: string | undefined, { clusterList }: StartOptions, folder: string) {
  if (from === undefined || clusterList === undefined) return [];
  const { bucket: name, key } = parseListAddress(from);
  await new FolderStore(folder).put(key, await readFile(clusterList), { contentType: 'application/json' });
  return [{ name, folder }];
}

/** The same configuration with an authority of time stamps on this machine: no other is asked from here. */
function stampedBy({ url, root }: StampAuthorityServer, { audit, ...config }: CollectorConfig): CollectorConfig {
  const local = { name: 'local', url, root: root.raw.toString('base64') };
  return { ...config, audit: audit && { ...audit, timestamps: [local] } };
}

async function runAssembly(
  assembly: LocalDeploymentOptions['assembly'],
  service: StartedService,
  options: StartOptions & Pick<LocalDeploymentOptions, 'otherBuckets'>,
  terminal: Terminal,
  interrupted: AbortSignal,
): Promise<boolean> {
  const { config, apiKey } = service;
  const run = options.run ?? new Date();
  const covered = coveredBy(config, options);
  const byHand = isByHand(config, options);
  // Of a run that is completed, some objects are there already.
  const awaited = options.run !== undefined ? [] : covered;
  const { dryRun: isDry } = options;
  const expected = { objects: covered.length, awaited, isRetried: !byHand, shards: isDry ? 1 : config.shards, isDry };
  const watched = new WatchedRun(terminal, expected);
  const ended = AbortSignal.any([interrupted, watched.broken]);
  let deployment: LocalDeployment | undefined;
  try {
    const deployOver = (folder: string) => deployLocally({ assembly, folder });
    deployment = await deployLocally({
      assembly,
      folder: options.folder,
      otherBuckets: options.otherBuckets ?? [],
      secretValue: apiKey,
      givesUp: watched.givesUp,
      onRequest: (request) => watched.request(request),
      onLog: (line) => watched.line(line),
    });
    ended.throwIfAborted();
    const fired = await unlessAborted(ended, byHand ? invoke(deployment, run, options) : fire(deployment, run));
    watched.stop();
    const how = byHand ? 'The function was invoked by hand' : 'The schedule was fired';
    await print(terminal.out, `${how}: run ${formatTime(run)}\n`);
    const stored = watched.hasRecord ? await storedRun(options.folder, run) : undefined;
    const started = { options, service, watched, fired, covered, stored };
    await reportStart(terminal, started);
    const isSound =
      !options.audit ||
      (await unlessInterrupted(ended, options, run, auditArchive(deployment, stored, options, terminal, deployOver)));
    await printNextSteps(terminal, started);
    return fired.failure === undefined && isSound;
  } catch (error) {
    if (error instanceof InterruptedError || !ended.aborted || (watched.archived === 0 && !watched.hasRecord))
      throw error;
    const hasRecord = watched.hasRecord || (options.run !== undefined && !options.withoutRecord);
    const stays = `What it has archived stays: ${formatCount(watched.archived, 'object')}.`;
    const complete = `${completingCommand(options, run)}${hasRecord ? '' : ' --without-record'}`;
    throw new InterruptedError(`Run ${formatTime(run)} was interrupted. ${stays} Complete it with\n  ${complete}`, {
      cause: error,
    });
  } finally {
    watched.stop();
    await deployment?.close();
  }
}

/** Whether the function is invoked, rather than the schedule fired. */
function isByHand({ schedule }: CollectorConfig, { clusters, dryRun, run }: StartOptions): boolean {
  return clusters !== undefined || dryRun === true || run !== undefined || !schedule.enabled;
}

async function invoke(deployment: LocalDeployment, newRun: Date, options: StartOptions): Promise<AsynchronousResult> {
  const result = await deployment.invoke(eventOf({ ...options, newRun }));
  return { attempts: [result], failure: result.error };
}

/** Waits for the audit. @throws InterruptedError if it was interrupted: the run before it was told, and is over */
async function unlessInterrupted(
  ended: AbortSignal,
  { folder }: StartOptions,
  run: Date,
  auditing: Promise<boolean>,
): Promise<boolean> {
  try {
    return await unlessAborted(ended, auditing);
  } catch (error) {
    if (!ended.aborted) throw error;
    const stays = `The audit was interrupted. Run ${formatTime(run)} was over, and what it has archived stays.`;
    const seals = `npm run collector -- verify --seals${archiveArgument(folder)}`;
    throw new InterruptedError(`${stays} Whether a seal was stored says\n  ${seals}`, { cause: error });
  }
}

/** Waits until the work is done or the signal aborts, whose reason is thrown then. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T> | T): Promise<T> {
  return new Promise((resolve, reject) => {
    // A signal that has aborted tells nobody any more.
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    Promise.resolve(work).then(resolve, reject);
  });
}

/** Each cluster x resource that the run covers. */
function coveredBy({ clusters }: CollectorConfig, { clusters: chosen }: StartOptions): StartedRun['covered'] {
  return clusters
    .filter(({ uid }) => chosen === undefined || chosen.includes(uid))
    .flatMap(({ uid, resources = firstResources }) => resources.map((resource) => ({ cluster: uid, resource })));
}

async function storedRun(folder: string, run: Date): Promise<StartedRun['stored']> {
  const reader = new RunReader({ archive: new FolderArchiveReader(folder), now: new Date(), isLive: false });
  for await (const row of reader.select({ run })) if (!isAbsent(row)) return row;
  return undefined;
}
