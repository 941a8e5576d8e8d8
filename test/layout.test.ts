import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { bundling } from '../infra/function-bundle';
import { type Import, readImports, specifiersIn } from './support/imports';

/** What each room may import besides itself. `lambda` is the ground: the files that lie in it, and in none of its folders. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  // The door of the package. Nothing here imports it.
  archive: ['archive/format', 'archive/read', 'archive/prove'],
  'archive/format': [],
  'archive/read': ['archive/format'],
  'archive/prove': ['archive/format', 'archive/read'],
  lambda: ['archive/format'],
  'lambda/notify': ['lambda'],
  'lambda/collect': ['archive/format', 'archive/read', 'lambda'],
  'lambda/audit': ['archive/format', 'archive/read', 'archive/prove', 'lambda', 'lambda/notify', 'lambda/collect/put'],
  infra: ['archive/format', 'lambda'],
  local: ['archive/format', 'archive/read', 'archive/prove'],
  cli: [
    'archive/format',
    'archive/read',
    'archive/prove',
    'infra',
    'lambda',
    'lambda/collect',
    'lambda/notify',
    'local',
  ],
  release: ['infra'],
  sandbox: ['archive/format', 'cli', 'infra', 'local'],
  bench: ['archive/format', 'archive/read', 'archive/prove', 'infra', 'lambda', 'lambda/collect', 'local'],
};

/** The rooms of lambda/collect/ from top to bottom. Each may import what is below it, and nothing on its own floor. */
const column = [['handler'], ['wiring'], ['run'], ['dispatch'], ['service', 'event'], ['body'], ['put']];

/** The only files of read/ and prove/ that are imported from outside of archive/, and by whom; every file of format/ is. */
const doors: Readonly<Record<string, readonly string[]>> = {
  'archive/read/index.ts': ['bench', 'cli', 'lambda/audit', 'local'],
  'archive/prove/index.ts': ['bench', 'cli', 'local'],
  'archive/prove/attest.ts': ['lambda/audit'],
  // Whoever brings a client of their own. It loads the SDK, which the door of read/ does not.
  'archive/read/s3-archive-reader.ts': ['bench', 'lambda/audit', 'lambda/collect'],
};

/** Of the packages, format/ uses these alone: nothing that reads, writes, waits or knows the time. */
const packagesOfFormat = ['croner', 'node:buffer', 'node:crypto', 'node:string_decoder', 'zod/mini', 'zod/v4/core'];

/** The core. It and what it loads use SDK, environment and clock only through the interfaces that they are given. */
const core = ['lambda/collect/run/attempt-run.ts', 'lambda/collect/run/collect.ts'];
const packagesOfCore = [
  'croner',
  'node:buffer',
  'node:crypto',
  'node:events',
  'node:string_decoder',
  'node:util/types',
  'zod/mini',
];
/** It takes the names of the statuses from there, and nothing else. */
const constantsOfCore = ['lambda/group-reasons.ts -> node:http'];
const clockOrEnvironment = /\bprocess\.|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\./;

const root = join(__dirname, '..');
const imports = readImports(root, [...new Set(Object.keys(rooms).map((room) => room.split('/')[0] ?? ''))]);
const fileImports = imports.filter(({ isFile }) => isFile);

