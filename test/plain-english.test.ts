import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..');
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));

/** What users see: pages, the descriptions of the configuration; in code every text, which is all that remains without comments. */
const pages = [...filesIn('.', '.md'), ...filesIn('docs', '.md'), 'collector.schema.json'];
const code = ['archive', 'infra', 'lambda', 'cli', 'local', 'release', 'sandbox', 'bench'].flatMap((folder) =>
  filesIn(folder, '.ts'),
);

/** "This is no X" and "it is none" are read twice. Write "is not a", or name what is missing. */
const readTwice = /\b(is|are)\s+(no|none)\b(?!\s+longer)/gi;

it('texts that users see say "is not a", and neither "is no" nor "is none"', () => {
  const found = [...pages, ...code].flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const seen = file.endsWith('.ts') ? text.replace(/^\s*(\/\*\*?|\*|\/\/).*$/gm, '') : text;
    return [...seen.matchAll(readTwice)].map(({ index }) => `${file}: ${seen.slice(index - 40, index + 20)}`);
  });
  expect(found).toEqual([]);
});

/** What a title says: the first text of `it`, `describe` and of their tables' calls. */
const title = /\b(?:it|describe)(?:\.each[\s\S]*?\]\))?\(\s*(['"`])(.*?)\1/g;

it('titles of tests do too', () => {
  const found = filesIn('test', '.test.ts').flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(title)].flatMap(([, , text = '']) =>
      text.search(readTwice) < 0 || file.endsWith('plain-english.test.ts') ? [] : `${file}: ${text}`,
    ),
  );
  expect(found).toEqual([]);
});
