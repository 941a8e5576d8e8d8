import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shardOf } from '../../../archive/format/shard';
import { refusedAddress } from '../../support/fault-service-refusal';
import { newFolder } from '../../support/new-folder';
import { ofFirstResources, runStart, writeStartConfig } from '../run-start';

type Started = Awaited<ReturnType<typeof runStart>>;

const four = ['one', 'two', 'three', 'four'];

describe('npm start', () => {
  let root: string;
  let startsWhileDown: Promise<readonly (() => void)[]>;

  // They wait for a service that does not answer. Meanwhile the other cases run.
  beforeAll(async () => {
    const ownRoot = newFolder();
    const refused = await refusedAddress();
    const config = await writeStartConfig(ownRoot, { clusters: four, service: { baseUrl: refused.url } });
    const start = async (name: string, more: string[]) => {
      const args = ['--config', config, '--folder', join(ownRoot, name), ...more];
      const started = await runStart(args, { COLLECTOR_API_KEY: 'the-key-of-nobody' });
      return () => expectLastLeftOut(started, args);
    };
    startsWhileDown = Promise.all([
      start("an archive's folder", []),
      start("a sharded archive's folder", ['--shards', '2']),
    ]).finally(() => refused.release());
  });

  let folder: string;

  beforeEach(async () => {
    root = newFolder();
    folder = join(root, 'archive');
  });

  const writeConfig = (members?: object) => writeStartConfig(root, members);

  describe('wrong usage ends with 2, says what is wrong and writes nothing', () => {
    const demo = { members: {} };
    const real = { members: { service: { baseUrl: 'https://clusters.test' } } };
    const withKey = { ...real, environment: { COLLECTOR_API_KEY: 'key' } };
    const faulty = { members: { service: { baseUrl: 'http://example.com' }, clusters: ['one', 'one'], shard: 1 } };
    const forDemo = /--fail is for the demo service/;
    const everyProblem = /service\.baseUrl[\s\S]*clusters\[1\][\s\S]*shard: received an unknown member/;
    const number = /expected a whole number from 1 to 500/;

    it.each<[string, string, RegExp, { readonly members: object; environment?: Record<string, string> }]>([
      ['an unknown option', '--clutsers one', /unknown option '--clutsers'[\s\S]*Did you mean --clusters/, demo],
      ['an argument', 'one', /too many arguments/, demo],
      ['an unknown fault', '--fail one=tired', /expected <uid>=<fault> with one of .*not-found/, demo],
      ['no shard', '--shards 0', number, demo],
      ['too many shards', '--shards 501', number, demo],
      ['no cluster', '--clusters ,', /expected at least one uid/, demo],
      ['a cluster of nobody', '--clusters one,three', /names three, which is not configured.*one, two/, demo],
      ['a failing cluster of nobody', '--fail three=not-found', /--fail names three/, demo],
      ['a --run that is not a time', '--run yesterday', /expected the time of one run, as `runs` prints it/, demo],
      ['a real service without its key', '', /clusters\.test needs its API key in .* COLLECTOR_API_KEY/, real],
      ['a fault of a real service', '--fail one=not-found', forDemo, withKey],
      ['several problems, all at once', '', everyProblem, faulty],
    ])('%s', async (_name, args, message, { members, environment }) => {
      const config = await writeConfig(members);
      const line = ['--config', config, '--folder', folder, ...args.split(' ').filter(Boolean)];
      const { code, out, err } = await runStart(line, environment);
      expect(err).toMatch(message);
      expect(code).toBe(2);
      expect(out).toBe('');
      expect(existsSync(folder)).toBe(false);
    });

    it('an archive in a folder that cannot be made, or in which another process works', async () => {
      const config = await writeConfig();
      // Linux has a folder in which nobody can make another.
      const unmade = existsSync('/proc/self') ? '/proc/x/archive' : join(root, 'my.json', 'archive');
      const refused = await runStart(['--config', config, '--folder', unmade]);
      expect(refused.err).toMatch(/Writing to the folder .*archive failed: (ENOENT|ENOTDIR)/);
      expect(refused.code).toBe(2);
      await mkdir(join(folder, '.metadata-incoming'), { recursive: true });
      await writeFile(join(folder, '.metadata-incoming', 'lock'), `${process.ppid}`);
      const second = await runStart(['--config', config, '--folder', folder]);
      expect(second.err).toContain(`The process ${process.ppid} works in the folder ${folder}: wait for its end`);
      expect(second.code).toBe(2);
      expect(await readdir(folder)).toEqual(['.metadata-incoming']);
    });

    it('an archive that is not a folder', async () => {
      const { code, err } = await runStart(['--config', await writeConfig(), '--folder', join(root, 'my.json')]);
      expect(err).toMatch(/Writing to the folder .*my\.json failed: ENOTDIR; name another with --folder/);
      expect(code).toBe(2);
    });
  });

  it('explains its exit codes and gives examples in --help', async () => {
    const { code, out } = await runStart(['--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/Exit codes: 0 .*, 1 .*, 2 /);
    expect(out).toMatch(/npm start -- --audit/);
  });

  it('fires the schedule, and says what was archived where', async () => {
    const config = await writeConfig();
    // What a start that was killed left there. No process has a number this large.
    const incoming = join(folder, '.metadata-incoming');
    await mkdir(incoming, { recursive: true });
    for (const name of ['lock', 'half-received']) await writeFile(join(incoming, name), '999999999');
    const { code, out } = await runStart(['--config', config, '--folder', folder]);
    expect(await readdir(incoming)).toEqual([]);
    expect(out).toMatch(/^The demo service at http:\/\/127\.0\.0\.1:\d+ stands for /);
    expect(out).toMatch(/^The schedule was fired: run /m);
    expect(out).toMatch(
      /^Run 20\S+: complete after 1 attempt, worked .*; 4 of 4 archived, 0 failed, 0 not attempted$/m,
    );
    expect(code).toBe(0);
    const [, records = ''] = /^Run records: (.*)\*$/m.exec(out) ?? [];
    const [run, ...outcomes] = (await readFile(`${records}attempt-1.jsonl`, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(run).toMatchObject({ trigger: 'schedule', status: 'complete' });
    expect(outcomes).toHaveLength(4);
    for (const { key } of outcomes) expect(existsSync(join(folder, key))).toBe(true);
  });

  it('tells of a dry run what the function says of it, and writes nothing', async () => {
    const config = await writeConfig();
    const args = ['--config', config, '--folder', folder, '--dry-run'];
    const { code, out } = await runStart(args);
    expect(out).toContain('nothing was written: 4 would be archived, 0 failed');
    for (const cluster of ['one', 'two'])
      for (const resource of ['log', 'manifest'])
        expect(out).toMatch(new RegExp(`│ ${cluster} +│ ${resource} +│ would-archive +│ +\\d\\S* \\S+ │`));
    // The demo service has one for each log.
    expect(out.match(/│ log .*│ [A-Z][a-z]+ +│$/gm)).toHaveLength(2);
    expect(out).toContain('deploying it locally. A dry run writes nothing\n');
    expect(code).toBe(0);
    expect(existsSync(folder)).toBe(false);
    await mkdir(folder);
    const failed = await runStart([...args, '--fail', 'two=not-found']);
    expect(failed.code).toBe(1);
    expect(failed.out).toContain('nothing was written: 2 would be archived, 2 failed');
    expect(failed.out).toMatch(/│ two +│ log +│ failed .*404 Not Found/);
    expect(failed.out).toMatch(/│ one +│ manifest +│ would-archive /);
    expect(failed.out).toMatch(/^2 failed, one reason: 404 Not Found$/m);
    expect(failed.out).not.toContain('RunIncompleteError');
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files).toEqual([]);
  });

  it('ends with 1 if something was not archived; the table says what and why, and a command completes it', async () => {
    const config = await writeConfig();
    const args = ['--config', config, '--folder', folder, '--clusters', 'two', '--fail', 'two=other-cluster'];
    const { code, out } = await runStart(args);
    expect(out).toMatch(/invoked by hand/);
    expect(out).toMatch(/│ two +│ log +│ failed .*"not-two"/);
    expect(out).toMatch(/│ two +│ manifest +│ archived /);
    expect(out).not.toMatch(/│ one/);
    expect(out).toMatch(
      /: incomplete after 1 attempt, worked .*; 1 of 2 archived, 1 failed, 0 not attempted; 1 with a doubt$/m,
    );
    expect(out).toMatch(/^1 failed, one reason: 200 OK, but /m);
    const [, command = ''] = /^Complete the run with\n {2}npm start -- (.*)$/m.exec(out) ?? [];
    expect(command).toMatch(/^--config \S+ --folder \S+ --clusters two --run 20\S+Z$/);
    expect(out).toMatch(/gunzip -c .*manifests\/cluster=two/);
    expect(code).toBe(1);
    expect((await readdir(folder)).filter((name) => !name.startsWith('.')).sort()).toEqual([
      'configurations',
      'manifests',
      'metadata',
      'runs',
    ]);
    const completed = await runStart(command.split(' '));
    const run = (command.split(' --run ')[1] ?? '').replace('.000', '');
    expect(completed.out).toContain(`The function was invoked by hand: run ${run}`);
    expect(completed.out).toMatch(/: complete after 2 attempts, worked .*; 2 of 2 archived, 0 failed/);
    expect(completed.code).toBe(0);
  });

  it('works on shards with --shards, and tells which of them failed', async () => {
    const config = await writeConfig({ clusters: ofFirstResources(...four) });
    const args = ['--config', config, '--folder', folder, '--shards', '2'];
    const whole = await runStart(args);
    expect(whole.out).toMatch(/: complete after 1 attempt, worked .*; 8 of 8 archived/);
    expect(whole.code).toBe(0);
    const part = await runStart([...args, '--fail', 'three=not-found']);
    expect(part.out).toMatch(/: incomplete after 3 attempts, worked .*; 6 of 8 archived, 2 failed, 0 not attempted$/m);
    expect(part.out).toContain(`The shards [${shardOf('three', 2)}] of 2 did not succeed`);
    expect(part.code).toBe(1);
  });

  it('tells of a doubt, which is not a failure', async () => {
    const config = await writeConfig({ clusters: ofFirstResources('one') });
    const start = (...args: string[]) =>
      runStart(['--config', config, '--folder', folder, '--fail', 'one=latin-1', ...args]);
    const { code, out } = await start();
    expect(out).toMatch(/│ manifest +│ archived .*doubt: it has bytes that are not UTF-8/);
    expect(out).toMatch(/: complete .*; 2 of 2 archived, 0 failed, 0 not attempted; 1 with a doubt/);
    expect(code).toBe(0);
    const dry = await start('--dry-run');
    expect(dry.out).toMatch(/│ manifest +│ would-archive .*doubt: it has bytes that are not UTF-8/);
    expect(dry.out).toMatch(/nothing was written: 2 would be archived, 0 failed, 0 not attempted; 1 with a doubt/);
  });

  it('leaves out the last attempt, of each shard too, while the service is down, and tells how to complete the run', async () => {
    for (const expectIt of await startsWhileDown) expectIt();
  });
});

function expectLastLeftOut({ code, out }: Started, args: readonly string[]): void {
  expect(code).toBe(1);
  expect(out).toContain('Stopped early: the service looks down: no usable answer for ');
  expect(out).toContain('incomplete after 2 attempts');
  const quoted = args.map((arg) => (arg.includes("'") ? `'${arg.replace("'", "'\\''")}'` : arg)).join(' ');
  expect(out).toMatch(
    /Left out: the last attempt, which in Lambda asks until the service answers, for up to 14 minutes/,
  );
  expect(out).toContain(`  npm start -- ${quoted} --run 20`);
}
