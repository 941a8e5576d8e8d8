import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunRecord } from '../../../archive/format/run-record';
import { ArchiveFixture, hour } from '../archive-fixture';
import { runCollector } from '../run-collector';
import { archiveTwoRuns, keyAt, longAfter, runVerify } from '../run-verify';

let archive: ArchiveFixture;
let record: RunRecord;

beforeEach(async () => {
  ({ archive, record } = await archiveTwoRuns());
});

describe('verify', () => {
  const verify = (...args: string[]) => runVerify(archive.folder, args);
  const pathOf = (key: string) => join(archive.folder, key);

  it('a sound archive is sound, and everything in it was read', async () => {
    const { code, result } = await verify();
    expect(code).toBe(0);
    expect(result).toMatchObject({ ok: true, runs: 2, records: 2, sound: 8, expired: 0, findings: [] });
    expect(result.bytes).toBe(2 * record.outcomes.reduce((sum, { bytes = 0 }) => sum + bytes, 0));
  });

  it('counts what was archived with a doubt, which is not damage', async () => {
    const doubt = 'it is JSON that ends too early';
    await archive.attempt({ run: hour(10), clusters: ['alpha'], answer: () => ({ content: '{"kind":', doubt }) });
    expect(await verify()).toMatchObject({ code: 0, result: { sound: 10, doubts: 2 } });
    const { out } = await runCollector(['verify', '--archive', archive.folder]);
    expect(out).toContain('10 objects sound');
    expect(out).toContain('read); 2 with a doubt.');
  });

  it('only the period is looked at', async () => {
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    await rm(pathOf(keyAt('log', 'beta', hour(9))));
    expect((await verify('--from', '2026-11-20T08:30')).kinds).toEqual([`missing ${keyAt('log', 'beta')}`]);
    const early = await verify('--to', '2026-11-20T08:30');
    expect(early.kinds).toEqual([`missing ${keyAt('log', 'beta', hour(8))}`]);
    expect(early.result.runs).toBe(1);
  });

  it('--cluster judges the objects of one cluster, with all run records, and does not call a mistyped one sound', async () => {
    await rm(pathOf(keyAt('log', 'beta')));
    expect(await verify('--cluster', 'alpha')).toMatchObject({ code: 0, kinds: [], result: { sound: 4, records: 2 } });
    const beta = await verify('--cluster', 'beta');
    expect([beta.code, beta.kinds]).toEqual([1, [`missing ${keyAt('log', 'beta')}`]]);
    const none = await runCollector(['verify', '--archive', archive.folder, '--cluster', 'alpah'], { now: longAfter });
    expect([none.code, none.out]).toEqual([3, expect.stringMatching(/no objects of cluster alpah in this period/)]);
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    for (const at of [8, 9]) await rm(pathOf(keyAt('manifest', 'beta', hour(at))));
    expect((await verify('--cluster', 'beta')).kinds).toHaveLength(4);
    const [recordKey = ''] = await readdir(pathOf('runs'), { recursive: true }).then((names) =>
      names.filter((name) => name.endsWith('.jsonl')),
    );
    await rm(pathOf(join('runs', recordKey)));
    expect((await verify('--cluster', 'alpha')).code).toBe(1);
  });

  it('prints each key whole on a line of its own at any width, and names the page that says what to do', async () => {
    await rm(pathOf(keyAt('log')));
    const { out } = await runCollector(['verify', '--archive', archive.folder], {
      now: longAfter,
      columns: 40,
      isTerminal: false,
    });
    expect(out).toMatch(new RegExp(`^missing: it is not there\n  ${keyAt('log')}\n2 runs, `));
    const [, page = '', heading] = /^Something is wrong\..* What to do: (.+), "(.+)"\.$/m.exec(out) ?? [];
    expect((await readFile(page, 'utf8')).split('\n')).toContain(`## ${heading}`);
  });

  it('passes over what a file manager left in a folder, and says so in a line; what else is not ours is damage', async () => {
    const left = [
      'logs/.DS_Store',
      'logs/cluster=alpha/@eaDir/x/y.txt',
      'manifests/Thumbs.db',
      'runs/._x',
      'desktop.ini',
    ];
    for (const path of left) {
      await mkdir(dirname(pathOf(path)), { recursive: true });
      await writeFile(pathOf(path), 'x');
    }
    expect(await verify()).toMatchObject({ code: 0, result: { ok: true, findings: [] } });
    const { out } = await runCollector(['verify', '--archive', archive.folder], { now: longAfter });
    expect(out).toContain('Passed over, because a file manager left it there: desktop.ini and 4 other paths.\n');
    for (const path of ['logs/.DS_Store.json', 'logs/notes.txt']) await writeFile(pathOf(path), 'x');
    const { code, result } = await verify();
    expect([code, result.findings.map(({ kind, key }) => [kind, key])]).toEqual([
      1,
      [
        ['unrecorded', 'logs/.DS_Store.json'],
        ['unrecorded', 'logs/notes.txt'],
      ],
    ]);
  });

  it('with nothing to verify says so and exits with 3, for an empty archive as for a period without runs', async () => {
    const empty = await ArchiveFixture.create();
    expect(await runVerify(empty.folder)).toMatchObject({ code: 3, result: { ok: false, runs: 0 } });
    for (const args of [[empty.folder], [archive.folder, '--from', '2026-11-21']]) {
      const { code, out } = await runCollector(['verify', '--archive', ...args], { now: longAfter });
      const said = /^0 runs.*\nNot sealed.*\nNothing was verified: .* has no runs in this period/;
      expect([code, out]).toEqual([3, expect.stringMatching(said)]);
      expect(out).not.toContain('Nothing is wrong');
    }
  });
});
