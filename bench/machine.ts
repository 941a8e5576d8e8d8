import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

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

/** @param cache folder in which Lambda's version of Node is installed if this process runs another one; undefined: nothing is installed */
export function inspectMachine(cache: string | undefined): Machine {
  const node = cache === undefined ? process.execPath : nodeLikeLambda(cache);
  const nodeVersion = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
  const cores = cpus().length;
  return {
    node,
    nodeVersion,
    isPinned: cores > 1 && succeeds('taskset', ['-c', '1', 'true']),
    processor: cpus()[0]?.model ?? 'unknown',
    cores,
    memoryBytes: totalmem(),
  };
}

/** Lambda's version of Node from npm, or this process's Node if it cannot be installed. */
function nodeLikeLambda(cache: string): string {
  if (Number(process.versions.node.split('.')[0]) === lambdaMajor) return process.execPath;
  const node = join(cache, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (succeeds(node, ['--version'])) return node;
  mkdirSync(cache, { recursive: true });
  const args = ['install', '--no-save', '--no-package-lock', '--prefix', cache, `node@${lambdaMajor}`];
  spawnSync('npm', args, { stdio: 'ignore', shell: process.platform === 'win32' });
  return succeeds(node, ['--version']) ? node : process.execPath;
}

export function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Binds a command to a core, where the machine can: both servers share one core, the client has another to itself. */
export function pinTo(
  { isPinned }: Pick<Machine, 'isPinned'>,
  part: 'servers' | 'client',
  [command, args]: readonly [command: string, args: string[]],
): [command: string, args: string[]] {
  if (!isPinned) return [command, args];
  return ['taskset', ['-c', part === 'servers' ? '0' : '1', command, ...args]];
}