describe('the layout', () => {
  it('is read from imports of every kind', () => {
    const text = `
      import { a } from './value';
      import './effect';
      import type { B } from './type';
      import { type C } from './inline-type';
      import { type D, d } from './both';
      export * from './export-all';
      export { e } from './export';
      export type { F } from './export-type';
      import g = require('./equals');
      const h = await import('./dynamic');
      const i = require('./require');
      type J = import('./import-type').J;
    `;
    const values = ['value', 'effect', 'both', 'export-all', 'export', 'equals', 'dynamic', 'require'];
    const types = ['type', 'inline-type', 'export-type', 'import-type'];
    const found = specifiersIn(text);
    const named = (typeOnly: boolean) => found.filter((one) => one.typeOnly === typeOnly).map((one) => one.specifier);
    expect(named(false).sort()).toEqual(values.map((name) => `./${name}`).sort());
    expect(named(true).sort()).toEqual(types.map((name) => `./${name}`).sort());
  });

  it('has no circle: not between files, and not between what one folder holds', () => {
    expect([...byFolder(fileImports).values()].flatMap(circlesIn)).toEqual([]);
  });

  it('lets each room import only what stands below it', () => {
    const wrong = fileImports.filter(({ from, to }) => {
      const [here, there] = [roomOf(from), roomOf(to)];
      const isAllowed = rooms[here]?.some((room) => room === there || to.startsWith(`${room}/`)) ?? false;
      return there !== here && !['package.json', 'cdk.json'].includes(to) && !isAllowed;
    });
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('has three doors into archive/, one for the audit, and one for who brings a client of S3', () => {
    const entering = fileImports.filter(
      ({ from, to }) => !from.startsWith('archive/') && /^archive\/(?!format\/)/.test(to),
    );
    const wrong = entering.filter(({ from, to }) => !doors[to]?.includes(roomOf(from)));
    expect(wrong.map(arrow)).toEqual([]);
    expect(Object.keys(doors).filter((door) => !entering.some(({ to }) => to === door))).toEqual([]);
  });

  it('keeps I/O, SDK, clock and environment out of the format', () => {
    const own = imports.filter(({ from, isFile }) => from.startsWith('archive/format/') && !isFile);
    expect(own.filter(({ to }) => !packagesOfFormat.includes(to)).map(arrow)).toEqual([]);
    const files = new Set(imports.map(({ from }) => from).filter((file) => file.startsWith('archive/format/')));
    expect([...files].filter(touchesClockOrEnvironment)).toEqual([]);
  });

  it('keeps the tools of the stack out of what runs', () => {
    const wrong = imports.filter(
      ({ from, to }) => /^(archive|lambda)\//.test(from) && /^(aws-cdk|constructs|cdk-)/.test(to),
    );
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('lets arrows in lambda/collect/ point downwards only', () => {
    const inside = fileImports.filter(({ from, to }) => [from, to].every((file) => file.startsWith('lambda/collect/')));
    const wrong = inside
      .filter(({ from, to }) => floorOf(from) !== floorOf(to) || partOf(from) !== partOf(to))
      .filter(({ from, to }) => floorOf(to) <= floorOf(from));
    expect(wrong.map(arrow)).toEqual([]);
  });

  it("keeps prove/, and all of read/ but the reader of buckets, out of the collector's bundle", () => {
    const { metafile } = buildSync({
      ...bundling,
      entryPoints: ['lambda/collect/handler.ts'],
      outfile: 'index.js',
      metafile: true,
      write: false,
    });
    const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? file : [])),
    );
    const ofReader = loadedBy(['archive/read/s3-archive-reader.ts']);
    expect(bundled).toContain('lambda/collect/run/collect.ts');
    expect(bundled.filter((file) => /^archive\/(?!format\/)/.test(file) && !ofReader.has(file))).toEqual([]);
    expect([...ofReader].filter((file) => file.startsWith('archive/prove/'))).toEqual([]);
  });

  it('keeps SDK, environment and clock out of the core', () => {
    const loaded = loadedBy(core);
    const packages = imports.filter((one) => !one.isFile && !one.typeOnly && loaded.has(one.from));
    const wrong = packages.filter(({ to }) => !packagesOfCore.includes(to)).map(arrow);
    expect(wrong.filter((one) => !constantsOfCore.includes(one))).toEqual([]);
    expect([...loaded].filter(touchesClockOrEnvironment)).toEqual([]);
  });
});

function arrow({ from, to }: Pick<Import, 'from' | 'to'>): string {
  return `${from} -> ${to}`;
}

function touchesClockOrEnvironment(file: string): boolean {
  return clockOrEnvironment.test(readFileSync(join(root, file), 'utf8'));
}

/** The room of a file, as {@link rooms} names it. */
function roomOf(file: string): string {
  const [top = '', folder = '', name] = file.split('/');
  return ['archive', 'lambda'].includes(top) && name !== undefined ? `${top}/${folder}` : top;
}

/** The part of lambda/collect/ that a file lies in: its folder there, or itself without its ending. */
function partOf(file: string): string {
  return file.split('/')[2]?.replace(/\.ts$/, '') ?? '';
}

function floorOf(file: string): number {
  const floor = column.findIndex((parts) => parts.includes(partOf(file)));
  if (floor === -1) throw new Error(`Finding the floor of ${file} failed: add its folder to the column`);
  return floor;
}

/** The files that are loaded with some files. */
function loadedBy(files: readonly string[]): Set<string> {
  const loaded = new Set(files);
  for (const file of loaded)
    for (const { from, to, typeOnly } of fileImports) if (from === file && !typeOnly) loaded.add(to);
  return loaded;
}

/** What a folder holds, as a graph: file or folder -> file or folder -> one import that is this arrow. */
type Graph = Map<string, Map<string, Import>>;

/**
 * The graph of each folder. A circle of files is one in the graph of the deepest folder that holds them all, so that
 * these graphs show the circles of files and of rooms alike.
 */
function byFolder(list: readonly Import[]): Map<string, Graph> {
  const graphs = new Map<string, Graph>();
  for (const one of list) {
    const [from, to] = [one.from.split('/'), one.to.split('/')];
    const depth = from.findIndex((part, at) => part !== to[at]);
    const folder = from.slice(0, depth).join('/');
    const graph = graphs.get(folder) ?? new Map<string, Map<string, Import>>();
    const [here = '', there = ''] = [from[depth], to[depth]];
    graphs.set(folder, graph.set(here, (graph.get(here) ?? new Map<string, Import>()).set(there, one)));
  }
  return graphs;
}

/** One line for each arrow that closes a circle: the imports that the circle is made of. */
function circlesIn(graph: Graph): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly { name: string; import: Import }[]) => {
    const start = path.findIndex((step) => step.name === name);
    if (start !== -1)
      circles.push(
        path
          .slice(start)
          .map((step) => arrow(step.import))
          .join(', '),
      );
    if (start !== -1 || done.has(name)) return;
    for (const [next, one] of graph.get(name) ?? []) visit(next, [...path, { name, import: one }]);
    done.add(name);
  };
  for (const name of graph.keys()) visit(name, []);
  return circles;
}
