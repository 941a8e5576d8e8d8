import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { bundling, projectRoot } from '../infra/function-bundle';
import { type BundledPackage, bundledPackages, licenceText } from './bundled-packages';
import { wordsOfPackage } from './package-words';

/** Folder of everything that is built for the package; emptied first. */
export const builtFolder = join(projectRoot, 'dist');

const functions = ['collect', 'audit', 'notify'];

/** Whoever uses the construct has them, and nobody else needs them. */
const ofCdk = ['aws-cdk-lib', 'aws-cdk-lib/*', 'constructs'];

const shared = {
  ...bundling,
  sourcemap: false,
  define: { packedCommit: JSON.stringify(commit()) },
  metafile: true,
} satisfies BuildOptions;

/**
 * Builds what `npm pack` takes: the command line, the construct and the library as JavaScript with types, and the functions'
 * bundles.
 * @returns the packages of others whose code is in it
 */
export async function buildPackage(): Promise<BundledPackage[]> {
  rmSync(builtFolder, { recursive: true, force: true });
  const metafiles = await Promise.all([buildCommands(), buildImports(), ...functions.map(buildFunction)]);
  const packages = bundledPackages(metafiles);
  writeFileSync(join(builtFolder, 'THIRD-PARTY-LICENSES.txt'), licenceText(packages));
  writeTypes();
  return packages;
}

/** The command line, divided by what a command loads: a client of AWS has 100 KB. */
async function buildCommands(): Promise<Metafile> {
  const { metafile } = await build({
    ...shared,
    entryPoints: ['cli/collector.ts'],
    outdir: join(builtFolder, 'commands'),
    format: 'esm',
    splitting: true,
    outExtension: { '.js': '.mjs' },
    // For the packages of others that are CommonJS.
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
    plugins: [packedSources('import.meta.dirname', 'commands')],
  });
  return metafile;
}

/** What others import: as CommonJS, because an app of `cdk init` is, and Node 20 cannot require an ES module. */
async function buildImports(): Promise<Metafile> {
  const { metafile } = await build({
    ...shared,
    entryPoints: { index: 'infra/cluster-log-collector.ts', archive: 'archive/index.ts' },
    outdir: builtFolder,
    outExtension: { '.js': '.cjs' },
    external: ofCdk,
    plugins: [packedSources('__dirname', '.')],
  });
  return metafile;
}

async function buildFunction(name: string): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    ...bundling,
    entryPoints: [join('lambda', name, 'handler.ts')],
    // Source maps name the sources from here, as those of a clone do.
    outfile: 'index.js',
    plugins: [packedSources('__dirname', undefined), unmappedPackages],
    metafile: true,
    write: false,
  });
  const folder = join(builtFolder, 'functions', name);
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(join(folder, basename(path)), contents);
  return metafile;
}

/**
 * How the sources differ in the package: what they tell people to type, and where files lie that they read beside themselves.
 * @param ownFolder the expression for the folder that a built file lies in
 * @param builtIn that folder below {@link builtFolder}; undefined: of a function, which has nothing but its own folder
 */
function packedSources(ownFolder: string, builtIn: string | undefined): Plugin {
  return {
    name: 'packed-sources',
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^\.\/function-bundle$/ }, () => ({
        path: join(projectRoot, 'infra', 'packed-functions.ts'),
      }));
      onLoad({ filter: /[/\\](archive|cli|infra|lambda|local)[/\\][^.]*\.ts$/ }, ({ path }) => {
        const text = wordsOfPackage(readFileSync(path, 'utf8'));
        if (builtIn === undefined) return { contents: text, loader: 'ts' };
        const way = relative(join(builtFolder, builtIn), dirname(path));
        return {
          contents: text.replaceAll('__dirname', `(${ownFolder} + ${JSON.stringify(`/${way}`)})`),
          loader: 'ts',
        };
      });
    },
  };
}

/** Source maps name the files of others, and of this project lines too: with all lines they would be five times as large. */
const unmappedPackages: Plugin = {
  name: 'unmapped-packages',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]node_modules[/\\].*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${wholeFile}`,
      loader: 'js',
    })),
};

const wholeFile = Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64');

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
