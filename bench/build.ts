import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { synthesize } from '../infra/collector-app';
import { parseConfig } from '../infra/config/config';
import { contenders } from './contenders';

/** Where the built programs are. */
export interface Built {
  /** Folder of the servers and of the contenders that run in Node, each `<name>.js`. */
  readonly programs: string;
  /** Folder of the function's code, as it would be deployed. */
  readonly function: string;
}

/** Synthesises the stack to get the function's own bundle, and bundles the other programs with the same options. */
export async function buildAll(folder: string): Promise<Built> {
  const programs = join(folder, 'programs');
  const sources = Object.values(contenders).map(({ program }) => join('contenders', program));
  const servers = [join('servers', 'cluster-server.ts'), join('servers', 'object-sink.ts')];
  await build({
    entryPoints: [...new Set([...servers, ...sources.filter((source) => source.endsWith('.ts'))])],
    absWorkingDir: __dirname,
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
  synthesize({ config, outdir, validate: false });
  const assets = readdirSync(outdir).filter((name) => name.startsWith('asset.'));
  const asset = assets.find((name) => readdirSync(join(outdir, name)).includes('index.js'));
  if (asset === undefined)
    throw new Error(`Building the function failed: no asset of ${assets.join(', ')} has an index.js`);
  return join(outdir, asset);
}
