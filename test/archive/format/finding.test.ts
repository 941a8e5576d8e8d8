import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { damageKinds, findingKinds, isRemark, kinds } from '../../../archive/format/finding';
import { type NotSeen, verdictValue } from '../../../archive/format/verdict';
import { runCollector } from '../../cli/run-collector';

/** Rows of the first table of a page behind a heading, without those of its head: the cells of each. */
function tableBehind(page: string, heading: string): string[][] {
  const text = readFileSync(join(__dirname, '../../../docs', page), 'utf8');
  const [, behind = ''] = text.split(`\n## ${heading}\n`);
  const lines = behind.split('\n');
  const first = lines.findIndex((line) => line.startsWith('| `'));
  const end = lines.findIndex((line, at) => at > first && !line.startsWith('|'));
  return lines.slice(first, end).map((line) => line.slice(2, -2).split(' | '));
}

const nameIn = ([cell = '']: readonly string[]) => cell.replaceAll('`', '');

describe('the kinds of findings', () => {
  it('are those of docs/format.md, in the same order, and it calls the same ones remarks', () => {
    const rows = tableBehind('format.md', 'What is found');
    expect(rows.map(nameIn)).toEqual(findingKinds);
    const remarks = rows.filter(([, when = '']) => when.includes('A remark')).map(nameIn);
    expect(remarks).toEqual(findingKinds.filter(isRemark));
  });

  it('that stay open are those of docs/proof.md, and it says the same of their repair', () => {
    const open = Object.entries(kinds).flatMap(([kind, one]) => ('repair' in one ? [[kind, one.repair]] : []));
    expect(tableBehind('proof.md', 'Open until it is repaired').map((row) => [nameIn(row), row[1]])).toEqual(open);
  });

  it('are all in the help of verify, and damage is what stands first', async () => {
    const { out } = await runCollector(['verify', '--help'], { now: new Date() });
    const lines = out.split('\n').flatMap((line) => /^ {2}([a-z-]+) {2,}(.*)$/.exec(line)?.slice(1) ?? []);
    const said = findingKinds.map((kind) => [lines[lines.indexOf(kind) + 1], kinds[kind].means]);
    for (const [line, means] of said) expect(line).toBe(means);
    expect(out).toContain(`up to ${damageKinds.at(-1)} it is damage`);
    expect(findingKinds.slice(0, damageKinds.length)).toEqual(damageKinds);
  });
});

describe('a verdict', () => {
  const unread: NotSeen = { what: 'logs/x', why: 'access was denied' };

  it.each([
    ['right', [], []],
    ['not seen', [], [unread]],
    ['wrong', [{}], []],
    ['wrong', [{}], [unread]],
    ['right', [{ acknowledged: 'known' }], []],
    ['not seen', [{ acknowledged: 'known' }], [unread]],
    ['wrong', [{ acknowledged: 'known' }, {}], [unread]],
  ] as const)('is %s with %j wrong and %j not seen', (value, wrong, notSeen) => {
    expect(verdictValue({ wrong, notSeen })).toBe(value);
  });
});
