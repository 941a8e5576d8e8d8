import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ArchiveFixture, answerBut, hour, keyOf, plainAnswer } from '../archive-fixture';
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

  it('--failed groups the failures of a period by reason, and with --json has each of them', async () => {
    const failing = await ArchiveFixture.create();
    const clusters = ['alpha', 'beta', 'gamma'];
    for (const at of [8, 9, 10, 11])
      await failing.attempt({
        run: hour(at),
        clusters,
        answer: (cluster, resource) => {
          const failed = (reason: string) => ({
            failed: `GET ${resource} of cluster ${cluster} failed: ${reason}`,
            httpStatus: 'no answer' as const,
          });
          if (cluster === 'gamma' && at > 8)
            return failed(at === 11 ? 'no answer (ECONNRESET)' : 'its body was cut short');
          return cluster === 'beta' && at === 9 ? failed('no answer (ECONNRESET)') : plainAnswer(cluster, resource);
        },
      });
    const args = ['list', '--failed', '--archive', failing.folder];
    const period = ['--from', '2026-11-20T09:00', '--to', '2026-11-20T10:59'];
    const { code, out, err } = await runCollector([...args, ...period]);
    const lines = ['- 4 x its body was cut short, such as gamma', '- 2 x no answer (ECONNRESET), such as beta'];
    expect(out).toBe(`6 failed, 2 reasons:\n${lines.join('\n')}\n`);
    expect([code, err]).toEqual([0, 'Read 2 runs from 2026-11-20T09:00:00Z up to 2026-11-20T10:00:00Z.\n']);
    const rows = JSON.parse((await runCollector([...args, '--cluster', 'gamma', '--json'])).out);
    const failures = [9, 10, 11].flatMap((at) =>
      ['log', 'manifest'].map((one) => [hour(at).toISOString(), one, 'failed']),
    );
    type Row = Record<'run' | 'resource' | 'outcome', string>;
    expect(rows.map(({ run, resource, outcome }: Row) => [run, resource, outcome])).toEqual(failures);
    const well = await runCollector([...args, '--run', '2026-11-20T08:00']);
    expect([well.code, well.out, well.err]).toEqual([0, '', 'Nothing failed in the run 2026-11-20T08:00:00Z.\n']);
  });

  it('a cluster that no record has lists nothing, and the error says so', async () => {
    const { code, out, err } = await runCollector(['list', '--archive', archive.folder, '--cluster', 'alph']);
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/^error: Finding cluster alph failed: no record of 4 runs .* has it; the nearest names: alpha/);
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

  it('--stale names the clusters that no run has archived for so long, since when, and why', async () => {
    const fleet = await ArchiveFixture.create();
    const failsFrom: Readonly<Record<string, number>> = { dead: 0, 'since-9': 9, well: 99 };
    for (const at of [7, 8, 9, 10])
      await fleet.attempt({
        run: hour(at),
        clusters: ['dead', 'since-9', 'well', 'maybe'],
        optional: ['maybe'],
        answer: (uid, resource) =>
          at >= (failsFrom[uid] ?? 0) ? { failed: 'GET it failed: 503' } : plainAnswer(uid, resource),
      });
    const at = (now: string, ...args: string[]) =>
      runCollector(['list', '--archive', fleet.folder, '--stale', ...args], { now: new Date(`2026-11-20T${now}Z`) });
    const { code, out, err } = await at('10:30', '1h');
    const rows = out
      .split('\n')
      .filter((line) => /^│ [a-z]/.test(line))
      .map((line) => line.split(/ *│ */).slice(1, -1));
    expect([code, rows]).toEqual([
      1,
      [
        ['dead', 'by none of these', 'at least 4 runs, 3 h', '503 Service Unavailable'],
        ['since-9', hour(8).toISOString().replace('.000', ''), '2 runs, 2 h', '503 Service Unavailable'],
      ],
    ]);
    expect(err).toMatch(/^2 of 3 clusters not archived for so long, by 4 runs from /);
    const narrow = await runCollector(['list', '--archive', fleet.folder, '--stale', '1h'], {
      now: new Date('2026-11-20T10:30:00Z'),
      columns: 60,
    });
    const widths = stripVTControlCharacters(narrow.out)
      .split('\n')
      .map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(60);
    expect(narrow.out).toContain('at least 4');
    const json = JSON.parse((await at('10:30', '150m', '--json')).out);
    expect(json).toEqual([
      { cluster: 'dead', since: null, hours: 3.5, runs: 4, reason: '503 Service Unavailable' },
      { cluster: 'since-9', since: hour(8).toISOString(), hours: 2.5, runs: 2, reason: '503 Service Unavailable' },
    ]);
    expect(await at('10:30', '24h')).toMatchObject({ code: 0, out: '' });
    // Where no run came any more, nobody is archived.
    const silent = await at('20:30', '9h', '--cluster', 'well');
    expect([silent.code, silent.out]).toEqual([1, expect.stringContaining('no run since covers it')]);
  });

  it('--stale counts what was archived and is gone as not archived', async () => {
    const fleet = await ArchiveFixture.create();
    for (const at of [8, 9, 10]) await fleet.attempt({ run: hour(at), clusters: ['a', 'b'], answer: plainAnswer });
    for (const at of [9, 10]) await rm(join(fleet.folder, keyOf('manifest', 'a', hour(at))));
    const args = ['list', '--archive', fleet.folder, '--stale', '2h'];
    const { code, out, err } = await runCollector(args, { now: hour(11) });
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^│ a .* 2026-11-20T08:00:00Z .* 2 runs, 3 h .* it is not there/m),
    ]);
    expect(out).not.toMatch(/^│ b /m);
    expect(err).toMatch(/^missing: /m);
  });

  it('--stale does not end well where it could not look: no such cluster, no runs, or runs that do not reach back', async () => {
    const fleet = await ArchiveFixture.create();
    const answer = answerBut({ dead: { failed: 'GET it failed: 503' } });
    for (const at of [7, 8, 9, 10])
      await fleet.attempt({ run: hour(at), clusters: ['dead', 'well', 'maybe'], optional: ['maybe'], answer });
    const stale = (age: string, ...args: string[]) =>
      runCollector(['list', '--archive', fleet.folder, '--stale', age, ...args], {
        now: new Date('2026-11-20T10:30:00Z'),
      });
    const failures = [
      [['1h', '--cluster', 'no-such'], 'Finding cluster no-such failed: no record of 4 runs'],
      [['1h', '--cluster', 'maybe'], 'Judging cluster maybe failed: the newest configuration has it as optional'],
      [['1h', '--from', '10m'], 'Finding stale clusters failed: '],
      [['3h', '--last', '2'], 'Not judged: 1 cluster: not archived by any run that was read, which reach back only to'],
      [['3h', '--run', '2026-11-20T10:00'], 'Not judged: 1 cluster: '],
      [['3h', '--from', '2h'], 'Not judged: 1 cluster: '],
    ] as const;
    for (const [[age, ...args], said] of failures) {
      const { code, out, err } = await stale(age, ...args);
      expect([args, code, out, err]).toEqual([args, 3, '', expect.stringContaining(said)]);
      expect((await stale(age, ...args, '--json')).out).toBe('[]\n');
    }
    // Nothing is before the first run: since then is all that anybody knows.
    const young = await stale('24h', '--last', '4');
    expect([young.code, young.err]).toEqual([0, expect.not.stringContaining('Not judged')]);
    expect(await stale('1h', '--last', '2')).toMatchObject({ code: 1 });
  });
});
