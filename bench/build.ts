import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { generate } from 'selfsigned';
import { synthesize } from '../infra/collector-app';
import { parseConfig } from '../infra/config/config';
import { collectionFile } from '../lambda/stack-contract';

/** What is made before anything is measured. */
export interface Built {
  /** Folder of the servers and of the contenders that run in Node, each `<name>.js`. */
  readonly programs: string;
  /** Folder of the function's code, as it would be deployed. */
  readonly function: string;
  /** PEM files of a server on 127.0.0.1. */
  readonly tls: { readonly key: string; readonly cert: string };
}

/** Synthesises the stack to get the function's own bundle, and bundles the other programs with the same options. */
export async function buildAll(folder: string): Promise<Built> {
  const programs = join(folder, 'programs');
  const contenders = ['measure', 'promise-all', 'raw-sockets'].map((name) => join('contenders', `${name}.ts`));
  const servers = ['cluster-server', 'object-sink'].map((name) => join('servers', `${name}.ts`));
  await build({
    entryPoints: [...servers, ...contenders],
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
  return { programs, function: buildFunction(join(folder, 'assembly')), tls: await issueCertificate(folder) };
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
  // The stack has several functions; only the collector's has a collection beside its code.
  const asset = assets.find((name) => readdirSync(join(outdir, name)).includes(collectionFile));
  if (asset === undefined)
    throw new Error(`Building the function failed: no asset of ${assets.join(', ')} has a ${collectionFile}`);
  return join(outdir, asset);
}

/** Clients trust it as its own authority. */
async function issueCertificate(folder: string): Promise<Built['tls']> {
  const { private: privateKey, cert: certificate } = await generate([{ name: 'commonName', value: 'bench' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  writeFileSync(key, privateKey, { mode: 0o600 });
  writeFileSync(cert, certificate);
  return { key, cert };
}
