import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { incomingFolder } from '../../archive/format/folder-layout';
import { ConfigError, loadConfig } from '../../infra/config/config';
import { UnsupportedTemplateError } from '../../local/deployment/stack-template';
import { printableLines } from '../terminal/printable';
import { exitCodes, InterruptedError, print, type Terminal, writeProblem } from '../terminal/terminal';
import { defaultAudit } from './start-audit';
import {
  checkClusters,
  checkRunOption,
  parseStartOptions,
  type StartOptions,
  StartUsageError,
  withClusterList,
} from './start-options';
import { startRun } from './start-run';
import { startService } from './start-service';
import { isSystemError } from './watched-run';

export interface StartContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the run and removes everything but the archive. */
  readonly interrupted: AbortSignal;
}

/**
 * Runs the whole product once on this machine.
 * @param args without the program's own name
 * @returns the exit code; errors and interruptions are printed
 */
export async function startCommand(args: readonly string[], context: StartContext): Promise<number> {
  const { terminal, interrupted } = context;
  try {
    return await start(parseStartOptions(args, terminal), context);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const ended = error instanceof InterruptedError ? error : undefined;
    const { text, code } = describeEnd((ended?.cause ?? error) as Error);
    const lines = interrupted.aborted ? [] : [`${terminal.errColors.red('error:')} ${printableLines(text)}`];
    if (interrupted.aborted || ended) lines.push(ended?.message ?? 'Interrupted. Nothing was archived.');
    terminal.err.write(`${lines.join('\n')}\n`);
    return interrupted.aborted ? exitCodes.interrupted : code;
  }
}

async function start(options: StartOptions, { terminal, environment, interrupted }: StartContext): Promise<number> {
  const loaded = loadConfig(options.config);
  const audit = loaded.audit ?? (options.audit === true ? defaultAudit : undefined);
  const members = { ...loaded, shards: options.shards ?? loaded.shards, ...(audit && { audit }) };
  const configured = withClusterList(members, options);
  await checkRunOption(options);
  const service = await startService(configured, options, environment);
  let release: () => void = () => undefined;
  const folder =
    options.dryRun && !existsSync(options.folder) ? await mkdtemp(join(tmpdir(), 'dry-run-')) : options.folder;
  try {
    const { config } = service;
    checkClusters(options, config);
    release = claimFolder(folder);
    const say = (line: string) => print(terminal.out, `${line}\n`);
    await say(service.introduction);
    const where = options.dryRun ? '. A dry run writes nothing' : `, its archive in ${folder}/`;
    await say(`Synthesising the stack ${config.name} and deploying it locally${where}`);
    return (await startRun(service, { ...options, folder }, terminal, interrupted)) ? exitCodes.ok : exitCodes.found;
  } finally {
    release();
    if (folder !== options.folder) await rm(folder, { recursive: true });
    await service.close();
  }
}

/** What ended a start, and the exit code for it. */
function describeEnd(error: Error): { readonly text: string; readonly code: number } {
  const { message, stack } = error;
  if ([ConfigError, StartUsageError, UnsupportedTemplateError].some((type) => error instanceof type))
    return { text: message, code: exitCodes.usage };
  if (isSystemError(error)) {
    const place = error.path ?? 'the archive, or to temporary files,';
    return { text: `Writing to ${place} failed: ${writeProblem(error)}`, code: exitCodes.trouble };
  }
  // Of an unexpected error, the stack says where it happened.
  return { text: stack ?? message, code: exitCodes.found };
}

/**
 * Makes the folder of an archive and claims it for this process: the store lets one process at a time write to a folder.
 * Removes what a process that was killed has left there.
 * @returns gives the folder up
 * @throws StartUsageError if the folder cannot be made or written, or another process works in it
 * @throws the file system's error if the disk is full
 */
function claimFolder(folder: string): () => void {
  // Where the store receives bytes: nothing there is an object.
  const incoming = join(folder, incomingFolder);
  const lock = join(incoming, 'lock');
  try {
    // Not recursively: where mkdir says ENOENT although the parent is there, as in /proc, Node's own never ends.
    for (const one of [folder, incoming]) if (!existsSync(one)) mkdirSync(one);
    const owner = ownerOf(lock);
    if (owner !== undefined && isRunning(owner))
      throw new StartUsageError(
        `The process ${owner} works in the folder ${folder}: wait for its end, or name another with --folder. If it is something else, remove ${lock}.`,
      );
    for (const name of readdirSync(incoming)) rmSync(join(incoming, name), { recursive: true });
    writeFileSync(lock, `${process.pid}`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (error instanceof StartUsageError || code === 'ENOSPC') throw error;
    const reason = code === 'ENOENT' ? 'ENOENT (make the folder above it first)' : code;
    throw new StartUsageError(`Writing to the folder ${folder} failed: ${reason}; name another with --folder.`, {
      cause: error,
    });
  }
  return () => {
    if (existsSync(lock)) rmSync(lock);
  };
}

/** The other process that has claimed the folder, by its number. */
function ownerOf(lock: string): number | undefined {
  const owner = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0;
  return owner > 0 && owner !== process.pid ? owner : undefined;
}

/** Whether a process runs, of this user or another. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
