import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problems } from '../../../archive/format/problems';

const root = join(__dirname, '../../..');
const code = ['archive', 'lambda', 'infra', 'cli', 'local'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
);
/** Without comments. */
const textOf = (file: string) => readFileSync(join(root, file), 'utf8').replace(/^\s*(\/\*\*?|\*|\/\/).*$/gm, '');

/** A sentence with the names of members, a status or the like in it. */
const samples = [problems.otherThanRecord(['SHA-256']), 'the run record says: failed, 503'];

it('docs/reading-the-archive.md and the second reader say it in the same words', () => {
  const page = readFileSync(join(root, 'docs/reading-the-archive.md'), 'utf8');
  const rows = /^\| it says \|.*\n(?:\|.*\n)+/m.exec(page)?.[0] ?? '';
  const quoted = [...rows.matchAll(/`([a-z][^`]* [^`]* [^`]*)`/g)].map(([, text = '']) => text);
  const said = [...Object.values(problems).filter((one) => typeof one === 'string'), ...samples];
  expect(quoted.length).toBeGreaterThan(5);
  expect(quoted.filter((text) => !said.some((one) => one.startsWith(text)))).toEqual([]);
  expect(readFileSync(join(root, 'cli/export/check_archive.py'), 'utf8')).toContain(`'${problems.unrecorded}'`);
});

it('what findings say stands in one place of the code', () => {
  const texts = Object.values(problems).flatMap((one) => (typeof one === 'string' && one.length >= 20 ? one : []));
  expect(texts.length).toBeGreaterThan(20);
  const copies = code
    .filter((file) => file !== 'archive/format/problems.ts')
    .flatMap((file) => {
      const text = textOf(file);
      return texts.filter((one) => text.includes(one)).map((one) => `${file}: ${one}`);
    });
  expect(copies).toEqual([]);
});
