/**
 * Starts the command line. It is built into one file of JavaScript, which is used as long as the sources are the same: to load
 * TypeScript takes two seconds of processor time before anything is done.
 */
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } = require('node:fs');
const { dirname, join } = require('node:path');

const root = join(__dirname, '..');
const built = join(root, 'node_modules', '.cache', 'collector');

/** Changes with every file that may be in the build, and with this Node.js. */
function fingerprint() {
  const hash = createHash('sha256').update(process.version);
  const add = (path) => {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  };
  for (const folder of ['archive', 'cli', 'infra', 'lambda', 'local'])
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) add(join(entry.parentPath, entry.name).slice(root.length + 1));
  for (const file of ['package.json', 'package-lock.json']) add(file);
  return hash.digest('hex').slice(0, 16);
}

/** Files that the sources read beside themselves are found where the sources are. */
const ownFolder = {
  name: 'own-folder',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\](archive|cli|infra|lambda|local)[/\\].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('__dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    })),
};

async function build(file) {
  const { build } = require('esbuild');
  const unfinished = `${file}.${process.pid}`;
  mkdirSync(built, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: ['cli/collector.ts'],
    outfile: unfinished,
    bundle: true,
    platform: 'node',
    packages: 'external',
    plugins: [ownFolder],
    logLevel: 'error',
  });
  for (const name of readdirSync(built)) if (name.endsWith('.cjs')) rmSync(join(built, name), { force: true });
  // Whole at once: another process may be looking for it.
  renameSync(unfinished, file);
}

async function main() {
  const file = join(built, `${fingerprint()}.cjs`);
  try {
    if (!existsSync(file)) await build(file);
  } catch (error) {
    if (!['EACCES', 'EROFS', 'ENOSPC'].includes(error.code)) throw error;
    // Nothing can be kept here: the sources are loaded as they are.
    require('tsx/cjs');
    require('./collector.ts');
    return;
  }
  require(file);
}

void main();
