import { ArchiveFixture, hour, keyOf, plainAnswer } from '../archive-fixture';
import { runCollector } from '../run-collector';

describe('list', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    const clusters = ['alpha', 'alpha beta/1'];
    for (const at of [8, 9, 10]) await archive.attempt({ run: hour(at), clusters, answer: plainAnswer });
    await archive.attempt({ run: hour(11), clusters: ['alpha'], startedAt: hour(13), answer: plainAnswer });
  });

  async function list(...args: string[]) {
    const result = await runCollector(['list', '--archive', archive.folder, '--json', ...args]);
    return { ...result, rows: JSON.parse(result.out) as Record<string, unknown>[] };
  }

  it('one cluster comes in time order, with what its objects say', async () => {
    const { rows } = await list('--cluster', 'alpha beta/1');
    const both = [8, 9, 10].flatMap((at) =>
      ['log', 'manifest'].map((resource) => `${hour(at).toISOString()} ${resource}`),
    );
    expect(rows.map(({ run, resource }) => `${run} ${resource}`)).toEqual(both);
    expect(rows[0]).toEqual({
      run: '2026-11-20T08:00:00.000Z',
      fetchedAt: '2026-11-20T08:00:01.500Z',
      late: false,
      cluster: 'alpha beta/1',
      resource: 'log',
      outcome: 'archived',
      reason: null,
      bytes: expect.any(Number),
      storedBytes: expect.any(Number),
      state: 'Running',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      key: keyOf('log', 'alpha beta/1', hour(8)),
    });
  });

  it('with and without --cluster the same is said of the same object', async () => {
    const { rows } = await list();
    expect(rows.filter(({ cluster }) => cluster === 'alpha')).toEqual((await list('--cluster', 'alpha')).rows);
    expect(rows).toHaveLength(14);
  });

  it('a pattern lists the clusters that match, as it lists each of them', async () => {
    expect((await list('--cluster', 'alpha*')).rows).toEqual((await list()).rows);
    const { rows } = await list('--cluster', '*beta?1');
    expect(rows).toEqual((await list('--cluster', 'alpha beta/1')).rows);
    expect(rows).toHaveLength(6);
  });

  it('what was fetched more than an hour after its run is late', async () => {
    const { rows } = await list('--cluster', 'alpha', '--resource', 'log');
    expect(rows.map(({ late }) => late)).toEqual([false, false, false, true]);
    const { out } = await runCollector(['list', '--archive', archive.folder, '--cluster', 'alpha']);
    expect(out).toMatch(/archived, late │ +2 h 00 min │/);
  });

  it('a cluster that is not there lists nothing and says so', async () => {
    const { code, out, err } = await runCollector(['list', '--archive', archive.folder, '--cluster', 'alph']);
    expect([code, out]).toEqual([0, '']);
    expect(err).toContain('Nothing');
    expect((await list('--cluster', 'alph')).rows).toEqual([]);
  });

  it('looks up no key of a run record that an archive cannot have', async () => {
    const hostile = await ArchiveFixture.create();
    const record = await hostile.attempt({ run: hour(8), clusters: ['alpha'], answer: plainAnswer });
    const keys = ['logs/../../etc/passwd', '\u001b[2J'];
    const outcomes = record.outcomes.map((outcome, at) => ({ ...outcome, key: keys[at] }));
    const already = outcomes.map(({ sha256, ...outcome }) => ({ ...outcome, outcome: 'already-archived' as const }));
    await hostile.putRecord({ ...record, outcomes: already });
    for (const args of [['list'], ['history', '--all'], ['history', '--all', '--resource', 'log']])
      expect(await runCollector([...args, '--archive', hostile.folder])).toMatchObject({ code: 0 });
  });
});
