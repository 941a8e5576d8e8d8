import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ArchiveFixture, type AttemptFixture, hour, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const at11 = '2026-11-20T11:00:00Z';
const hostile = '\u001b]0;owned\u0007 \u202e';
const logs: Record<string, string> = {
  'prod-1': 'starting\nOOMKilled pod "a/b"\nrestarted\nall is well\nstill well\noomkilled again',
  'prod-2': 'starting\nall is well\n',
  'test-1': `before\nOOMKilled ${hostile}\n`,
};

describe('grep', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    const clusters = ['prod-1', 'prod-2', 'test-1', 'down'];
    for (const at of [10, 11]) {
      const answer: AttemptFixture['answer'] = (cluster, resource) => {
        if (cluster === 'down') return { failed: 'no answer' };
        if (resource === 'manifest') return { content: `image: ${cluster}:latest\n` };
        return { content: logRecord(cluster, at === 10 ? `${logs[cluster]}` : `later\n${logs[cluster]}`) };
      };
      await archive.attempt({ run: hour(at), clusters, answer });
    }
  });

  const grep = (...args: string[]) => runCollector(['grep', '--archive', archive.folder, ...args]);

  it('finds the lines of all logs of the newest run, and says what it searched', async () => {
    expect(await grep('OOMKilled pod')).toEqual({
      code: 0,
      out: `prod-1 ${at11}: OOMKilled pod "a/b"\n`,
      err: `1 line in 1 of 3 logs of the run ${at11}; 1 log not archived, so not searched.\n`,
    });
  });

  it('of one cluster counts the runs that did not archive it, as of a pattern', async () => {
    const half = await ArchiveFixture.create();
    for (const at of [8, 9, 10, 11]) {
      const answer: AttemptFixture['answer'] = (cluster) =>
        cluster === 'half' && at > 9 ? { failed: 'no answer' } : { content: logRecord(cluster, `at ${at}\n`) };
      await half.attempt({ run: hour(at), clusters: ['half', 'other'], answer });
    }
    const args = ['grep', 'at', '--from', '2026-11-20T08:30', '--archive', half.folder];
    const runs =
      'of 3 runs from 2026-11-20T09:00:00Z up to 2026-11-20T11:00:00Z; 2 logs not archived, so not searched.\n';
    for (const cluster of ['half', 'hal?'])
      for (const how of [[], ['--snapshots']]) {
        const { err } = await runCollector([...args, '--cluster', cluster, ...how]);
        expect(err).toBe(`1 line in 1 of 1 log ${runs}`);
      }
  });

  it('finds a line of several runs once, under the first that has it, and what went on with the line it goes on', async () => {
    const events = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => `event ${from + at} of 20\n`).join('');
    const texts = [events(0, 8), events(3, 12), `${events(6, 15)}event 15`, events(8, 20)];
    const joined = await ArchiveFixture.ofLogs(texts, ['a', 'b']);
    const search = (...args: string[]) => runCollector(['grep', ...args, '--archive', joined.folder, '--json']);
    const found = async (...args: string[]) =>
      JSON.parse((await search(...args)).out).map(
        ({ cluster, run, line, text }: Record<string, string>) => `${cluster} ${run?.slice(11, 13)} ${line} ${text}`,
      );
    const lines = ['a 01 6 event 8 of 20', 'a 02 7 event 12 of 20', 'a 03 8 event 15 of 20', 'a 03 11 event 18 of 20'];
    const pattern = 'event (8|12|15|18) of';
    const from = ['--from', '2026-11-20T01:00'];
    expect(await found(pattern, '--cluster', 'a', ...from)).toEqual(lines);
    expect(await found(pattern, ...from)).toEqual([...lines, ...lines.map((line) => line.replace('a', 'b'))]);
    expect(await found('event 7 of', '--cluster', 'a', ...from)).toEqual([]);
    expect(await found('event 8 of', '--cluster', 'a', '--snapshots', ...from)).toHaveLength(3);
  });

  it('finds what is new above, in a log that is newest first, under the first run that has it, with its number', async () => {
    const newestFirst = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => `event ${to - 1 - at} of 20`).join('\n');
    const newest = await ArchiveFixture.ofLogs([
      newestFirst(0, 8),
      `${newestFirst(2, 11)}\n`,
      // What is new at its bottom is older than what was there.
      `${newestFirst(1, 14)}\nevent 0 of 20\nevent -1 of 20`,
    ]);
    const found = async (...args: string[]) => {
      const { out } = await runCollector(['grep', ...args, '--last', '3', '--archive', newest.folder, '--json']);
      return JSON.parse(out).map(
        ({ run, line, text }: Record<string, string>) => `${run?.slice(11, 13)} ${line} ${text}`,
      );
    };
    expect(await found('event (0|-1|3|8|10|11|13) of')).toEqual([
      '00 5 event 3 of 20',
      '00 8 event 0 of 20',
      '01 1 event 10 of 20',
      '01 3 event 8 of 20',
      '02 1 event 13 of 20',
      '02 3 event 11 of 20',
      '02 15 event -1 of 20',
    ]);
    // No line around another one is from the part that is left out.
    expect(await found('event (11|-1) of', '-C', '1')).toEqual([
      '02 2 event 12 of 20',
      '02 3 event 11 of 20',
      '02 15 event -1 of 20',
    ]);
  });

  it('takes a regular expression, or with -F a text, with -i in any case', async () => {
    const lines = async (...args: string[]) => (await grep('--cluster', 'prod-1', ...args)).out.split('\n').length - 1;
    expect(await lines('^OOM.*pod "[a-z]/b"$')).toBe(1);
    expect(await lines('(?i)^oomkilled')).toBe(2);
    expect(await lines('-i', 'OOMKILLED')).toBe(2);
    expect(await lines('-F', '"a/b"')).toBe(1);
    expect(await lines('-F', '.')).toBe(0);
    expect(await lines('-F', '-i', 'ALL IS')).toBe(1);
  });

  it('-C prints the lines around, and separates what is apart', async () => {
    const { out } = await grep('-C', '1', '-i', 'oomkilled', '--last', '1');
    const [one, two] = [`prod-1 ${at11}`, `test-1 ${at11}`];
    expect(out).toBe(
      [
        `${one}- starting`,
        `${one}: OOMKilled pod "a/b"`,
        `${one}- restarted`,
        '--',
        `${one}- still well`,
        `${one}: oomkilled again`,
        '--',
        `${two}- before`,
        `${two}: OOMKilled \\u{1b}]0;owned\\u{7} \\u{202e}`,
        '',
      ].join('\n'),
    );
  });

  it('--json has an element per line, or with -c per log', async () => {
    const { out } = await grep('--json', 'pod');
    expect(JSON.parse(out)).toEqual([
      { cluster: 'prod-1', resource: 'log', run: '2026-11-20T11:00:00.000Z', line: 3, text: 'OOMKilled pod "a/b"' },
    ]);
    const around = JSON.parse((await grep('--json', '-C', '1', 'pod')).out);
    expect(around.map(({ line, match }: { line: number; match: boolean }) => [line, match])).toEqual([
      [2, false],
      [3, true],
      [4, false],
    ]);
    const counts = JSON.parse((await grep('--json', '-c', 'pod')).out);
    const key = keyOf('log', 'prod-1', hour(11));
    expect(counts).toEqual([{ cluster: 'prod-1', resource: 'log', run: '2026-11-20T11:00:00.000Z', key, matches: 1 }]);
    expect((await grep('--json', 'nowhere')).out).toBe('[]\n');
  });

  it('writes out control characters, unless they are asked for', async () => {
    const raw = await grep('--no-escape', '--cluster', 'test-1', 'OOM');
    expect(raw.out).toBe(`test-1 ${at11}: OOMKilled ${hostile}\n`);
    const json = (await grep('--json', '--cluster', 'test-1', 'OOM')).out;
    for (const character of ['\u001b', '\u202e']) expect(json).not.toContain(character);
    expect(JSON.parse(json)[0].text).toBe(`OOMKilled ${hostile}`);
  });

  it('a line that nobody has is exit code 1', async () => {
    expect(await grep('no such line')).toMatchObject({ code: 1, out: '' });
  });

  it.each([
    ['a cluster that is not there', ['a', '--cluster', 'prod-9'], /of cluster prod-9 failed: none was archived/],
    ['clusters that are not there', ['a', '--cluster', 'x*'], /none was archived by the run 2026-11-20T11:00:00Z/],
    [
      'a period without runs',
      ['a', '--from', '2027-01-01'],
      /failed: no run lies in this period; the archive has those of /,
    ],
    ['a run that is not there', ['a', '--run', '2026-11-20T10:30'], /the nearest: 2026-11-20T10:00:00Z/],
  ])('%s is exit code 3: nothing was searched', async (_, args, message) => {
    const { code, out, err } = await grep(...args);
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(message);
  });

  it('an object that cannot be searched is named, the others are searched, and the exit code is 3', async () => {
    const other = await ArchiveFixture.ofLogs(['found\n'], ['damaged', 'good', 'missing']);
    const keyAt = (cluster: string) => keyOf('log', cluster, hour(0));
    const metadata = (await other.store.head(keyAt('damaged')))?.userMetadata ?? {};
    await other.put(keyAt('damaged'), Buffer.from('not gzip'), metadata);
    await rm(join(other.folder, keyAt('missing')));
    const { code, out, err } = await runCollector(['grep', 'found', '--archive', other.folder]);
    expect(code).toBe(3);
    expect(out).toBe('good 2026-11-20T00:00:00Z: found\n');
    expect(err).toMatch(new RegExp(`^damaged: not searched: it cannot be decompressed.*\n  ${keyAt('damaged')}$`, 'm'));
    expect(err).toContain(`missing: its run archived it, and it is not there\n  ${keyAt('missing')}\n`);
  });

  it.each([['--snapshots'], []])('a log that is gone is named among those of several runs (%s)', async (...how) => {
    const gone = await ArchiveFixture.ofLogs(['found\n', 'found\nmore\n', 'found\nmore\nand more\n']);
    const key = keyOf('log', 'a', hour(1));
    await rm(join(gone.folder, key));
    const { code, err } = await runCollector(['grep', 'more', '--last', '3', ...how, '--archive', gone.folder]);
    expect(code).toBe(3);
    expect(err).toContain(`missing: its run archived it, and it is not there\n  ${key}\n`);
  });

  it.each([['--snapshots'], []])('a text in which nothing matched is not read again (%s)', async (...how) => {
    const same = await ArchiveFixture.ofLogs(Array.from({ length: 23 }, () => 'all is well\n'));
    for (const at of [20, 21, 22]) await same.damage(keyOf('log', 'a', hour(at)));
    const grep = (pattern: string) => runCollector(['grep', pattern, '--last', '50', ...how, '--archive', same.folder]);
    expect(await grep('ill')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^0 lines in 0 of 23 logs of 23 runs/),
    });
    const named = expect.stringMatching(/^damaged: not searched: .*\n {2}logs\/cluster=a/m);
    expect(await grep('well')).toMatchObject({ code: 3, err: named });
  });

  it.each([['--snapshots'], []])('a text that comes again behind damaged logs is read (%s)', async (...how) => {
    const again = await ArchiveFixture.ofLogs(Array.from({ length: 20 }, () => 'found\n'));
    for (let at = 0; at < 19; at += 1) await again.damage(keyOf('log', 'a', hour(at)));
    const { code, out } = await runCollector(['grep', 'found', '--last', '50', ...how, '--archive', again.folder]);
    expect([code, out]).toEqual([3, 'a 2026-11-20T19:00:00Z: found\n']);
  });

  it('output of many logs at once comes in order, all of it', async () => {
    const clusters = Array.from({ length: 40 }, (_, at) => `cluster-${String(at).padStart(2, '0')}`);
    const text = Array.from({ length: 3000 }, (_, at) => `line ${at}\n`).join('');
    const other = await ArchiveFixture.ofLogs([text], clusters);
    const { out } = await runCollector(['grep', 'line', '--archive', other.folder]);
    expect(out).toBe(
      clusters
        .map((cluster) => text.replace(/^/gm, `${cluster} 2026-11-20T00:00:00Z: `).replace(/[^\n]*$/, ''))
        .join(''),
    );
  });
});
