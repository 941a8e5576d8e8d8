import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runsPrefix } from '../../../archive/format/keys';
import { ArchiveFixture, type AttemptFixture, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const runs = ['2026-11-18T10:00Z', '2026-11-18T22:00Z', '2026-11-20T10:00Z'].map((time) => new Date(time));

describe('list --by', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    const answer: AttemptFixture['answer'] = (cluster, resource) => {
      if (cluster === 'down') return { failed: 'no answer' };
      if (resource === 'manifest') return { content: 'kind: Namespace\n' };
      const lines = Array.from({ length: cluster === 'large' ? 3000 : 30 }, (_, at) => `${at * 7919} of ${cluster}\n`);
      return { content: logRecord(cluster, lines.join('')) };
    };
    for (const run of runs) await archive.attempt({ run, clusters: ['small', 'down', 'large'], answer });
  });

  const list = (by: string, ...args: string[]) =>
    runCollector(['list', '--by', by, '--archive', archive.folder, ...args]);
  const stored = async (key: string) => (await stat(join(archive.folder, key))).size;

  it('adds up what lies there, run records too, by day and by cluster', async () => {
    const { code, out } = await list('day', '--json');
    expect(code).toBe(0);
    const { total, days, clusters } = JSON.parse(out);
    const logsOf = (uids: string[], of: Date[]) =>
      sum(uids.flatMap((uid) => of.map((run) => stored(keyOf('log', uid, run)))));
    const both = ['small', 'large'];
    expect(days).toMatchObject([
      { day: '2026-11-18', runs: 2, objects: 8, logs: await logsOf(both, runs.slice(0, 2)) },
      { day: '2026-11-20', runs: 1, objects: 4, logs: await logsOf(both, runs.slice(2)) },
    ]);
    const records = await readdir(join(archive.folder, `${runsPrefix}date=2026-11-18`));
    expect(days[0].runRecords).toBe(await sum(records.map((name) => stored(`${runsPrefix}date=2026-11-18/${name}`))));
    const manifests = await sum(runs.map((run) => stored(keyOf('manifest', 'large', run))));
    expect(clusters).toMatchObject([
      { cluster: 'large', objects: 6, logs: await logsOf(['large'], runs), manifests },
      { cluster: 'small', objects: 6, logs: await logsOf(['small'], runs), manifests: expect.any(Number) },
    ]);
    expect(total).toMatchObject({
      runs: 3,
      objects: 12,
      logs: days[0].logs + days[1].logs,
      manifests: clusters[0].manifests + clusters[1].manifests,
      runRecords: days[0].runRecords + days[1].runRecords,
    });
  });

  it('says how the bytes are shared, and what they come to in a year', async () => {
    expect((await list('day')).out).toMatch(/│ 2026-11-18 │ +2 │ +8 │ .* KiB │/);
    const { out } = await list('cluster', '--limit', '1');
    expect(out.match(/^│ (small|large) /gm)).toEqual(['│ large ']);
    const total = Number(/^([\d.]+) KiB of 3 runs in 3 days, 2026-11-18 to 2026-11-20: logs/m.exec(out)?.[1]);
    const shares = [...out.matchAll(/(?:logs|manifests|run records) ([\d.]+) %/g)].map(([, share]) => Number(share));
    expect(shares).toHaveLength(3);
    expect(shares.reduce((a, b) => a + b)).toBeCloseTo(100, 0);
    expect(out).toMatch(/^The 1 largest cluster of 2 have [\d.]+ %\.$/m);
    expect(total).toBeGreaterThan(0);
    expect(out).toMatch(/^How much a year makes can be said after a whole day between two others\.$/m);
  });

  it('counts whole days alone for a year', async () => {
    const other = await ArchiveFixture.create();
    const answer: AttemptFixture['answer'] = () => ({ content: 'x\n' });
    // Four runs a day, and one on the first and the last.
    for (const at of [18, 24, 30, 36, 42, 48])
      await other.attempt({ run: new Date(Date.UTC(2026, 10, 20, at)), clusters: ['c'], answer });
    const { out } = await runCollector(['list', '--by', 'day', '--archive', other.folder]);
    const day = Number(/│ 2026-11-21 │.* ([\d.]+) KiB │\n/.exec(out)?.[1]);
    expect(Number(/^([\d.]+) KiB a whole day, which is [\d.]+ [KM]iB a year\.$/m.exec(out)?.[1])).toBeCloseTo(day, 1);
  });

  it('counts thirty days up to the newest run, unless others are asked for', async () => {
    const other = await ArchiveFixture.create();
    const answer: AttemptFixture['answer'] = () => ({ content: 'x\n' });
    for (const day of ['2026-01-01', '2026-01-02', '2026-01-31'])
      await other.attempt({ run: new Date(`${day}T00:00Z`), clusters: ['c'], answer });
    const daysOf = async (...args: string[]) =>
      JSON.parse((await runCollector(['list', '--by', 'day', '--json', '--archive', other.folder, ...args])).out).days
        .length;
    expect(await daysOf()).toBe(2);
    expect(await daysOf('--from', '2026-01-01')).toBe(3);
    expect(await daysOf('--last', '1')).toBe(1);
    const { code, err } = await runCollector([
      'list',
      '--by',
      'day',
      '--archive',
      other.folder,
      '--from',
      '2027-01-01',
    ]);
    expect([code, err]).toEqual([
      3,
      expect.stringContaining('Counting failed: no run lies in this period; the archive has '),
    ]);
  });
});

async function sum(lengths: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(lengths)).reduce((total, length) => total + length, 0);
}
