import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cell, ReportData, ReportSeries } from '../../../cli/report/page/report-data';
import { runRecordKey } from '../../../lambda/archive/archive-layout';
import { ArchiveFixture, type AttemptFixture, hour, logRecord } from '../archive-fixture';
import { asBucket } from '../operator-archive';
import { runCollector } from '../run-collector';

const hostile = `</script><script>owned()</script><!--<script>\u2028&amp;<img src=x onerror=owned()>`;
const answer: AttemptFixture['answer'] = (cluster, resource) =>
  cluster === 'down'
    ? { failed: hostile }
    : { content: resource === 'log' ? logRecord(cluster, hostile) : 'kind: Namespace\n', state: hostile };

describe('report', () => {
  let archive: ArchiveFixture;

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    for (const at of [8, 9])
      await archive.attempt({ run: hour(at), clusters: ['alpha', 'down', hostile.slice(0, 40)], answer });
  });

  async function report(...args: string[]) {
    const out = join(archive.folder, 'report.html');
    const result = await runCollector(['report', '--archive', archive.folder, '--out', out, ...args]);
    return { ...result, page: result.code === 3 ? '' : await readFile(out, 'utf8') };
  }

  it("the page's policy allows its own style and script by their hashes, and nothing else", async () => {
    const { page } = await report();
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    const [style, script] = [/<style>([\s\S]*?)<\/style>/, /<script>([\s\S]*?)<\/script>/].map((part) =>
      createHash('sha256')
        .update(part.exec(page)?.[1] ?? '')
        .digest('base64'),
    );
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${style}'; script-src 'sha256-${script}'; base-uri 'none'; form-action 'none'`,
    );
  });

  it('whatever the service said, nothing in the data can leave its element', async () => {
    const { page } = await report();
    const data = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
    expect(data).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(data)).toMatchObject({
      clusters: [{ uid: 'alpha' }, { uid: 'down' }, { uid: hostile.slice(0, 40) }],
      cells: [{ outcome: 'archived', state: hostile }, {}, { outcome: 'failed', reason: hostile }],
    });
    const rest = page.replace(data, '');
    expect(rest.match(/<script/g)).toHaveLength(2);
    expect(rest).not.toMatch(/\b(src|href)=|url\(|@import|https?:\/\/(?!www\.w3\.org)/);
  });

  it('a damaged run record is on the page, and the exit code says so', async () => {
    await archive.put(runRecordKey({ run: hour(10), attempt: 1 }), Buffer.from('{}'), {});
    const { code, err, page } = await report();
    expect(code).toBe(1);
    expect(err).toContain('bad run record');
    expect(page).toContain('it is not a valid run record');
  });

  it('runs that were due and are not there have a place, fifty of them in a row', async () => {
    await archive.attempt({ run: hour(12), clusters: ['alpha'], answer });
    await archive.attempt({ run: hour(12 + 61), clusters: ['alpha'], answer });
    const { out } = await runCollector(['report', '--json', '--archive', archive.folder]);
    const { runs, clusters } = JSON.parse(out);
    expect(runs).toHaveLength(6 + 50);
    expect(runs.slice(2, 4)).toEqual([
      { time: '2026-11-20T10:00:00.000Z', status: 'absent', leftOut: 0 },
      { time: '2026-11-20T11:00:00.000Z', status: 'absent', leftOut: 0 },
    ]);
    expect(runs.at(-2)).toEqual({ time: '2026-11-22T14:00:00.000Z', status: 'absent', leftOut: 10 });
    expect(clusters[0].log.cells).toEqual([0, 0, null, null, 0, ...Array(50).fill(null), 0]);
  });

  it('--json needs no --out', async () => {
    const { code, out, err } = await runCollector(['report', '--json', '--archive', archive.folder]);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out).runs).toHaveLength(2);
  });

  it('a period without runs makes no page', async () => {
    const { code, err } = await report('--from', '2027-01-01');
    expect(code).toBe(3);
    expect(err).toContain('has no runs in this period');
  });

  describe('a change', () => {
    /** What the page says of each run: `A` archived, `C` archived and changed, `F` failed, `-` not covered. */
    async function shown(versions: readonly string[], contentOf: (version: string, at: number) => string) {
      const other = await ArchiveFixture.create();
      for (const [at, version] of versions.entries())
        await other.attempt({
          run: hour(at),
          clusters: at < 3 ? ['a'] : ['a', 'b'],
          answer: () => (version === 'none' ? { failed: 'no answer' } : { content: contentOf(version, at) }),
        });
      const { out } = await runCollector(['report', '--json', '--out', '-', '--archive', other.folder]);
      const { cells, clusters } = JSON.parse(out) as ReportData;
      const letter = ({ outcome, isChanged }: Cell) => (isChanged ? 'C' : outcome.slice(0, 1).toUpperCase());
      const letters = ({ cells: places }: ReportSeries) =>
        places.map((place) => (place === null ? '-' : letter(cells[place] as Cell))).join('');
      return clusters.map(({ log, manifest }) => ({ log: letters(log), manifest: letters(manifest) }));
    }

    it('counts from the last content known; a cluster that comes later has nothing before', async () => {
      const found = await shown(['1', 'none', '1', 'none', '2'], (version) => `v: ${version}\n`);
      expect(found).toMatchObject([{ manifest: 'AFAFC' }, { manifest: '---FA' }]);
    });

    it('of a log is one of its text: its record changes with the time at which it was modified', async () => {
      const record = (text: string, at: number) =>
        JSON.stringify({ ...JSON.parse(logRecord('a', text)), metadata: { lastModifiedTimestamp: hour(at) } });
      expect((await shown(['x', 'x', 'y', 'none', 'y'], record))[0]).toEqual({ log: 'AACFA', manifest: 'ACCFC' });
    });
  });

  it('a doubt is listed beside the failures', async () => {
    await archive.attempt({ run: hour(10), clusters: ['odd'], answer: () => ({ content: 'x', doubt: hostile }) });
    const { code, page } = await report('--json');
    expect(code).toBe(0);
    expect(JSON.parse(page)).toMatchObject({
      cells: expect.arrayContaining([
        { outcome: 'archived', reason: hostile, group: expect.stringContaining('script') },
      ]),
      runs: [{}, {}, { status: 'complete', counts: { archived: 2, doubts: 2 }, reasons: [] }],
    });
  });

  it('failures with the same reason have it once, and each run has its most frequent reasons', async () => {
    const other = await ArchiveFixture.create();
    const clusters = Array.from({ length: 30 }, (_, at) => `c-${at}`);
    await other.attempt({
      run: hour(8),
      clusters: [...clusters, 'slow', 'spare'],
      optional: ['spare'],
      answer: (cluster, resource) =>
        cluster === 'slow'
          ? { notAttempted: 'the time limit is near' }
          : { failed: `GET ${resource} of cluster ${cluster} failed: 503; gave up after 5 requests` },
    });
    const { out } = await runCollector(['report', '--json', '--archive', other.folder]);
    const { runs, cells } = JSON.parse(out) as ReportData;
    expect(runs).toMatchObject([
      {
        counts: { archived: 0, failed: 60, notAttempted: 2, optionalMissing: 2 },
        reasons: [
          { reason: '503 Service Unavailable', count: 60 },
          { reason: 'the time limit is near', count: 2 },
        ],
        reasonsLeftOut: 0,
      },
    ]);
    const groups = new Set(['503 Service Unavailable', 'the time limit is near']);
    expect(new Set(cells.map(({ group }) => group))).toEqual(groups);
    expect(cells).toHaveLength(63);
  });

  it('which clusters are stale is said as it was at the last of the runs, if these are not the newest', async () => {
    const stale = async (...args: string[]) => JSON.parse((await report('--json', ...args)).page).stale;
    expect(await stale()).toEqual([{ cluster: 'down', runs: 2, hours: 4, lastArchived: null }]);
    expect(await stale('--to', '2026-11-20T08:30')).toMatchObject([{ runs: 1, hours: 0 }]);
    expect(await stale('--run', '2026-11-20T09:00')).toMatchObject([{ runs: 1, hours: 0 }]);
  });

  it('what is due is said of a bucket, up to more than a thousand times, and not of a copy or of older runs', async () => {
    const bucket = await asBucket(archive.folder);
    const overdue = async (location: string, now: string, ...args: string[]) => {
      const { out } = await runCollector(['report', '--json', '--archive', location, ...args], { now: new Date(now) });
      const { overdue, isNewest } = JSON.parse(out);
      return [isNewest, overdue];
    };
    const said = (count: string) => [
      true,
      expect.stringContaining(`due ${count} times since 2026-11-20T10:00:00Z, no`),
    ];
    expect(await overdue(bucket.location, '2026-11-20T14:00:00Z')).toEqual(said('3'));
    expect(await overdue(bucket.location, '2027-11-20T10:30:00Z')).toEqual(said('more than 1,000'));
    expect(await overdue(archive.folder, '2026-11-20T13:00:00Z')).toEqual([true, undefined]);
    for (const older of ['--to', '--run'])
      expect(await overdue(bucket.location, '2026-11-22T10:30:00Z', older, '2026-11-20T08:00')).toEqual([
        false,
        undefined,
      ]);
    await bucket.close();
  });
});
