import { stat } from 'node:fs/promises';
import { CommanderError } from 'commander';
import { ConfigError, loadConfig } from '../../infra/config/config';
import { UnsupportedTemplateError } from '../../local/deployment/stack-template';
import { FolderArchiveReader } from '../archive/folder-archive-reader';
import { findRun, NoSuchRunError } from '../archive/select-runs';
import { formatCount, formatTime } from '../terminal/format';
import { printableLines } from '../terminal/printable';
import { exitCodes, print, type Terminal } from '../terminal/terminal';
import { auditAsJson, defaultAudit, isSound, printAudit, verifyAfterAudit } from './start-audit';
import { demoBaseUrl, parseStartOptions, type StartOptions } from './start-options';
import { completingCommand, isComplete, reportAsJson, reportAsText } from './start-report';
import { RunInterruptedError, startRun } from './start-run';
import { StartUsageError, startService } from './start-service';

export interface StartContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the run and removes everything but the archive. */
  readonly interrupted: AbortSignal;
}

/**
 * Runs the whole product once on this machine.
 * @param args without the program's own name
 * @returns the exit code; errors are printed
 * @throws the reason of an interruption
 */
export async function startCommand(args: readonly string[], context: StartContext): Promise<number> {
  const { terminal, interrupted } = context;
  try {
    return await start(parseStartOptions(args, terminal), args, context);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof RunInterruptedError) throw new Error(interruptedText(error, args), { cause: error });
    if (interrupted.aborted) throw new Error('Interrupted. Nothing was written.', { cause: error });
    const { message, stack } = error as Error;
    const isUsage = [ConfigError, StartUsageError, UnsupportedTemplateError].some((type) => error instanceof type);
    // Of an unexpected error, the stack says where it happened.
    const text = printableLines(isUsage ? message : (stack ?? message));
    await print(terminal.err, `${terminal.errColors.red('error:')} ${text}\n`);
    return isUsage ? exitCodes.usage : exitCodes.found;
  }
}

async function start(
  options: StartOptions,
  args: readonly string[],
  { terminal, environment, interrupted }: StartContext,
): Promise<number> {
  const loaded = loadConfig(options.config);
  const audit = loaded.audit ?? (options.audit === true ? defaultAudit : undefined);
  const configured = { ...loaded, shards: options.shards ?? loaded.shards, ...(audit && { audit }) };
  await checkOptions(options);
  const service = await startService(configured, options, environment);
  try {
    const { config } = service;
    checkClusters(
      options.clusters,
      config.clusters.map(({ uid }) => uid),
    );
    const say = (line: string) => (options.json === true ? undefined : print(terminal.out, `${line}\n`));
    await say(introduction[service.kind](service.url, formatCount(config.clusters.length, 'cluster'), options));
    await say(`Synthesising the stack ${config.name} and deploying it locally, its archive in ${options.folder}/`);
    const started = await startRun(service, options, terminal, interrupted);
    const fired = started.execution === undefined ? 'was fired' : 'started the state machine';
    const how = started.scheduled ? `The schedule ${fired}` : 'The function was invoked by hand';
    await say(`${how}${started.summary && `: run ${formatTime(started.summary.run)}`}`);
    const audited = started.audit && (await verifyAfterAudit(started.audit, started.records, options, terminal));
    const reported = { service, started, options, args };
    if (options.json === true) await reportAsJson(terminal, reported, audited && auditAsJson(audited));
    else await reportAsText(terminal, reported);
    if (audited !== undefined && options.json !== true) await printAudit(terminal, audited);
    const isGreen = isComplete(started) && (audited === undefined || isSound(audited));
    return isGreen ? exitCodes.ok : exitCodes.found;
  } finally {
    await service.close();
  }
}

function interruptedText({ run, archived, hasRecord }: RunInterruptedError, args: readonly string[]): string {
  return (
    `Run ${formatTime(run)} was interrupted. What it has archived stays: ${formatCount(archived, 'object')}. ` +
    `Complete it with\n  ${completingCommand(args, run)}${hasRecord ? '' : ' --without-record'}`
  );
}

const introduction = {
  demo: (url: string, clusters: string) => `The demo service at ${url} stands for ${demoBaseUrl}, with ${clusters}`,
  folder: (url: string, clusters: string, { serve }: StartOptions) => `${serve} is served at ${url}, with ${clusters}`,
  real: (url: string, clusters: string) => `Reading ${clusters} from ${url}`,
};

/** @throws StartUsageError for options that do not fit together, or to what the archive is */
async function checkOptions({ audit, tamper, dryRun, folder, run, withoutRecord }: StartOptions): Promise<void> {
  if (tamper === true && audit !== true)
    throw new StartUsageError('--tamper needs --audit, which finds what it forges.');
  if (audit === true && dryRun === true)
    throw new StartUsageError('--audit seals what a run archives, and --dry-run archives nothing; leave one out.');
  const there = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new StartUsageError(`Opening the folder ${folder} failed: ${error.code}.`, { cause: error });
  });
  if (there?.isDirectory() === false) throw new StartUsageError(`--folder names ${folder}, which is no folder.`);
  if (run === undefined || withoutRecord === true) return;
  await findRun(new FolderArchiveReader(folder), run).catch((error: unknown) => {
    if (!(error instanceof NoSuchRunError)) throw error;
    const act = 'if it was due and left no record, add --without-record';
    throw new StartUsageError(`${error.message}; ${act}.`, { cause: error });
  });
}

function checkClusters(chosen: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = (chosen ?? []).filter((uid) => !known.includes(uid));
  if (unknown.length > 0)
    throw new StartUsageError(
      `--clusters names ${unknown.join(', ')}, which is not configured; expected some of ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}.`,
    );
}
