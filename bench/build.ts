import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { generate } from 'selfsigned';
import { bundling } from '../infra/function-bundle';

/** What is made before anything is measured. */
export interface Built {
  /** Folder of the contenders that run in Node, each `<name>.js`. */
  readonly programs: string;
  /** PEM files of a server on 127.0.0.1. */
  readonly tls: { readonly key: string; readonly cert: string };
}

/** Bundles the programs with the same options as the function. */
export async function buildAll(folder: string): Promise<Built> {
  const programs = join(folder, 'programs');
  const contenders = ['measure', 'promise-all', 'raw-sockets', 'verify', 'raw-reading'];
  const entryPoints = contenders.map((name) => `bench/contenders/${name}.ts`);
  await build({ ...bundling, entryPoints, outdir: programs });
  return { programs, tls: await issueCertificate(folder) };
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
