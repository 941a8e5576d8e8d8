import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../support/new-folder';
import { flapping, healthy, runAt } from '../operator-archive';
import { runCollector } from '../run-collector';
import { sealedOperatorArchive } from '../sealed-operator-archive';

const textOf = (page: string) => readFileSync(join(__dirname, '../../../docs', page), 'utf8');
const wordsIn = (text: string) => [...text.matchAll(/`([\w ]+)`/g)].map(([, words = '']) => words.split(' '));

/** What the table in docs/reading-the-archive.md says of a command: the lists of members, the first of which it always has. */
function listsOf(command: string): string[][] {
  const section = /^## JSON\n(.*?)^## /ms.exec(textOf('reading-the-archive.md'))?.[1] ?? '';
  const row = section.split('\n').find((line) => line.startsWith(`| \`${command}\` |`));
  if (row === undefined) throw new Error(`The page has no row for the JSON of ${command}`);
  return wordsIn(row.split('|').slice(2).join('|'));
}

const sealMembers = wordsIn(/^## Seals\n(.*?)^### /ms.exec(textOf('format.md'))?.[1] ?? '').flat();

describe('the page on reading the archive says what --json prints', () => {
  const out = newFolder();
  let folder: string;

  beforeAll(async () => {
    folder = (await sealedOperatorArchive()).archive.folder;
  });

  it.each<[row: string, args: string[]]>([
    ['runs', []],
    ['list', ['--last', '2']],
    ['list --stale', ['1h']],
    ['list --by', ['cluster']],
    ['show', [healthy]],
    ['diff', [healthy]],
    ['history', ['--all']],
    ['log', ['--all', '--seams']],
    ['grep', ['.', '--cluster', healthy]],
    ['verify', []],
    ['export', ['--cluster', healthy, '--out', join(out, 'part')]],
  ])('%s', async (row, args) => {
    const printed = await printedBy(...row.split(' '), ...args, '--archive', folder);
    const [always = [], ...others] = listsOf(row);
    const keys = new Set(printed.flatMap((one) => Object.keys(one)));
    expect(always.filter((word) => !keys.has(word))).toEqual([]);
    expect([...keys].filter((key) => ![...always, ...others.flat()].includes(key))).toEqual([]);
  });

  it('verify --seals: what a seal has', async () => {
    const printed = await printedBy('verify', '--seals', '--archive', folder);
    const own = listsOf('verify --seals').flat();
    const keys = printed.flatMap((one) => Object.keys(one));
    expect(keys.filter((key) => ![...own, ...sealMembers].includes(key))).toEqual([]);
  });

  it('runs of one run, and of one cluster', async () => {
    const lists = listsOf('runs');
    const [one = {}] = await printedBy('runs', runAt(12).toISOString(), '--archive', folder);
    expect(Object.keys(one).filter((key) => !lists.flat().includes(key))).toEqual([]);
    const [ofCluster = {}] = await printedBy('runs', '--cluster', flapping, '--archive', folder);
    expect(lists).toContainEqual(Object.keys(ofCluster));
  });

  it('doctor', async () => {
    const [printed = {}] = await printedBy('doctor', '--offline');
    const [all, ofCheck] = listsOf('doctor');
    expect(Object.keys(printed)).toEqual(all);
    const [check = {}] = printed.checks as object[];
    expect(Object.keys(check)).toEqual(ofCheck);
  });

  /** The objects that a command prints, of which there is one at least. */
  async function printedBy(...args: string[]): Promise<Record<string, unknown>[]> {
    const { out: text, err } = await runCollector([...args, '--json'], { now: runAt(61) });
    const printed = text === '' ? [] : [JSON.parse(text)].flat();
    if (printed.length === 0) throw new Error(`${args.join(' ')} printed nothing: ${err}`);
    return printed;
  }
});
