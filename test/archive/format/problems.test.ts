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
