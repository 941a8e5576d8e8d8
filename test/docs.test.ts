import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as library from '../archive';
import * as clocks from '../archive/format/clocks';
import { outcomeSchema, runSchema } from '../archive/format/run-record';
import { closeToLimitShare, leastThrottledAnswers } from '../infra/alarm-windows';
import { mostShardsInTurn } from '../infra/limits';
import { LogRecordCheck } from '../lambda/collect/body/log-record';
import { createManifestCheck } from '../lambda/collect/body/manifest';
import { longestRunSeconds } from '../lambda/time-limits';
import { scripts } from '../package.json';
import { help } from '../sandbox/sandbox';
import { runCollector } from './cli/run-collector';
import { runStart } from './cli/run-start';

const root = join(__dirname, '..');
const entriesOf = (folder: string) => readdirSync(join(root, folder)).map((name) => join(folder, name));
const pages = [...entriesOf('.'), ...entriesOf('docs')].filter((page) => page.endsWith('.md'));
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const folders = ['archive', 'infra', 'lambda', 'local', 'cli', 'bench', 'release', 'sandbox', 'test'];
const fileNames = new Set(
  folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
    .map((file) => basename(file)),
);

/** The options of one command of ours, as its help names them. Undefined if there is no such command. */
async function optionsOf(program: string, command: string): Promise<readonly string[] | undefined> {
  if (program === 'bench') return [...optionsIn(textOf('bench/main.ts')), '--help'];
  if (program === 'sandbox') return optionsIn(help);
  if (program === 'start') return optionsIn((await runStart(['--help'])).out);
  const { code, out } = await runCollector(['help', command]);
  return code === 0 ? optionsIn(out) : undefined;
}

function optionsIn(text: string): string[] {
  return all(text, /(--[a-z][a-z-]*)/g);
}

/** Options in the text that are not ours: of V8, and of other people's commands. */
const foreignOptions = [
  ...['--heap-growing-percent', '--invocation-type', '--bypass-governance-retention'],
  ...['--require-approval', '--profile', '--cloudformation-execution-policies', '--qualifier', '--trust'],
];

/** What docs/alarms.md quotes of consoles of AWS, in its order. */
const ofConsoles: readonly string[] = ['Insufficient data', 'Mute rules', 'Send and receive messages'];

