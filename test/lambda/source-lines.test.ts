import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import { nameSourceLines } from '../../lambda/source-lines';

let folder: string;
let bundle: string;
const { prepareStackTrace } = Error;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'source-lines-'));
  bundle = join(folder, 'index.js');
});

afterEach(async () => {
  Error.prepareStackTrace = prepareStackTrace;
  await rm(folder, { recursive: true, force: true });
});

/** Bundles a source whose third line throws, and gives the trace of what it throws. */
async function traceOf(thrown: string): Promise<string> {
  const source = join(folder, 'thrower.js');
  await writeFile(source, `// A line.\nexport function first() {\n  throw ${thrown};\n}\nmodule.exports = first;\n`);
  const { outputFiles } = await build({
    entryPoints: [source],
    outfile: bundle,
    bundle: true,
    minify: true,
    sourcemap: 'external',
    write: false,
    format: 'cjs',
    logLevel: 'error',
  });
  const [map, code] = outputFiles;
  await writeFile(`${bundle}.map`, map?.text ?? '');
  return run(code?.text ?? '');
}

function run(code: string): string {
  const module = { exports: (): void => undefined };
  compileFunction(code, ['module', 'Error'], { filename: bundle })(module, Error);
  nameSourceLines(bundle);
  try {
    module.exports();
  } catch (error) {
    return (error as Error).stack ?? '';
  }
  return '';
}

it('a trace names lines of the sources, not of the bundle', async () => {
  const [head, first, ...others] = (await traceOf("new Error('no')")).split('\n');
  expect(head).toBe('Error: no');
  expect(first).toMatch(/^ {4}at .*\(?thrower\.js:3:9\)?$/);
  expect(others.join('\n')).toContain('source-lines.test.ts');
});

it.each([
  ['is absent', undefined],
  ['is damaged', '{"mappings":'],
  ['is something else', '{"version":3}'],
  ['says that no source is behind it', '{"version":3,"sources":["a.js"],"names":[],"mappings":"A,wMAAA"}'],
])('a trace is as V8 makes it where the map %s', async (_what, map) => {
  if (map !== undefined) await writeFile(`${bundle}.map`, map);
  const [head, first] = run("module.exports = () => { throw new Error('no'); };").split('\n');
  expect(head).toBe('Error: no');
  expect(first).toContain(`${bundle}:1:`);
});

it('an error that throws when it is asked for its name has a trace all the same', async () => {
  const trace = await traceOf("Object.defineProperty(new Error('no'), 'name', { get() { throw 'x' } })");
  expect(trace).toMatch(/^Error\n {4}at /);
});
