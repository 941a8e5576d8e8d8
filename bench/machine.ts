import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../infra/function-bundle';

/** What the benchmark runs with on this machine. */
export interface Machine {
  /** Path of the Node binary that runs servers and contenders. */
  readonly node: string;
  readonly nodeVersion: string;
  /** Whether processes are bound to cores. Needs taskset and two cores. */
  readonly isPinned: boolean;
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
}

const lambdaMajor = 24;

/** @param options install: Lambda's version of Node, if this process runs another one; quick: nothing is measured */
export function inspectMachine({ install, quick }: { install: boolean; quick?: true }): Machine {
  const node = install ? nodeLikeLambda() : process.execPath;
  const cores = cpus().length;
  return {
    node,
    nodeVersion: execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim(),
    // A process that is bound to a core cannot leave it to others. Node's fetch then gives up after ten seconds without a
    // connection, and a quick run, which measures nothing, would fail on a busy machine.
    isPinned: !quick && cores > 1 && succeeds('taskset', '-c', '1', 'true'),
    processor: cpus()[0]?.model ?? 'unknown',
    cores,
    memoryBytes: totalmem(),
  };
}

/** Lambda's version of Node from npm, or this process's Node if it cannot be installed. */
function nodeLikeLambda(): string {
  if (process.versions.node.startsWith(`${lambdaMajor}.`)) return process.execPath;
  const cache = join(projectRoot, 'node_modules', '.cache', 'bench');
  const node = join(cache, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (succeeds(node, '--version')) return node;
  mkdirSync(cache, { recursive: true });
  const args = ['install', '--no-save', '--no-package-lock', '--prefix', cache, `node@${lambdaMajor}`];
  spawnSync('npm', args, { stdio: 'ignore', shell: process.platform === 'win32' });
  return succeeds(node, '--version') ? node : process.execPath;
}

export function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

export type Command = readonly [command: string, args: string[]];

/** Binds a command to a core, where the machine can: both servers share one core, the client has another to itself. */
export function pinTo({ isPinned }: Machine, part: 'servers' | 'client', [command, args]: Command): Command {
  if (!isPinned) return [command, args];
  return ['taskset', ['-c', part === 'servers' ? '0' : '1', command, ...args]];
}
