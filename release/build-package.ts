import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin, transform } from 'esbuild';
import { bundling, projectRoot } from '../infra/function-bundle';
import { type BundledPackage, bundledPackages, licenceText } from './bundled-packages';
import { wordsOfPackage } from './package-words';

/** Folder of everything that is built for the package; emptied first. */
export const builtFolder = join(projectRoot, 'dist');

/** What the package has for others to import or to run, by the name of its file. */
const entries = {
  collector: 'cli/collector.ts',
  index: 'infra/cluster-log-collector.ts',
  archive: 'archive/index.ts',
};

/** What npm links as a command. */
const command = join(builtFolder, 'collector.cjs');

const functions = ['collect', 'audit', 'notify'];

/** Whoever uses the construct has them, and nobody else needs them. */
const ofCdk = ['aws-cdk-lib', 'aws-cdk-lib/*', 'constructs'];

/**
 * Builds what `npm pack` takes: the command line, the construct and the library as JavaScript with types, and the functions'
 * bundles.
 * @returns the packages of others whose code is in it
 */
export async function buildPackage(): Promise<BundledPackage[]> {
  rmSync(builtFolder, { recursive: true, force: true });
  const metafiles = [await buildEntries(), ...(await Promise.all(functions.map(buildFunction)))];
  const packages = bundledPackages(metafiles);
  writeFileSync(join(builtFolder, 'THIRD-PARTY-LICENSES.txt'), licenceText(packages));
  writeTypes();
  return packages;
}

/**
 * Bundles the entries, with what they share in files beside them, so that a command loads what it uses. esbuild divides ES modules
 * only. They become CommonJS, which Node 20 starts sooner.
 */
async function buildEntries(): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    ...bundling,
    entryPoints: entries,
    outdir: builtFolder,
    format: 'esm',
    splitting: true,
    outExtension: { '.js': '.cjs' },
    sourcemap: false,
    external: ofCdk,
    plugins: [packedSources],
    define: { packedCommit: JSON.stringify(commit()) },
    metafile: true,
    write: false,
  });
  for (const { path, text } of outputFiles) {
    const { code } = await transform(text, {
      ...{ format: 'cjs', platform: 'node', target: 'node20', minify: true, loader: 'js' },
      supported: { 'dynamic-import': false },
    });
    mkdirSync(dirname(path), { recursive: true });
    const isCommand = path === command;
    writeFileSync(path, isCommand ? `#!/usr/bin/env node\n${code}` : code, { mode: isCommand ? 0o755 : 0o644 });
  }
  return metafile;
}

async function buildFunction(name: string): Promise<Metafile> {
  const outfile = join(builtFolder, 'functions', name, 'index.js');
  const entryPoints = [join('lambda', name, 'handler.ts')];
  const { metafile } = await build({ ...bundling, entryPoints, outfile, plugins: [packedSources], metafile: true });
  return metafile;
}

/** How the sources differ in the package: what they tell people to type, and where files lie that they read beside themselves. */
const packedSources: Plugin = {
  name: 'packed-sources',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^\.\/function-bundle$/ }, () => ({ path: join(projectRoot, 'infra', 'packed-functions.ts') }));
    onLoad({ filter: /[/\\](archive|cli|infra|lambda|local)[/\\][^.]*\.ts$/ }, ({ path }) => {
      const folder = relative(builtFolder, dirname(path));
      const isHandler = /[/\\]handler\.ts$/.test(path);
      const text = wordsOfPackage(readFileSync(path, 'utf8'));
      const contents = isHandler ? text : text.replaceAll('__dirname', `(__dirname + ${JSON.stringify(`/${folder}`)})`);
      return { contents, loader: 'ts' };
    });
  },
};

/** What was packed, in twelve digits; with `+changes` if the checkout has changes that are in no commit. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: projectRoot, encoding: 'utf8' }).trim();
  return `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+changes'}`;
}

function writeTypes(): void {
  const tsc = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', join(__dirname, 'tsconfig.json')], { cwd: projectRoot, stdio: 'inherit' });
}

/** `npm pack` runs it, as `prepack`. */
if (require.main === module) void buildPackage();
