import { join } from 'node:path';
import { type BuildOptions, buildSync, type OutputFile } from 'esbuild';

/** The project's folder, whatever the current directory is. */
export const projectRoot = join(__dirname, '..');

/** How everything is bundled that Node runs: a function, and the programs that the benchmark compares with it. */
export const bundling = {
  // The source map names the sources from here, whatever folder the checkout lies in.
  absWorkingDir: projectRoot,
  bundle: true,
  platform: 'node',
  // Measured: CommonJS, minified, starts fastest. The SDK is bundled, so that the tested version runs.
  format: 'cjs',
  minify: true,
  // esbuild removes unused code from ES modules only; the CommonJS builds would make the bundle a third larger.
  mainFields: ['module', 'main'],
  // A local run uses the Node of the machine, which may be 20.
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
} satisfies BuildOptions;

const bundles = new Map<string, readonly OutputFile[]>();

/**
 * A function's code, as one file with its source map. Bundles in this process. `NodejsFunction` would start npx, bash and
 * esbuild for each function and each synthesis, which takes twice the time, and needs the commands of a shell, one for each
 * operating system, to put the data file there.
 */
export function bundle(entry: string): readonly OutputFile[] {
  const known = bundles.get(entry);
  if (known !== undefined) return known;
  const entryPoints = [join('lambda', entry)];
  const { outputFiles } = buildSync({ ...bundling, entryPoints, outfile: 'index.js', write: false });
  bundles.set(entry, outputFiles);
  return outputFiles;
}
