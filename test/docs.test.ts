import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createLogRecordCheck } from '../lambda/body/log-record';
import { createManifestCheck } from '../lambda/body/manifest';
import { runRecordSchema } from '../lambda/run/run-record';
import { scripts } from '../package.json';

const root = join(__dirname, '..');
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((page) =>
  page.endsWith('.md'),
);
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

describe.each(pages)('%s', (page) => {
  const text = textOf(page);

  it('names files that exist', () => {
    const paths = all(text, /(?<![\w./-])((?:infra|lambda|local|cli|bench|test|docs|checks)\/[\w./-]*[\w/])/g);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('links to pages and headings that exist', () => {
    const links = all(text, /\]\(([^)\s]+)\)/g).filter((link) => !/^https?:/.test(link));
    const broken = links.filter((link) => {
      const [path = '', heading] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return heading !== undefined && !headingsOf(textOf(target)).includes(heading);
    });
    expect(broken).toEqual([]);
  });

  it('names scripts that package.json has', () => {
    const named = [...all(text, /npm run (?:--silent )?([a-z][a-z:-]*)/g), ...all(text, /npm (start|test)\b/g)];
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

it('docs/run-record.md explains every member of a run record', () => {
  const { counts, outcomes } = runRecordSchema.shape;
  const members = [runRecordSchema, counts, outcomes._zod.def.element].flatMap(({ shape }) => Object.keys(shape));
  const explained = all(textOf('docs/run-record.md'), /`([a-zA-Z0-9]+)(?:\[\])?`/g);
  // Only the summary of a dry run, which leaves no record, has this one.
  expect(members.filter((name) => !explained.includes(name))).toEqual(['wouldArchive']);
});

describe('the examples in docs/service-contract.md', () => {
  const [record = '', manifest = ''] = all(textOf('docs/service-contract.md'), /```http\nHTTP[^`]*?\n\n([^`]*)\n```/g);
  const headers = all(textOf('docs/service-contract.md'), /Content-Length: (\d+)/g).map(Number);

  it('are answers that the collector accepts', () => {
    const log = createLogRecordCheck('prod-eu-1');
    log.write(Buffer.from(record));
    expect(log.end()).toMatchObject({ state: 'Available' });
    const string = createManifestCheck({ mediaType: 'text/plain; charset=utf-8', asReceived: false });
    expect(string.write(Buffer.from(manifest)).toString()).toBe(manifest);
    string.end();
  });

  it('are as long as they say', () => {
    expect([record, manifest].map((body) => Buffer.byteLength(body))).toEqual(headers);
  });
});

/** What the first group of a pattern matches, each once. */
function all(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, group = '']) => group))];
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(text: string): string[] {
  return all(text, /^#+ (.*)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