describe.each(pages)('%s', (page) => {
  const text = textOf(page);

  it('names files that exist', () => {
    const paths = all(
      text,
      /(?<![\w./-])((?:archive|infra|lambda|local|cli|bench|release|sandbox|test|docs|\.ci|\.github)\/[\w./-]*[\w/])/g,
    );
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('names source files by names that exist', () => {
    expect(all(text, /`([\w-]+(?:\.[\w-]+)*\.ts)`/g).filter((name) => !fileNames.has(name))).toEqual([]);
  });

  it('names commands and options that exist', async () => {
    const wrong: string[] = [];
    const typed = text.matchAll(/npm (?:run )?(?:--silent )?(collector|start|bench|sandbox) -- ([^`\n|#>;&]*)/g);
    for (const [, program = '', line = ''] of typed) {
      const [command = ''] = line.split(' ');
      if (/^(<|$)/.test(command)) continue;
      const options = await optionsOf(program, command);
      if (options === undefined) wrong.push(`${program} ${command}`);
      else wrong.push(...optionsIn(line).filter((option) => !options.includes(option)));
    }
    expect(wrong).toEqual([]);
  });

  it('names options in passing that some command of ours has', async () => {
    const commands = all((await runCollector(['--help'])).out, /^ {2}([a-z]+) /gm);
    const known = await Promise.all(commands.map((command) => optionsOf('collector', command)));
    known.push(await optionsOf('start', ''), await optionsOf('bench', ''), foreignOptions);
    const named = all(text, /`(--[a-z][a-z-]*)/g);
    expect(named.filter((option) => !known.flat().includes(option))).toEqual([]);
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

it('CONTRIBUTING.md names files by their folders, or beside the file that was named before', () => {
  const rows = textOf('CONTRIBUTING.md')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  const isWhole = (name: string) => ['docs', ...folders].includes(name.split('/')[0] ?? '');
  const absent = rows.flatMap((row) => {
    let folder = '';
    return [...row.matchAll(/`([\w./-]+(?:\/|\.(?:ts|py|md)))`/g)].flatMap(([, name = '']) => {
      if (name.endsWith('/') && !isWhole(name)) return [];
      const path = isWhole(name) ? name : join(folder, name);
      folder = name.endsWith('/') ? path : dirname(path);
      return existsSync(join(root, path)) ? [] : path;
    });
  });
  expect(rows.length).toBeGreaterThan(50);
  expect(absent).toEqual([]);
});

it('README.md is short: at most 10,000 bytes', () => {
  expect(Buffer.byteLength(textOf('README.md'))).toBeLessThanOrEqual(10_000);
});

it('docs/own-app.md imports from the library what it has', () => {
  const named = all(textOf('docs/own-app.md'), /import \{ ([^}]*) \} from 'cluster-log-collector\/archive'/g);
  expect(named.length).toBeGreaterThan(0);
  expect(named.flatMap((names) => names.split(', ')).filter((name) => !Object.hasOwn(library, name))).toEqual([]);
});

it('README.md gives the costs that docs/background.md adds up', () => {
  const background = textOf('docs/background.md');
  const rows = [...background.matchAll(/^\| [^|]+ \| [^|]+ \|((?: [\d.]+ \|){4})$/gm)].map(([, cells = '']) =>
    cells.split('|').slice(0, 4).map(Number),
  );
  const sums = [0, 1, 2, 3].map((at) => rows.reduce((sum, row) => sum + (row[at] ?? 0), 0).toFixed(2));
  expect(background).toContain(`| **per month** | | ${sums.map((sum) => `**${sum}**`).join(' | ')} |`);
  const small = Number(/\$([\d.]+) without, daily/.exec(background)?.[1]);
  const [hourly, daily] = sums.map((sum) => Math.round(Number(sum)));
  const said = `about $${hourly} a month for 1,000 clusters that are collected hourly, $${daily} for daily; $${Math.round(small)} for 5`;
  expect(textOf('README.md')).toContain(said);
});

const inWords = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const { hourMs, dayMs, minuteMs, formerVersionDays } = clocks;
const [slack, underWay] = [clocks.clockSlackMs / hourMs, clocks.underWayMs / hourMs];
const stamped = inWords[clocks.stampedWithinMs / dayMs];
const sealedWithin = `${clocks.sealedWithinMs / minuteMs} minutes`;
const limitMinutes = clocks.functionTimeoutSeconds / 60;

it.each([
  ['background.md', `\`verify\` allows clocks to differ by ${inWords[slack]} hours`],
  ['format.md', `Clocks may differ by ${inWords[slack]} hours`],
  ['format.md', `younger than ${underWay} hours`],
  ['format.md', `A record written more than ${sealedWithin} before it`],
  ['format.md', `more than ${sealedWithin} before the head's`],
  ['format.md', `demands a stamp within ${stamped} days`],
  ['format.md', `took longer than ${limitMinutes} minutes and ${inWords[slack]} hours`],
  ['proof.md', `covers within ${stamped} days`],
  ['alarms.md', `gave none for ${stamped} days`],
  ['alarms.md', `S3 keeps what was overwritten or deleted for ${formerVersionDays} days`],
  ['alarms.md', `at least ${closeToLimitShare * limitMinutes} of the ${limitMinutes} minutes`],
  ['alarms.md', `at least ${inWords[leastThrottledAnswers]} answers`],
  ['operations.md', `deleted and expired versions stay for ${formerVersionDays} days`],
  ['operations.md', `S3 keeps an expired version for ${formerVersionDays} more days`],
  ['operations.md', `may last ${longestRunSeconds / 60} minutes`],
  ['operations.md', `${mostShardsInTurn} shards at most`],
  ['keeping.md', `content stays for ${formerVersionDays} days`],
  ['../SECURITY.md', `kept for ${formerVersionDays} days once deleted`],
])('docs/%s gives the number that the code has: %s', (page, words) => {
  expect(textOf(join('docs', page)).replace(/\s+/g, ' ')).toContain(words);
});

it('README.md gives the ratios that docs/performance.md has measured', () => {
  const [, ours = '', other = '', ratio = ''] =
    /\| \*\*ours\*\* \|[^|]*\|[^|]*\| (\d+) MB .*?\| Promise\.all[^|]*\|[^|]*\|[^|]*\| ([\d,]+) MB \| \*\*([\d.]+)\*\*/s.exec(
      textOf('docs/performance.md'),
    ) ?? [];
  const part = (times: number) =>
    ({ 2: 'half', 3: 'a third', 4: 'a quarter', 6: 'a sixth', 7: 'a seventh' })[Math.round(times)];
  const memory = Number(other.replace(',', '')) / Number(ours);
  expect(textOf('README.md').replace(/\s+/g, ' ')).toContain(
    `takes ${part(1 / Number(ratio))} of the time, and ${part(memory)} of the memory, of a \`Promise.all\``,
  );
});

it('docs/alarms.md quotes what the product says, word for word', () => {
  const prose = textOf('docs/alarms.md').replace(/^ {4,}.*$|`[^`]*`/gm, '');
  const said = sourcesIn('archive', 'cli', 'infra', 'lambda', 'local')
    .map(textOf)
    .join('\n')
    .replace(/['`] \+\s*['`]/g, '');
  const headings = pages.flatMap((page) => all(textOf(page), /^#+ (.*)$/gm));
  const quoted = all(prose.replace(/\s+/g, ' '), /"([^"]+)"/g);
  expect(quoted.length).toBeGreaterThan(30);
  expect(quoted.filter((words) => !said.includes(words) && !headings.includes(words))).toEqual(ofConsoles);
});

it('docs/alarms.md has a step for every reason to refuse a list of clusters', () => {
  const section = /^## List refused\n(.*?)^## /ms.exec(textOf('docs/alarms.md'))?.[1] ?? '';
  const quoted = all(section, /"([^"]+)"/g);
  const files = ['lambda/collect/run/cluster-list.ts', 'lambda/collect/run/read-list.ts'];
  const reasons = files.flatMap((file) =>
    all(textOf(file), /\b(?:problem(?::| =)|absent =) (?:'([^']*)|`(?!\$\{absent\})([^`]*))/g),
  );
  expect(reasons.length).toBeGreaterThan(8);
  expect(reasons.filter((reason) => !quoted.some((words) => reason.includes(words)))).toEqual([]);
});

it('links in comments lead to names that their file knows', () => {
  const stale = sourcesIn(...folders).flatMap((file) => {
    const text = textOf(file);
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    const names = all(text, /\{@link (?!https?:)([^}\s|]+)/g);
    return names.filter((name) => !knows(code, name)).map((name) => `${file}: ${name}`);
  });
  expect(stale).toEqual([]);
});

it('docs/format.md explains every member of a run record', () => {
  const members = [runSchema, runSchema.shape.counts, outcomeSchema].flatMap(({ shape }) => Object.keys(shape));
  const explained = all(textOf('docs/format.md'), /`([a-zA-Z0-9]+)`/g);
  // Only the summary of a dry run, which leaves no record, has this one.
  expect(members.filter((name) => !explained.includes(name))).toEqual(['wouldArchive']);
});

describe('the examples in docs/service-contract.md', () => {
  const [record = '', manifest = ''] = all(textOf('docs/service-contract.md'), /```http\nHTTP[^`]*?\n\n([^`]*)\n```/g);
  const headers = all(textOf('docs/service-contract.md'), /Content-Length: (\d+)/g).map(Number);

  it('are answers that the collector accepts', () => {
    const log = new LogRecordCheck('prod-eu-1');
    log.write(Buffer.from(record));
    expect(log.end()).toMatchObject({ state: 'Available' });
    const string = createManifestCheck({ mediaType: 'text/plain; charset=utf-8' });
    expect(string.write(Buffer.from(manifest)).toString()).toBe(manifest);
    string.end();
  });

  it('are as long as they say', () => {
    expect([record, manifest].map((body) => Buffer.byteLength(body))).toEqual(headers);
  });
});

/** What the first group of a pattern matches, or the second one, each once. */
function all(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, group, other = '']) => group ?? other))];
}

/** The TypeScript files below some folders. */
function sourcesIn(...below: readonly string[]): string[] {
  const files = below.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return files.filter((file) => file.endsWith('.ts'));
}

/** Whether every part of a name stands in the code: `Overlap.at`. */
function knows(code: string, name: string): boolean {
  return (name.match(/\w+/g) ?? []).every((part) => new RegExp(`\\b${part}\\b`).test(code));
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
