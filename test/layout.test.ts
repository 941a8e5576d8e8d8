import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Import, readImports, specifiersIn } from './support/imports';

/** What each folder may import besides itself. */
const folders: Readonly<Record<string, readonly string[]>> = {
  lambda: [],
  infra: ['lambda'],
  local: ['lambda'],
  cli: ['infra', 'lambda', 'local'],
  bench: ['cli', 'infra', 'lambda', 'local'],
};

/** The rooms of lambda/ from top to bottom. Each may import what is below it, and nothing on its own floor. */
const column = [
  ['handler'],
  ['wiring'],
  ['run'],
  ['dispatch'],
  ['service', 'event'],
  ['body'],
  ['list'],
  ['archive'],
  ['stack-contract', 'time-limits', 'environment', 'stop', 'clock', 'resources'],
];
/** The lowest floor. Its files may import each other. */
const ground = column.at(-1) ?? [];

/** The rooms of lambda/ beside the column, and what each may import. The column imports none of them. */
const beside: Readonly<Record<string, readonly string[]>> = {
  verify: ['stamps', 'log', 'body', 'run', 'list', 'archive', 'schedule', ...ground],
  'audit-handler': ['audit', 'event', ...ground],
  audit: ['plain-text', 'verify', 'stamps', 'log', 'run', 'list', 'archive', 'schedule', ...ground],
  log: ['body', ...ground],
  'failure-handler': ['failure', 'audit', ...ground],
  failure: ['plain-text', 'audit', ...ground],
  schedule: [],
  stamps: [],
  'plain-text': [],
};

/** The core. It and what it loads use SDK, environment and clock only through the interfaces that they are given. */
const core = ['lambda/run/attempt-run.ts', 'lambda/run/collect.ts'];
const packagesOfCore = [
  'node:buffer',
  'node:crypto',
  'node:events',
  'node:string_decoder',
  'node:util/types',
  'zod/mini',
];
/** It takes the names of the statuses from there, and nothing else. */
const constantsOfCore = ['lambda/run/group-reasons.ts -> node:http'];
const clockOrEnvironment = /\bprocess\.|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\./;

const root = join(__dirname, '..');
const imports = readImports(root, Object.keys(folders));
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

  it('lets each folder import only what stands below it', () => {
    const wrong = fileImports.filter(({ from, to }) => {
      const [here = '', there = ''] = [from, to].map((file) => file.split('/')[0]);
      return there !== here && to !== 'package.json' && !folders[here]?.includes(there);
    });
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('keeps the tools of the stack out of lambda/', () => {
    const wrong = imports.filter(({ from, to }) => from.startsWith('lambda/') && /^(aws-cdk|constructs|cdk-)/.test(to));
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('lets arrows in lambda/ point downwards only', () => {
    const inside = fileImports.filter(({ from, to }) => from.startsWith('lambda/') && to.startsWith('lambda/'));
    const wrong = inside.filter(({ from, to }) => roomOf(from) !== roomOf(to) && !mayImport(from).includes(roomOf(to)));
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('keeps SDK, environment and clock out of the core', () => {
    const loaded = loadedBy(core);
    const packages = imports.filter((one) => !one.isFile && !one.typeOnly && loaded.has(one.from));
    const wrong = packages.filter(({ to }) => !packagesOfCore.includes(to)).map(arrow);
    expect(wrong.filter((one) => !constantsOfCore.includes(one))).toEqual([]);
    const touching = [...loaded].filter((file) => clockOrEnvironment.test(readFileSync(join(root, file), 'utf8')));
    expect(touching).toEqual([]);
  });
});

function arrow({ from, to }: Pick<Import, 'from' | 'to'>): string {
  return `${from} -> ${to}`;
}

/** The room of a file in lambda/: its folder there, or itself without its ending. */
function roomOf(file: string): string {
  return file.split('/')[1]?.replace(/\.ts$/, '') ?? '';
}

function mayImport(file: string): readonly string[] {
  const room = roomOf(file);
  const floor = column.findIndex((rooms) => rooms.includes(room));
  if (floor === -1) return beside[room] ?? [];
  return floor === column.length - 1 ? ground : column.slice(floor + 1).flat();
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
