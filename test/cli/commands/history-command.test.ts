import { stripVTControlCharacters } from 'node:util';
import { ArchiveFixture, type AttemptFixture, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 10, at));
const iso = (at: number) => hour(at).toISOString();
/** Versions by hour: two early changes, a failure, then more than a hundred equal runs. */
const versionAt = (at: number) => (at < 3 ? 'one' : at < 5 ? 'two' : 'three');
const answer =
  (at: number): AttemptFixture['answer'] =>
  (cluster, resource) => {
    if (at === 4) return { failed: 'no answer' };
    return { content: resource === 'log' ? logRecord(cluster, `at ${at}\n`) : `version: ${versionAt(at)}\n` };
  };
const hours = 125;

describe('history', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    const attempts = Array.from({ length: hours }, (_, at) => ({ run: hour(at), answer: answer(at) }));
    await Promise.all(attempts.map((attempt) => archive.attempt({ ...attempt, clusters: ['my cluster'] })));
  });

  const history = (...args: string[]) => runCollector(['history', 'my cluster', '--archive', archive.folder, ...args]);
  const changes = async (...args: string[]) => JSON.parse((await history('--json', ...args)).out);
  const runs = async (...args: string[]) => (await changes(...args)).map(({ run }: { run: string }) => run);

  it('lists each change of many runs once, the oldest first as JSON', async () => {
    expect((await changes()).slice(1)).toEqual([
      expect.objectContaining({ run: iso(3), change: 'changed' }),
      {
        cluster: 'my cluster',
        run: iso(5),
        change: 'changed',
        fetchedAt: '2026-11-10T05:00:01.500Z',
        key: keyOf('manifest', 'my cluster', hour(5)),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        before: (await changes())[1].sha256,
        bytes: 15,
      },
    ]);
    expect((await changes())[0]).toMatchObject({ run: iso(0), change: 'first', before: null });
  });

  it('of one cluster finds what --all finds', async () => {
    expect(await changes()).toEqual(await changes('--all', '--from', iso(0)));
  });

  it('the command of each line shows that change', async () => {
    const { out, err } = await history();
    const lines = stripVTControlCharacters(out).trimEnd().split('\n');
    const collector = 'npm run collector --';
    expect(lines).toEqual([
      `2026-11-10T05:00:00Z changed (15 B): ${collector} diff 'my cluster' --run 2026-11-10T05:00:00Z --archive ${archive.folder}`,
      `2026-11-10T03:00:00Z changed (13 B): ${collector} diff 'my cluster' --run 2026-11-10T03:00:00Z --archive ${archive.folder}`,
      `2026-11-10T00:00:00Z first (13 B): ${collector} show 'my cluster' --run 2026-11-10T00:00:00Z --archive ${archive.folder}`,
    ]);
    expect(err).toBe('2 changes in the manifests of 125 runs from 2026-11-10T00:00:00Z up to 2026-11-15T04:00:00Z.\n');
    const pasted = await runCollector(['diff', 'my cluster', ...(lines[0]?.split(' ').slice(-4) ?? [])]);
    expect(pasted.out).toContain('-version: two\n+version: three\n');
  });

  it('a period bounds it; the run before only tells whether the oldest changed anything', async () => {
    expect(await runs('--from', iso(3), '--to', iso(10))).toEqual([iso(3), iso(5)]);
    expect(await runs('--from', iso(4), '--to', iso(10))).toEqual([iso(5)]);
    expect(await runs('--from', iso(6))).toEqual([]);
    expect(await runs('--to', iso(2))).toEqual([iso(0)]);
  });

  it('--last bounds it to the newest runs, and says so', async () => {
    expect(await runs('--last', '119')).toEqual([]);
    expect(await runs('--last', '120')).toEqual([iso(5)]);
    const { out, err } = await history('--last', '100');
    expect(out).toBe('');
    expect(err).toContain('0 changes in the manifests of 100 runs from 2026-11-11T01:00:00Z up to');
  });

  it('--limit says that the list stopped', async () => {
    expect((await history('--limit', '2')).err).toContain('The list stopped after 2 of 3; --limit sets how many.');
  });
});
