import { ArchiveFixture, type AttemptFixture, hour, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

/** A run that a person started: its time has milliseconds. */
const manual = new Date('2026-11-20T09:30:15.457Z');
const answer =
  (version: string): AttemptFixture['answer'] =>
  (cluster, resource) => ({ content: resource === 'log' ? logRecord(cluster, version) : `version: ${version}\n` });

let archive: ArchiveFixture;

beforeAll(async () => {
  archive = await ArchiveFixture.create();
  for (const run of [hour(8), hour(9), manual, hour(10)])
    await archive.attempt({ run, clusters: ['alpha'], answer: answer(run.toISOString()) });
  // Completed three hours late: younger than the content of the run after it.
  await archive.attempt({
    run: hour(7),
    startedAt: new Date('2026-11-20T10:30:00Z'),
    clusters: ['alpha'],
    answer: answer('late'),
  });
  await archive.attempt({ run: hour(11), clusters: ['alpha'], answer: () => ({ failed: 'no answer' }) });
});

const collector = (...args: string[]) => runCollector([...args, '--archive', archive.folder]);

const json = async (...args: string[]) => JSON.parse((await collector(...args, '--json')).out);

/** The runs that a command is about, by its JSON. */
const runsOf = {
  runs: async (...args: string[]) => [await json('runs', ...args)].flat(),
  list: (...args: string[]) => json('list', '--resource', 'manifest', ...args),
  report: async (...args: string[]) => {
    const period = args[0] === '--run' ? ['--from', args[1] ?? '', '--to', args[1] ?? ''] : args;
    const { out } = await collector('report', '--out', '-', ...period);
    return [...out.matchAll(/title="Run (\S+): /g)].map(([, run = '']) => ({ run: new Date(run).toISOString() }));
  },
  show: async (...args: string[]) => [await json('show', 'alpha', ...args)],
  diff: async (...args: string[]) => [(await json('diff', 'alpha', ...args)).to],
};
type Command = keyof typeof runsOf;
const commands = Object.keys(runsOf) as Command[];
const times = async (command: Command, ...args: string[]): Promise<string[]> =>
  (await runsOf[command](...args)).map(({ run }: { run: string }) => run);

describe.each(commands)('%s: a time names runs', (command) => {
  it('every time that `runs` prints can be pasted into --run', async () => {
    const { out } = await collector('runs', '--to', '2026-11-20T10:00');
    const printed = [...out.matchAll(/│ (2026-\S+) /g)].map(([, time = '']) => time);
    expect(printed).toHaveLength(5);
    // Nothing is before the oldest that diff could compare it with.
    for (const time of command.startsWith('diff') ? printed.slice(1) : printed)
      expect(await times(command, '--run', time)).toEqual([new Date(time).toISOString()]);
  });
});

it('show --at means the newest run at or before the time', async () => {
  const keyAt = async (time: string) => (await json('show', 'alpha', '--at', time)).key;
  expect(await keyAt('2026-11-20T09:30')).toBe(keyOf('manifest', 'alpha', hour(9)));
  expect(await keyAt('2026-11-20T09:31')).toBe(keyOf('manifest', 'alpha', manual));
  expect(await keyAt('2h ago')).toBe(keyOf('manifest', 'alpha', hour(10)));
});

describe.each(['runs', 'list', 'report'] as const)('%s: a period', (command) => {
  it('both ends belong to it, and a late run counts by its time', async () => {
    const period = ['--from', '2026-11-20T07:00', '--to', '2026-11-20T09:00'];
    expect(await times(command, ...period)).toEqual([7, 8, 9].map((at) => hour(at).toISOString()));
  });

  it('--last takes the newest runs of the period', async () => {
    const runs = await times(command, '--last', '2', '--to', '2026-11-20T10:00');
    expect(runs).toEqual([manual.toISOString(), hour(10).toISOString()]);
  });
});

describe('a period in which no run lies', () => {
  const said = 'no run lies in this period; the archive has those of 2026-11-20T07:00:00Z to 2026-11-20T11:00:00Z';

  it.each([
    ['list', 'Listing'],
    ['list --failed', 'Listing'],
    ['list --json', 'Listing'],
    ['list --stale 24h', 'Finding stale clusters'],
    ['list --by day', 'Counting'],
    ['history --all', 'Finding changes'],
    ['grep version', 'Finding the log of cluster *'],
    ['log --all --seams', 'Finding the log of cluster *'],
    ['report --out -', 'Writing the report'],
  ])('ends %s with 3: nothing was looked at', async (line, doing) => {
    const { code, err } = await collector(...line.split(' '), '--to', '2026-10-31');
    expect([code, err]).toEqual([3, `error: ${doing} failed: ${said}\n`]);
  });

  it('is said by runs, which shows what there is', async () => {
    const { code, err } = await collector('runs', '--to', '2026-10-31');
    // 1, as without a period: the newest run archived nothing.
    expect([code, err]).toEqual([1, `Nothing to show: ${said}.\n`]);
  });

  it('is said by log, which reads the next run: its log may have lines of the period', async () => {
    const { err } = await collector('log', 'alpha', '--from', '2026-11-20T09:40', '--to', '2026-11-20T09:50');
    expect(err).toMatch(/^No run lies in this period\. This is the log of the next one, 2026-11-20T10:00:00Z, which/m);
    const both = await collector('log', 'alpha', '--from', '2026-11-20T09:00', '--to', '2026-11-20T09:50');
    expect(both.err).not.toContain('No run lies');
  });
});

it.each(['show', 'log', 'diff', 'history'])('%s says of a pattern that it takes one uid', async (command) => {
  const { code, err } = await collector(command, 'alph*');
  expect(err).toMatch(/^error: .* failed: the archive has none; this takes one uid, and "list --cluster" patterns$/m);
  expect(code).toBe(3);
});

describe('diff with a period', () => {
  it.each([
    ['2026-11-20T08:30', '2026-11-20T09:45', hour(8), manual],
    ['2026-11-20T07:00', '2026-11-20T10:00', hour(7), hour(10)],
    // Fetched later than all others, and yet the run of 07:00.
    ['2026-11-20T07:59', '2026-11-20T08:00', hour(7), hour(8)],
  ])('from %s to %s compares the runs at or before these times', async (from, to, before, after) => {
    const period = ['--from', from, '--to', to];
    const sides = { from: before.toISOString(), to: after.toISOString() };
    expect(await json('diff', 'alpha', ...period)).toMatchObject({ from: { run: sides.from }, to: { run: sides.to } });
  });

  it('with one run has nothing to compare', async () => {
    const period = ['--from', '2026-11-20T10:00', '--to', '2026-11-20T10:30'];
    const said = {
      code: 3,
      out: '',
      err: expect.stringContaining('only the run 2026-11-20T10:00:00Z archived it in this period'),
    };
    expect(await collector('diff', 'alpha', ...period)).toMatchObject(said);
  });
});

describe('show and diff say on standard error', () => {
  it('which object they chose', async () => {
    const { out, err } = await collector('show', 'alpha', '--run', '2026-11-20T10:00');
    expect(out).toBe('version: 2026-11-20T10:00:00.000Z\n');
    expect(err).toBe('manifest of alpha, run 2026-11-20T10:00:00Z, fetched 2026-11-20T10:00:01.500Z\n');
  });

  it('that it was fetched late', async () => {
    const { err } = await collector('show', 'alpha', '--run', '2026-11-20T07:00');
    expect(err).toContain('fetched 2026-11-20T10:30:01.500Z, late: 3 h 30 min after the time of the run');
    const diff = await collector('diff', 'alpha', '--run', '2026-11-20T08:00');
    expect(diff.err).toMatch(/^from: .*run 2026-11-20T07:00:00Z.*, late: 3 h 30 min/);
    expect(diff.err).toMatch(/^to: {3}manifest of alpha, run 2026-11-20T08:00:00Z, fetched 2026-11-20T08:00:01.500Z$/m);
  });

  it('that a newer run has none, and why the run that was asked for has none', async () => {
    const newer = 'The newer run 2026-11-20T11:00:00Z has none: runs 2026-11-20T11:00:00Z says why.\n';
    expect((await collector('show', 'alpha')).err).toContain(newer);
    expect((await collector('diff', 'alpha')).err).toContain(newer);
    expect((await collector('show', 'alpha', '--at', '2026-11-20T10:59')).err).not.toContain('newer run');
    const asked = await collector('show', 'alpha', '--run', '2026-11-20T11:00');
    expect(asked.err).toContain('the run 2026-11-20T11:00:00Z did not archive it (failed): no answer');
  });
});
