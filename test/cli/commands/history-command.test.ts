import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
        missing: false,
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

describe('history --ignore, where a content cannot be compared', () => {
  const longAfter = new Date('2027-11-20T12:00:00Z');
  const manifest = (at: number) => keyOf('manifest', 'a', hour(at));
  const lines = (versions: readonly number[]) => versions.map((at) => `${iso(at)} changed: 1 cluster: a`);

  /** Runs of which each has another manifest, in a line that is ignored. */
  async function noisyArchive(retentionDays?: number): Promise<ArchiveFixture> {
    const archive = await ArchiveFixture.create();
    for (const at of [0, 1, 2, 3])
      await archive.attempt({
        run: hour(at),
        clusters: ['a'],
        answer: () => ({ content: `kind: A\nversion: ${at}\n` }),
        configuration: { retentionDays },
      });
    return archive;
  }

  async function historyOf({ folder }: ArchiveFixture, from: number, now?: Date) {
    const args = ['history', '--all', '--ignore', 'version', '--from', iso(from), '--archive', folder];
    const { code, out, err } = await runCollector(args, { now });
    return { code, changed: out.match(/^.* changed: .*$/gm)?.map((line) => line.replace('Z', '.000Z')), err };
  }

  it.each([0, 2])('says nothing of an object that has expired, from hour %d on', async (from) => {
    const archive = await noisyArchive(30);
    await rm(join(archive.folder, manifest(1)));
    const { code, changed, err } = await historyOf(archive, from, longAfter);
    expect([code, changed]).toEqual([0, lines(from === 0 ? [2, 1] : [2])]);
    expect(err).not.toMatch(/^(damaged|missing)/m);
  });

  it.each([0, 2])('says once that an object is missing, from hour %d on', async (from) => {
    const archive = await noisyArchive();
    await rm(join(archive.folder, manifest(1)));
    const { code, changed, err } = await historyOf(archive, from);
    expect([code, changed]).toEqual([1, lines(from === 0 ? [2, 1] : [2])]);
    expect(err.match(/^\S.*\n {2}.*$/gm)).toEqual([
      `missing: its run archived it, and it is not there\n  ${manifest(1)}`,
    ]);
  });

  it('keeps the changes of a content that is too large, and compares the others', async () => {
    const archive = await noisyArchive();
    const { userMetadata = {} } = (await archive.store.head(manifest(1))) ?? {};
    const stored = await readFile(join(archive.folder, manifest(1)));
    await archive.put(manifest(1), stored, { ...userMetadata, length: `${2 ** 27}` });
    const { code, changed, err } = await historyOf(archive, 0);
    expect([code, changed]).toEqual([3, lines([2, 1])]);
    expect(err).toContain(`unreadable: Comparing ${manifest(1)} failed: it has 134217728 bytes`);
    expect(err).toContain('1 change only in lines that --ignore matches.\n');
  });
});
