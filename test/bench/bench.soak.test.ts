import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scenarios } from '../../bench/scenarios';

/** The part of the written figures that is checked here. */
interface BenchResults {
  readonly machine: { readonly nodeVersion: string };
  readonly results: {
    readonly name: string;
    readonly entries: {
      readonly name: string;
      readonly medians: Readonly<Record<string, number>>;
      readonly ratios: Readonly<Record<string, number>>;
    }[];
  }[];
}

const root = join(__dirname, '..', '..');

/** Everything that the benchmark prints. If it fails, that is the test's failure. */
function bench(args: string[]): string {
  const command = ['--import', 'tsx', join(root, 'bench', 'main.ts'), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: expect.any(String), stderr: expect.any(String) });
  return stdout;
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('npm run bench', () => {
  it('measures every contender that is installed, and all of them store everything', () => {
    const json = join(folder, 'figures.json');
    const stdout = bench(['--quick', '--no-install', '--json', json]);
    const { machine, results }: BenchResults = JSON.parse(readFileSync(json, 'utf8'));
    expect(machine.nodeVersion).toBe(process.versions.node);
    expect(results.map(({ name }) => name)).toEqual(scenarios.map(({ name }) => name));
    const entries = new Map(results.flatMap((result) => result.entries).map((entry) => [entry.name, entry]));
    const number = expect.any(Number);
    for (const name of ['ours, gzip', 'Promise.all', 'raw sockets, gzip']) {
      const { medians, ratios } = entries.get(name) ?? {};
      expect(medians).toMatchObject({ wallMs: number, cpuMs: number, peakBytes: number, storedBytes: number });
      if (name !== 'ours, gzip') expect(ratios).toMatchObject({ wallMs: number, cpuMs: number, peakBytes: number });
    }
    expect(stdout).toContain(`Node ${process.versions.node}`);
  });
});
