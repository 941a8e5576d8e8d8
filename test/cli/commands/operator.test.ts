import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchiveFixture, keyOf } from '../archive-fixture';
import { absentRun, cluster, dead, flapping, healthy, operatorArchive, runAt } from '../operator-archive';
import { runCollector } from '../run-collector';
import { runStart, writeStartConfig } from '../run-start';

/** The cells of a table, row by row; a name or a time begins each. */
const cellsOf = (out: string) =>
  out
    .split('\n')
    .filter((line) => /^│ (2025|c-)/.test(line))
    .map((row) =>
      row
        .split('│')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );

describe('an operator, with 120 clusters and 60 runs', () => {
  let archive: ArchiveFixture;
  const now = runAt(61);

  beforeAll(async () => {
    archive = await operatorArchive(120);
  });

  const between = (from: string, to: string) => ['--from', `2025-11-${from}`, '--to', `2025-11-${to}`];
  const collector = (command: string, ...args: string[]) =>
    runCollector([command, '--archive', archive.folder, ...args], { now });

  it('sees the time line of one cluster: outcomes, reasons, and runs that are absent', async () => {
    const { code, out } = await collector('runs', '--cluster', flapping, ...between('14T12:00', '15T08:00'));
    const reasons = '503 Service Unavailable';
    expect(out.split('\n')[0]).toBe(
      'c-007: not archived whole since 2025-11-15T08:00:00Z, 1 run: 503 Service Unavailable (not archived whole in 2 of 5 runs).',
    );
    expect(cellsOf(out).map(([run, log, manifest, ...more]) => [run, log, manifest, more.at(-1)])).toEqual([
      ['2025-11-14T12:00:00Z', 'archived', 'archived', ''],
      ['2025-11-14T16:00:00Z', 'failed', 'failed', reasons],
      ['2025-11-14T20:00:00Z', 'archived', 'archived', ''],
      ['2025-11-15T00:00:00Z', '', '', 'absent'],
      ['2025-11-15T04:00:00Z', 'archived', 'archived', ''],
      ['2025-11-15T08:00:00Z', 'failed', 'failed', expect.stringContaining('503')],
    ]);
    expect(code).toBe(0);
    const first = async (uid: string) => (await collector('runs', '--cluster', uid, '--last', '60')).out.split('\n')[0];
    expect(await first(dead)).toMatch(/^c-003: not archived whole at least since 2025-11-10T00:00:00Z, 59 runs: 503/);
    const { out: folded } = await collector('runs', '--cluster', dead, '--last', '60');
    expect(folded.match(/\d+ runs +│ failed/g)).toEqual([
      expect.stringContaining('30 runs'),
      expect.stringContaining('29 runs'),
    ]);
    expect(await first(healthy)).toBe('c-001: archived by the run 2025-11-19T20:00:00Z and all before it here.');
  });

  it('sees which clusters fail now and then, though the newest run has them', async () => {
    const { out } = await collector('runs', '--last', '60');
    expect(out).toMatch(/^Failing now and then:\n {2}c-007: in 29 of 59 runs\n$/m);
    const { flapping: found } = JSON.parse((await collector('runs', '--last', '60', '--json')).out).at(-1);
    expect(found).toEqual([{ cluster: flapping, failed: 29, runs: 59 }]);
  });

  it('gets 20 rows of a list, and all of them as JSON', async () => {
    const rowsOf = (out: string) => out.split('\n').filter((line) => line.startsWith('│ 2025')).length;
    const { out, err } = await collector('list');
    expect(rowsOf(out)).toBe(20);
    expect(err).toBe('The list stopped after 20 rows; --limit, --last or --from choose others.\n');
    const more = await collector('list', '--last', '1', '--limit', '240');
    expect([rowsOf(more.out), more.err]).toEqual([240, '']);
    expect(JSON.parse((await collector('list', '--last', '1', '--json')).out)).toHaveLength(240);
  });

  it('sees in the list of one cluster what failed, why, and what is absent', async () => {
    const period = ['--cluster', flapping, '--resource', 'log', ...between('14T16:00', '15T04:00')];
    const { code, out } = await collector('list', ...period);
    expect(cellsOf(out)).toEqual([
      ['2025-11-14T16:00:00Z', flapping, 'log', 'failed', '', expect.stringContaining('503 Service Unavailable')],
      ['2025-11-14T20:00:00Z', flapping, 'log', 'archived', '1007 B', ''],
      ['2025-11-15T00:00:00Z', '', '', 'absent', '', ''],
      ['2025-11-15T04:00:00Z', flapping, 'log', 'archived', '1007 B', ''],
    ]);
    expect(code).toBe(0);
    expect(JSON.parse((await collector('list', ...period, '--json')).out)).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('503'), key: null },
      { outcome: 'archived', reason: null, key: expect.any(String) },
      { run: absentRun.toISOString(), outcome: 'absent' },
      { outcome: 'archived' },
    ]);
  });

  it('sees an upgrade of 100 clusters as one line with 100 names', async () => {
    const { code, out, err } = await collector('history', '--all', '--last', '60');
    const [upgrade = '', later, first, ...others] = out.trimEnd().split('\n');
    const names = Array.from({ length: 100 }, (_, at) => cluster(at)).filter((uid) => uid !== dead);
    const [, which = ''] = upgrade.split('2025-11-17T12:00:00Z changed: 99 clusters: ');
    expect(which.split(', ').sort()).toEqual(names);
    expect(later).toBe('2025-11-10T04:00:00Z first: 1 cluster: c-007');
    expect(first).toMatch(/^2025-11-10T00:00:00Z first: 118 clusters: c-001, .*, and 18 more; --json has all$/);
    expect(others).toEqual([]);
    expect(err).toMatch(
      /^99 changes in the manifests of 59 runs from 2025-11-10T00:00:00Z up to 2025-11-19T20:00:00Z\./,
    );
    expect(code).toBe(0);
    const { out: week } = await collector('history', '--all', '--from', '2025-11-16', '--json');
    expect(JSON.parse(week)).toHaveLength(99);
    const { out: some } = await collector('history', '--all', 'c-00*', '--from', '2025-11-16');
    expect(some).toMatch(/^2025-11-17T12:00:00Z changed: 9 clusters: c-001, .*, c-009\n$/);
  });

  it('gets equal findings of verify together, and each of them as JSON', async () => {
    const last = ['--from', runAt(59).toISOString()];
    const { out } = await collector('verify', ...last);
    expect(out).toMatch(
      /^damaged: its content is not the one that its run record says\n( {2}[lm].*gz\n){3} {2}… and 233 more keys; verify --json has all\n1 run, /,
    );
    expect(out).toContain('Found: 236 damaged.');
    const { findings } = JSON.parse((await collector('verify', ...last, '--json')).out);
    expect(findings).toHaveLength(236);
    expect(findings.map(({ key }: { key: string }) => key)).not.toContain(keyOf('log', healthy, runAt(59)));
  });

  it('hears why a cluster has no object, and that a name may be that of a bucket', async () => {
    const why = /the run 2025-11-19T20:00:00Z did not archive it \(failed\): GET manifest .* 503 .*; list shows/;
    expect((await collector('show', dead)).err).toMatch(why);
    expect((await collector('show', 'other')).err).toMatch(/the run 2025-11-19T20:00:00Z did not cover it; list shows/);
    const { err } = await runCollector(['runs', '--archive', 'my-bucket-of-logs'], { now });
    expect(err).toContain('--archive names another, s3://my-bucket-of-logs a bucket of this name');
  });

  it('hears of the nearest names if one is misspelt, whatever the command', async () => {
    for (const line of ['show', 'diff', 'history', 'log', 'runs --cluster', 'list --cluster', 'grep x --cluster']) {
      const [command = '', ...args] = line.split(' ');
      const { err } = await collector(command, ...args, 'C-03 ');
      expect([command, err]).toEqual([command, expect.stringContaining('; the nearest names: c-003, c-013, c-023')]);
      expect((await collector(command, ...args, 'quite-another')).err).not.toContain('nearest names');
    }
  });

  it('hears of the nearest runs if a run is not there, from npm start too', async () => {
    const nearest = 'the archive has none; the nearest: 2025-11-14T20:00:00Z, 2025-11-15T04:00:00Z';
    const run = ['--run', absentRun.toISOString()];
    const lines = [['runs'], ['list'], ['show', healthy], ['diff', healthy], ['grep', 'x'], ['log', healthy]];
    for (const [command = '', ...args] of lines) {
      const { code, err } = await collector(command, ...args, ...run);
      expect([command, code, err]).toEqual([command, 3, expect.stringContaining(nearest)]);
    }
    const config = await writeStartConfig(archive.folder);
    const { code, err } = await runStart(['--config', config, '--folder', archive.folder, ...run]);
    await rm(join(archive.folder, 'my.json'));
    expect(err).toContain(`${nearest}; if it was due and left no record, add --without-record.`);
    expect(code).toBe(2);
  });
});
