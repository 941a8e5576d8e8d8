import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { applyPatch, parsePatch } from 'diff';
import { ArchiveFixture, type AttemptFixture, hour, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const manifest = (replicas: number) => `kind: Deployment\nspec:\n  replicas: ${replicas}\n  paused: false\n`;
const replicasAt: Record<number, number> = { 8: 1, 9: 1, 10: 2, 11: 2 };

describe('diff', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    for (const at of [8, 9, 10, 11]) {
      const answer: AttemptFixture['answer'] = (cluster, resource) => {
        if (cluster === 'down' && at > 9) return { failed: 'no answer' };
        if (resource === 'log') return { content: logRecord(cluster, `at ${at}\n`) };
        return { content: cluster === 'alpha' ? manifest(replicasAt[at] ?? 0) : 'kind: Namespace\n' };
      };
      const clusters = ['alpha', 'beta', 'down', ...(at > 9 ? ['new'] : ['gone'])];
      await archive.attempt({ run: hour(at), clusters, answer });
    }
  });

  const diff = (...args: string[]) => runCollector(['diff', '--archive', archive.folder, ...args]);

  it('without times the two newest are compared; standard error says that they do not differ', async () => {
    const { code, out, err } = await diff('alpha');
    expect([code, out]).toEqual([0, '']);
    expect(err).toMatch(/run 2026-11-20T10:00:00Z.*\n.*run 2026-11-20T11:00:00Z.*\nNo difference\.\n$/);
  });

  it('says of the first run that archived a cluster that there is nothing to compare with, and what makes a second', async () => {
    const first = await diff('beta', '--run', '2026-11-20T08:00');
    expect(first.err).toContain(
      'the run 2026-11-20T08:00:00Z is the first that archived it, so there is nothing before',
    );
    const other = await ArchiveFixture.create();
    await other.attempt({ run: hour(12), clusters: ['single'], answer: () => ({ content: manifest(1) }) });
    const only = await runCollector(['diff', '--archive', other.folder, 'single']);
    expect([only.code, only.err]).toEqual([
      3,
      'error: Finding the manifest of cluster single failed: only one run archived it, so there is nothing to compare yet: another npm start makes a second\n',
    ]);
  });

  it('says which runs it did not look at to find the older object', async () => {
    const other = await ArchiveFixture.create();
    for (let at = 0; at < 104; at += 1) {
      const clusters = at === 0 || at === 103 ? ['rare'] : ['other'];
      await other.attempt({ run: hour(at), clusters, answer: () => ({ content: manifest(at) }) });
    }
    for (const args of [[], ['--run', hour(103).toISOString()]]) {
      const { code, err } = await runCollector(['diff', 'rare', '--archive', other.folder, ...args]);
      expect(code).toBe(1);
      expect(err.match(/^Not looked at.*$/gm)).toEqual([
        'Not looked at: the records of 2 runs from 2026-11-20T01:00:00Z up to 2026-11-20T02:00:00Z; list --cluster reads them.',
      ]);
    }
  });

  it('a change is a unified diff that patch understands, and the exit code says so', async () => {
    const { code, out } = await diff('alpha', '--from', '2026-11-20T08:30', '--to', '2026-11-20T10:30');
    expect(code).toBe(1);
    expect(out).toContain('--- alpha/manifest\t2026-11-20T08:00:00Z\n+++ alpha/manifest\t2026-11-20T10:00:00Z\n');
    expect(out).toContain('@@ -1,4 +1,4 @@');
    const [patch] = parsePatch(out);
    expect(patch && applyPatch(manifest(1), patch)).toBe(manifest(2));
  });

  it("a log's texts are compared, not their records", async () => {
    const { code, out } = await diff('alpha', '--resource', 'log');
    expect(code).toBe(1);
    expect(out.split('\n').slice(2)).toEqual(['@@ -1,1 +1,1 @@', '-at 10', '+at 11', '']);
  });

  it('--json has both sides and the hunks', async () => {
    const { code, out } = await diff('alpha', '--from', '2026-11-20T09:30', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      cluster: 'alpha',
      resource: 'manifest',
      changed: true,
      from: { fetchedAt: '2026-11-20T09:00:01.500Z' },
      to: { fetchedAt: '2026-11-20T11:00:01.500Z' },
      hunks: [{ lines: expect.arrayContaining(['-  replicas: 1', '+  replicas: 2']) }],
    });
  });

  it('control and bidirectional characters are written out, in a pipe too, unless asked for as they are', async () => {
    const hostile = await ArchiveFixture.create();
    for (const at of [8, 9]) {
      const answer = () => ({ content: `\u001b[2J${at}\tx\u202e\n` });
      await hostile.attempt({ run: hour(at), clusters: ['c'], answer });
    }
    const args = ['diff', 'c', '--archive', hostile.folder];
    const { out } = await runCollector(args, { isTerminal: true });
    expect(out).toContain('\u001b[32m+\\u{1b}[2J9\tx\\u{202e}\u001b[39m');
    expect((await runCollector(args)).out).toContain('+\\u{1b}[2J9\tx\\u{202e}\n');
    expect((await runCollector([...args, '--no-escape'])).out).toContain('+\u001b[2J9\tx\u202e\n');
    const json = (await runCollector([...args, '--json'])).out;
    for (const raw of ['\u001b', '\u202e']) expect(json).not.toContain(raw);
    expect(JSON.parse(json).hunks[0].lines).toContain('+\u001b[2J9\tx\u202e');
  });

  it('a hash that the record lacks is that of the object, also in the history of the fleet', async () => {
    const other = await ArchiveFixture.create();
    for (const at of [8, 9]) {
      const answer: AttemptFixture['answer'] = () => ({ content: `at ${at}\n` });
      await other.attempt({ run: hour(at), clusters: ['c'], answer });
      await other.attempt({ run: hour(at), clusters: ['c'], answer: () => ({ alreadyArchived: 'without hash' }) });
    }
    const { code, err } = await runCollector(['diff', 'c', '--archive', other.folder]);
    const keys = [8, 9].map((at) => `  ${keyOf('manifest', 'c', hour(at))}\n`);
    expect([code, err]).toEqual([1, expect.stringContaining(`note: no run record has its hash\n${keys.join('')}`)]);
    const history = await runCollector(['history', '--all', '--archive', other.folder]);
    expect(history.out).toBe('2026-11-20T09:00:00Z changed: 1 cluster: c\n2026-11-20T08:00:00Z first: 1 cluster: c\n');
  });

  it('above a thousand changed lines it says how to compare them by hand', async () => {
    const long = await ArchiveFixture.create();
    const text = (from: number, length: number) => Array.from({ length }, (_, at) => `${from + at}\n`).join('');
    for (const at of [8, 9])
      await long.attempt({
        run: hour(at),
        clusters: ['c', 'shorter'],
        answer: (cluster) => ({ content: text(1000 * at, cluster === 'c' ? 501 : 500) }),
      });
    const { code, out, err } = await runCollector(['diff', 'c', '--archive', long.folder]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('They are too different to be shown line by line: 501 lines and 501 lines.');
    const shorter = await runCollector(['diff', 'shorter', '--archive', long.folder]);
    expect(shorter.out).toContain('@@ -1,500 +1,500 @@');
    const show = (at: string) => `show c --resource manifest --run 2026-11-20T${at}:00:00Z --archive ${long.folder}`;
    expect(err).toContain(
      `  npm run --silent collector -- ${show('08')} > before.txt\n` +
        `  npm run --silent collector -- ${show('09')} > after.txt\n  diff before.txt after.txt\n`,
    );
  });

  it('says no "No difference" of a manifest that was replaced with its metadata kept', async () => {
    const forged = await ArchiveFixture.create();
    for (const at of [8, 9])
      await forged.attempt({ run: hour(at), clusters: ['c'], answer: () => ({ content: 'a\n' }) });
    const key = keyOf('manifest', 'c', hour(9));
    const { userMetadata = {} } = (await forged.store.head(key)) ?? {};
    await forged.put(key, gzipSync('b\n'), userMetadata);
    const { code, err } = await runCollector(['diff', 'c', '--archive', forged.folder]);
    expect([code, err]).toEqual([
      3,
      expect.stringContaining('its content does not have the SHA-256 its metadata says'),
    ]);
    expect(err).not.toContain('No difference');
  });

  it('no cluster is wrong usage', async () => {
    expect(await diff()).toMatchObject({
      code: 2,
      err: expect.stringContaining("missing required argument 'cluster'"),
    });
  });

  it.each([
    ['that moved past another one', 'A\nn1\n', 'n2\nA\n'],
    ['at the end, with the line end before it', 'A\nn1', 'A'],
    ['at the end, which has no line end', 'A\nn1', 'A\n'],
    ['in more places than can be compared', 'n1\nA\n'.repeat(1200), 'A\nn2\n'.repeat(1200)],
  ])('--ignore shows nothing of a line %s: no difference, no hunk', async (_, before, after) => {
    const noisy = await ArchiveFixture.create();
    for (const [at, content] of [before, after].entries())
      await noisy.attempt({ run: hour(at), clusters: ['a'], answer: () => ({ content }) });
    const run = (...args: string[]) =>
      runCollector(['diff', 'a', '--archive', noisy.folder, '--ignore', '^n', ...args]);
    const { code, out, err } = await run();
    expect([code, out, err.split('\n').slice(2)]).toEqual([
      0,
      '',
      ['No difference but in lines that --ignore matches.', ''],
    ]);
    const json = await run('--json');
    expect([json.code, JSON.parse(json.out)]).toEqual([0, expect.objectContaining({ changed: false, hunks: [] })]);
  });

  it('--ignore leaves out lines that match, and says how many', async () => {
    const noisy = await ArchiveFixture.create();
    const manifest = (version: number, replicas: number) =>
      `kind: A\r\nmetadata:\r\n  resourceVersion: "${version}"\r\n${'  a: b\r\n'.repeat(9)}spec:\r\n  replicas: ${replicas}\r\n`;
    for (const [at, content] of [manifest(1, 3), manifest(2, 3), manifest(3, 4)].entries())
      await noisy.attempt({ run: hour(at), clusters: ['a'], answer: () => ({ content }) });
    const run = (...args: string[]) => runCollector([...args, '--archive', noisy.folder]);
    const ignore = ['--ignore', 'resourceVersion: ".*"$'];
    const only = await run('diff', 'a', '--from', '2026-11-20T00:00', '--to', '2026-11-20T01:00', ...ignore);
    expect([only.code, only.out]).toEqual([0, '']);
    expect(only.err).toContain('No difference but in lines that --ignore matches.\n');
    const both = await run('diff', 'a', ...ignore);
    expect([both.code, both.out.match(/^[-+] .*$/gm)]).toEqual([1, ['-  replicas: 3\\r', '+  replicas: 4\\r']]);
    expect(both.err).toContain('1 line that --ignore matches left out.\n');
    expect(JSON.parse((await run('diff', 'a', '--json', ...ignore)).out)).toMatchObject({ changed: true, ignored: 1 });
    const changes = async (...args: string[]) => {
      const { out, err } = await run('history', ...args);
      return [out.match(/^\S+ (changed|first)/gm), err];
    };
    const time = (at: number) => hour(at).toISOString().replace('.000', '');
    const found = [
      [`${time(2)} changed`, `${time(0)} first`],
      expect.stringContaining('1 change only in lines that --ignore'),
    ];
    expect(await changes('a', ...ignore)).toEqual(found);
    expect(await changes('--all', ...ignore)).toEqual(found);
    // What cannot be compared stays a change.
    await rm(join(noisy.folder, keyOf('manifest', 'a', hour(1))));
    const [gone, err] = await changes('a', ...ignore);
    expect(gone).toEqual([`${time(2)} changed`, `${time(1)} changed`, `${time(0)} first`]);
    expect(err).toMatch(/^missing: /m);
  });
});
