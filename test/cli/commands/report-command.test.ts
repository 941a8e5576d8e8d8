import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runRecordKey } from '../../../lambda/archive/archive-layout';
import { ArchiveFixture, type AttemptFixture, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 20, at));
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
      states: [hostile],
      failures: expect.arrayContaining([{ cluster: 1, run: 0, resource: 'log', reason: hostile }]),
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

  it('only the newest runs, or those from a time on, are on it', async () => {
    const runs = async (...args: string[]) =>
      JSON.parse((await report('--json', ...args)).page).runs.map(({ time }: { time: string }) => time);
    expect(await runs('--last', '1')).toEqual(['2026-11-20T09:00:00.000Z']);
    expect(await runs('--from', '2026-11-20T08:00')).toEqual(['2026-11-20T08:00:00.000Z', '2026-11-20T09:00:00.000Z']);
    expect(await runs('--to', '2026-11-20T08:30')).toEqual(['2026-11-20T08:00:00.000Z']);
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

  it('a cluster that comes later has nothing before, and a change counts from the last content known', async () => {
    const other = await ArchiveFixture.create();
    const at =
      (version: string): AttemptFixture['answer'] =>
      (_, resource) =>
        version === 'none' ? { failed: 'no answer' } : { content: resource === 'log' ? version : `v: ${version}\n` };
    const versions = ['1', 'none', '1', 'none', '2'];
    for (const [index, version] of versions.entries())
      await other.attempt({ run: hour(index), clusters: index < 3 ? ['a'] : ['a', 'b'], answer: at(version) });
    const { out } = await runCollector(['report', '--json', '--out', '-', '--archive', other.folder]);
    const { clusters } = JSON.parse(out);
    // B archived, D failed, A not covered, L archived and changed.
    expect(clusters.map(({ manifest }: { manifest: { cells: string } }) => manifest.cells)).toEqual(['BDBDL', 'AAADB']);
  });

  it('a doubt is listed beside the failures', async () => {
    await archive.attempt({ run: hour(11), clusters: ['odd'], answer: () => ({ content: 'x', doubt: hostile }) });
    const { code, page } = await report('--json');
    expect(code).toBe(0);
    expect(JSON.parse(page)).toMatchObject({
      failures: expect.arrayContaining([{ cluster: 3, run: 2, resource: 'manifest', reason: `doubt: ${hostile}` }]),
    });
  });
});
