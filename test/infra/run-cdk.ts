import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { configurationFile } from '../../lambda/stack-contract';

const root = join(__dirname, '..', '..');

export interface CdkRun {
  readonly status: number | null;
  readonly stderr: string;
  /** Folder of the assembly. */
  readonly outdir: string;
  /** Processor time of the command line and its children: unlike wall time, it does not depend on other load. */
  readonly cpuSeconds: number;
}

/** Runs `cdk synth -q` as a person would. All its connections go to one proxy. */
export async function cdkSynth(args: readonly string[] = [], proxy = 'http://127.0.0.1:9'): Promise<CdkRun> {
  // Inside the checkout, like cdk.out, because source maps name sources relative to it.
  const parent = join(root, 'cdk.out');
  mkdirSync(parent, { recursive: true });
  const outdir = mkdtempSync(join(parent, 'test-'));
  const cdk = join(root, 'node_modules', 'aws-cdk', 'bin', 'cdk');
  // bash measures the time of all descendants, which Node cannot.
  const command = '"$0" "$@"; status=$?; times; exit $status';
  const child = spawn('bash', ['-c', command, process.execPath, cdk, 'synth', '-q', '-o', outdir, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      npm_config_registry: proxy,
      LC_ALL: 'C',
    },
  });
  const [status, stdout, stderr] = await Promise.all([
    new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject)),
    text(child.stdout),
    text(child.stderr),
  ]);
  const [user = 0, system = 0] = [...(stdout.trim().split('\n').pop() ?? '').matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return { status, stderr, outdir, cpuSeconds: user + system };
}

/** The folder of the collector's code: the one with the collection. */
export function assetIn(outdir: string): string {
  const folders = readdirSync(outdir).filter((file) => file.startsWith('asset.'));
  const name = folders.find((folder) => existsSync(join(outdir, folder, configurationFile)));
  if (name === undefined) throw new Error(`none of ${folders.join(', ')} has ${configurationFile}`);
  return join(outdir, name);
}
