import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import Table from 'cli-table3';
import { median } from './compare';
import { logBytes, writeLogs } from './grep-archive';

export interface GrepBenchOptions {
  readonly objects: number;
  readonly rounds: number;
  /** False: DuckDB is measured only if an earlier run has installed it. */
  readonly install: boolean;
}

interface Contender {
  readonly name: string;
  readonly command: readonly [command: string, ...args: string[]];
  /** The row that ours is compared with; its ratio is at most 1. */
  readonly besides?: string;
  /** The lines that were found, from what the command prints. */
  readonly count: (output: string) => number;
}

const root = join(__dirname, '..');
const duckdb = { package: '@duckdb/node-api', version: '1.5.6-r.1' };

/** Searches the logs of one run for a text and for a regular expression, with `collector grep` and with what one would use instead. */
export async function runGrepBench({ objects, rounds, install }: GrepBenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'collector-grep-bench-'));
  try {
    const expected = await writeLogs(folder, objects);
    const contenders = contendersFor(folder, install ? installDuckdb() : findDuckdb());
    console.log(
      `Lines with a text in ${objects} logs of ${logBytes / 1000} KB, whole processes, medians of ${rounds} rounds`,
    );
    const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const { name, command, count } of contenders) {
        const { output, wallMs } = await run(command);
        if (count(output) !== expected) throw new Error(`${name} found ${count(output)} lines instead of ${expected}`);
        times.get(name)?.push(wallMs);
      }
    console.log(report(contenders, times));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function contendersFor(folder: string, duckdbFolder: string | undefined): Contender[] {
  const archive = join(folder, 'archive');
  const texts = join(folder, 'texts');
  const grep = [process.execPath, '--import', 'tsx', join(root, 'cli', 'collector.ts'), 'grep'] as const;
  const lines = (output: string) => output.split('\n').length - 1;
  const zgrep = (...args: string[]) => ['sh', '-c', `zgrep "$@" ${texts}/*.gz`, 'sh', ...args] as const;
  const regex = 'INFO .*OOM[A-Z][a-z]+$';
  return [
    { name: 'zgrep -F', command: zgrep('-F', 'OOMKilled'), count: lines },
    { name: 'zgrep -i', command: zgrep('-i', 'oomkilled'), count: lines },
    { name: 'zgrep -E', command: zgrep('-E', regex), count: lines },
    { name: 'ours, text', command: [...grep, 'OOMKilled', '--archive', archive], besides: 'zgrep -F', count: lines },
    {
      name: 'ours, text with -i',
      command: [...grep, '-i', 'oomkilled', '--archive', archive],
      besides: 'zgrep -i',
      count: lines,
    },
    {
      name: 'ours, regular expression',
      command: [...grep, regex, '--archive', archive],
      besides: 'zgrep -E',
      count: lines,
    },
    ...(duckdbFolder === undefined
      ? []
      : [
          {
            name: 'DuckDB, text',
            command: [
              process.execPath,
              join(__dirname, 'contenders', 'duckdb-grep.cjs'),
              duckdbFolder,
              archive,
              'OOMKilled',
            ] as const,
            count: Number,
          },
        ]),
  ];
}

async function run([command, ...args]: Contender['command']): Promise<{ output: string; wallMs: number }> {
  const startedMs = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd: root });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return { output: Buffer.concat(chunks).toString(), wallMs: performance.now() - startedMs };
}

const cache = join(root, 'node_modules', '.cache', 'bench', 'duckdb');

function findDuckdb(): string | undefined {
  const folder = join(cache, 'node_modules', duckdb.package);
  return existsSync(folder) ? folder : undefined;
}

function installDuckdb(): string | undefined {
  const found = findDuckdb();
  if (found !== undefined) return found;
  mkdirSync(cache, { recursive: true });
  const args = ['install', '--no-save', '--no-package-lock', '--prefix', cache, `${duckdb.package}@${duckdb.version}`];
  spawnSync('npm', args, { stdio: 'ignore', shell: process.platform === 'win32' });
  if (findDuckdb() === undefined) console.log(`without DuckDB: ${duckdb.package} could not be installed`);
  return findDuckdb();
}

function report(contenders: readonly Contender[], times: ReadonlyMap<string, readonly number[]>): string {
  const style = { head: [], border: [] };
  const table = new Table({ head: ['', 'wall', 'ratio', 'goal', ''], style });
  for (const { name, besides } of contenders) {
    const walls = times.get(name) ?? [];
    const wall = `${(median(walls) / 1000).toFixed(2)} s`;
    if (besides === undefined) {
      table.push([name, wall, '', '', '']);
      continue;
    }
    // Round by round, because a machine that is slow for a while slows both.
    const ratio = median(walls.map((ms, round) => ms / (times.get(besides)?.[round] ?? Number.NaN)));
    table.push([name, wall, `${ratio.toFixed(2)} of ${besides}`, '<= 1.0', ratio <= 1 ? 'reached' : 'MISSED']);
  }
  return `${table}`;
}
