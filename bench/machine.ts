import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** What the benchmark found to work with. */
export interface Machine {
  /** The Node that runs servers and contenders, its version, and whether it has zstd. */
  readonly node: string;
  readonly nodeVersion: string;
  readonly hasZstd: boolean;
  /** Whether the client has a processor core to itself, as far as this benchmark goes: needs taskset and two cores. */
  readonly isPinned: boolean;
  /** Python with boto3, and rclone, where they are found. */
  readonly python: string | undefined;
  readonly rclone: string | undefined;
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
}

const lambdaMajor = 24;

/** @param cache folder for what is installed here, Lambda's Node if this one is another; undefined: nothing is installed */
export function lookAtMachine(cache: string | undefined): Machine {
  const node = cache === undefined ? process.execPath : nodeLikeLambda(cache);
  const [nodeVersion = '', zstd] = execFileSync(
    node,
    ['-p', '[process.versions.node, typeof require("zlib").zstdCompress].join(" ")'],
    { encoding: 'utf8' },
  )
    .trim()
    .split(' ');
  const cores = cpus().length;
  return {
    ...{ node, nodeVersion, hasZstd: zstd === 'function' },
    isPinned: cores > 1 && succeeds('taskset', ['-c', '1', 'true']),
    python: succeeds('python3', ['-c', 'import boto3']) ? 'python3' : undefined,
    rclone: succeeds('rclone', ['version']) ? 'rclone' : undefined,
    processor: cpus()[0]?.model ?? 'unknown',
    cores,
    memoryBytes: totalmem(),
  };
}

/** Lambda's Node from npm, or this one where that cannot be had. */
function nodeLikeLambda(cache: string): string {
  if (Number(process.versions.node.split('.')[0]) === lambdaMajor) return process.execPath;
  const node = join(cache, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (succeeds(node, ['--version'])) return node;
  mkdirSync(cache, { recursive: true });
  const args = ['install', '--no-save', '--no-package-lock', '--prefix', cache, `node@${lambdaMajor}`];
  spawnSync('npm', args, { stdio: 'ignore', shell: process.platform === 'win32' });
  return succeeds(node, ['--version']) ? node : process.execPath;
}

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
