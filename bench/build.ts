import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { createApp } from '../infra/collector-app';
import { parseConfig } from '../infra/config/config';

/** Where the built programs lie. */
export interface Built {
  /** Folder of the servers and contenders that run in Node, each `<name>.js`. */
  readonly programs: string;
  /** Folder of the function's code as it would be deployed. */
  readonly function: string;
}

/** Synthesises the stack for the function's own bundle, and bundles the other programs in the same way. */
export async function buildAll(folder: string): Promise<Built> {
  const programs = join(folder, 'programs');
  const sources = ['servers', 'contenders'].flatMap((part) => {
    const source = join(__dirname, part);
    return readdirSync(source)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(source, file));
  });
  await build({
    entryPoints: sources,
    outdir: programs,
    entryNames: '[name]',
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    mainFields: ['module', 'main'],
    logLevel: 'error',
  });
  return { programs, function: buildFunction(join(folder, 'assembly')) };
}

function buildFunction(outdir: string): string {
  const config = parseConfig(
    {
      name: 'bench',
      service: { baseUrl: 'https://127.0.0.1' },
      clusters: ['any'],
      schedule: { expression: 'cron(0 * * * ? *)' },
    },
    join(__dirname, 'collector.json'),
  );
  createApp({ config, outdir }).app.synth();
  const assets = readdirSync(outdir).filter((name) => name.startsWith('asset.'));
  const [asset] = assets.filter((name) => readdirSync(join(outdir, name)).includes('index.js'));
  if (asset === undefined)
    throw new Error(`Building the function failed: none of ${assets.map((a) => basename(a))} has an index.js`);
  return join(outdir, asset);
}
