import { readFile } from 'node:fs/promises';
import { runCollector } from './run-collector';

const commands = ['runs', 'list', 'show', 'diff', 'history', 'grep', 'verify', 'report'];

describe('the command line', () => {
  it.each([
    '',
    ...commands,
    'run',
    'doctor',
  ])('%s --help has examples and exit codes, and fits the terminal', async (command) => {
    const { code, out, err } = await runCollector([command, '--help'].filter(Boolean), { columns: 80 });
    expect([code, err]).toEqual([0, '']);
    const reads = commands.includes(command) ? ['--archive <location>'] : [];
    const options = command === 'report' ? reads : reads.flatMap((option) => [option, '--json']);
    if (command === '') for (const name of commands) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const part of [`Usage: npm run collector -- ${command}`, ...options, 'Examples:', 'Exit codes:'])
      expect(out).toContain(part);
    expect(out.split('\n').filter((line) => line.length > 80 && !/^ {2}npm/.test(line))).toEqual([]);
  });

  it.each([
    [['runs', '--archive', 's3://some-bucket'], /^error: Opening .* failed: .*; set AWS_REGION/],
    [['run'], /no region is set; add --region, or set AWS_REGION\. The local deployment .*: npm start runs it/],
  ])('%p without a region is trouble, with how to set one', async (args, message) => {
    const { AWS_REGION, AWS_CONFIG_FILE, ...others } = process.env;
    process.env = { ...others, AWS_CONFIG_FILE: '/no/such/file' };
    const { code, err } = await runCollector(args);
    process.env = { ...others, ...(AWS_REGION && { AWS_REGION }), ...(AWS_CONFIG_FILE && { AWS_CONFIG_FILE }) };
    expect([code, err]).toEqual([3, expect.stringMatching(message)]);
  });

  it('--help names all that ends a command with 1', async () => {
    const { out } = await runCollector(['--help']);
    const [, found] = /^Exit codes: 0 done, 1 (.*?)\. 2 wrong command line/ms.exec(out) ?? [];
    expect(found?.replaceAll(/\s+/g, ' ')).toContain('something wrong or not seen (doctor)');
    expect(found?.replaceAll(/\s+/g, ' ')).toContain('a cluster that is stale (list --stale)');
  });

  it('--version prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(await runCollector(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  const noon = '2026-11-20T12:00';
  const early = ['runs', '--from', noon, '--to', '2026-11-19'];

  it.each<[string, string[], RegExp]>([
    ['an unknown command', ['vrify'], /unknown command 'vrify'[\s\S]*Did you mean verify/],
    ['a command of before', ['seals', '--public-key', '--archive', 'x'], /is "verify --seals", and its --public-key/],
    ['another one of before', ['stats'], /the command stats is "list --by day" or "list --by cluster" now/],
    ['an unknown option', ['runs', '--lasts', '3'], /unknown option '--lasts'[\s\S]*Did you mean --last/],
    [
      'an option of other tools',
      ['log', 'a', '--tail', '10'],
      /unknown option '--tail'\n\(Did you mean --last COUNT, /,
    ],
    ['another option of other tools', ['runs', '--format', 'json'], /\(Did you mean --json\?\)/],
    ['a colour', ['runs', '--no-color'], /NO_COLOR=1/],
    ['a command of other tools', ['check'], /unknown command 'check'\n\(Did you mean verify\?\)/],
    ['a name of runs in other tools', ['snapshots'], /\(Did you mean runs\?\)/],
    ['a version', ['version'], /\(Did you mean --version\?\)/],
    [
      'a resource behind the cluster',
      ['show', 'a', 'log'],
      /too many arguments[\s\S]*\(--resource log names a resource/,
    ],
    ['a run that is not a time', ['runs', 'noon'], /^error: 'noon' is not a time: expected the time of one run/],
    ['a text that is not an age', ['list', '--stale', 'long'], /expected how long ago: 90m, 24h, 3 days/],
    ['an argument too many', ['show', 'a', 'b'], /too many arguments[\s\S]*Expected 1/],
    ['an argument too few', ['show'], /missing required argument 'cluster'/],
    [
      'an unknown resource',
      ['list', '--resource', 'logs'],
      /^error: --resource logs: expected one of log, manifest\.$/m,
    ],
    ['a text that is not a time', ['show', 'a', '--at', 'noon'], /^error: --at noon: expected a date/],
    ['a count of zero', ['list', '--limit', '0'], /^error: --limit 0: expected a whole number/],
    ['a period that ends too early', early, /expected the earlier time in --from/],
    [
      'two times of one run',
      ['show', 'a', '--run', noon, '--at', noon],
      /'--run <time>' cannot be used with option '--at/,
    ],
    ['no cluster to tell the history of', ['history'], /a cluster's uid, or --all/],
    [
      'a stack for a look at a file alone',
      ['doctor', '--offline', '--stack', 'x'],
      /'--offline' cannot be used with option '--stack/,
    ],
    ['a pattern that is not a regular expression', ['grep', '('], /in RE2 syntax/],
    ['a reference back, which could take exponential time', ['grep', '(a)\\1'], /in RE2 syntax/],
    ['too much context', ['grep', 'a', '-C', '1001'], /expected a whole number/],
    ['a negative context', ['grep', 'a', '-C', '-1'], /expected a whole number/],
    [
      'an option in place of a value',
      ['report', '--out', '--archive', 'x'],
      /^error: --out without its value; it is followed by --archive$/m,
    ],
    [
      'an option before the command',
      ['--archive', 'x', 'list'],
      /^error: --archive before the command; .* such as: list --archive$/m,
    ],
    [
      'lines to a time before they begin',
      ['log', 'a', '--lines-from', '2026-11-22T06:00', '--lines-to', '2026-11-22T02:00'],
      /^error: --lines-from 2026-11-22T06:00:00\.000Z is later than --lines-to .*; expected the earlier time in --lines-from$/m,
    ],
    [
      'a period that ends before it begins',
      ['log', 'a', '--from', '2026-11-22', '--to', '2026-11-20'],
      /^error: --from .* is later than --to .*; expected the earlier time in --from$/m,
    ],
    ['help for a command that is not there', ['help', 'vrify'], /^error: unknown command 'vrify'/],
    ['a cluster behind a pattern', ['grep', 'a', 'b'], /too many arguments[\s\S]*\(--cluster names clusters/],
    ['a report to nowhere', ['report'], /required option '--out <file>' not specified/],
  ])('%s is named, with what was expected', async (_, args, message) => {
    const { code, out, err } = await runCollector(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(err).toContain('--help shows what is accepted');
  });

  it.each(commands)('%s on a folder that is not there says so', async (command) => {
    const rest = { show: ['a'], diff: ['a'], history: ['a'], grep: ['a'], report: ['--out', '-'] }[command] ?? [];
    const { code, err } = await runCollector([command, ...rest, '--archive', '/no/such/folder']);
    expect(code).toBe(3);
    expect(err).toContain('Opening the archive /no/such/folder failed: the folder does not exist');
  });

  it('a bucket whose name no bucket has is told so', async () => {
    const { code, err } = await runCollector(['runs', '--archive', 's3://My_Bucket']);
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/expected a folder or s3:\/\/bucket, .* lower-case letters/),
    ]);
  });

  it('control characters of what was typed are written out', async () => {
    for (const args of [['show', 'a', '--resource', '\u001b[2J'], ['\u001b[2J'], ['runs', '--last', '\u001b[2J']])
      expect((await runCollector(args)).err).toMatch(/^error: .*\\u\{1b\}\[2J/);
  });
});
