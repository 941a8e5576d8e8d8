import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundling } from '../infra/function-bundle';
import { issueCertificate, ofServer, pemOf } from '../local/stamp-authority/issue-certificate';

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
  return { programs, tls: writeCertificate(folder) };
}

/** Clients trust it as its own authority. */
function writeCertificate(folder: string): Built['tls'] {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  const valid = { validFrom: inDays(-1), validTo: inDays(1) };
  const pem = pemOf(issueCertificate({ name: 'bench', ...valid, extensions: ofServer('127.0.0.1') }));
  const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
  writeFileSync(files.key, pem.key, { mode: 0o600 });
  writeFileSync(files.cert, pem.cert);
  return files;
}
