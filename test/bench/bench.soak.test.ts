import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scenarios } from '../../bench/scenarios';

/** The part of the written figures that is checked here. */
interface BenchResults {
  readonly machine: { readonly nodeVersion: string };
  readonly results: {
    readonly name: string;
    readonly entries: {
      readonly name: string;
      readonly failed?: string;
      readonly medians: Readonly<Record<string, number>>;
    }[];
    readonly comparisons: { readonly ratio?: number }[];
  }[];
}

const run = promisify(execFile);
const root = join(__dirname, '..', '..');
const bench = (args: string[]) =>
  run(process.execPath, ['--import', 'tsx', join(root, 'bench', 'main.ts'), ...args], { cwd: root });

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('npm run bench', () => {
  it('measures every contender that is installed, and all of them store everything', async () => {
    const json = join(folder, 'figures.json');
    const { stdout } = await bench(['--quick', '--no-install', '--json', json]);
    const { machine, results }: BenchResults = JSON.parse(await readFile(json, 'utf8'));
    expect(machine.nodeVersion).toBe(process.versions.node);
    expect(results.map(({ name }) => name)).toEqual(scenarios.map(({ name }) => name));
    const entries = results.flatMap((result) => result.entries);
    expect(entries.filter(({ failed }) => failed !== undefined)).toEqual([]);
    const figures = new Map(entries.map(({ name, medians }) => [name, medians]));
    for (const name of ['ours, gzip', 'Promise.all', 'raw sockets, gzip'])
      expect(figures.get(name)).toEqual(
        expect.objectContaining({
          wallMs: expect.any(Number),
          cpuMs: expect.any(Number),
          peakBytes: expect.any(Number),
          storedBytes: expect.any(Number),
        }),
      );
    expect(stdout).toContain(`Node ${process.versions.node}`);
    expect(stdout).toContain('peak memory: ours, gzip / Promise.all');
  });

  it('explains every scenario and every contender in its help', async () => {
    const { stdout } = await bench(['--help']);
    for (const { name, title, entries } of scenarios) {
      expect(stdout).toContain(name);
      expect(stdout).toContain(title);
      for (const { contender } of entries) expect(stdout).toContain(contender);
    }
  });
});
