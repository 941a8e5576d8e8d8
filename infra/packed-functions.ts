import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** In the package this file takes the place of function-bundle.ts: the functions were bundled when it was packed. */
const built = join(__dirname, '..', 'dist', 'functions');

/** A function's code, as files. @param entry file in lambda/ that exports `handler` */
export function bundle(entry: string): readonly { readonly path: string; readonly contents: Uint8Array }[] {
  const folder = join(built, dirname(entry));
  return readdirSync(folder).map((path) => ({ path, contents: readFileSync(join(folder, path)) }));
}
