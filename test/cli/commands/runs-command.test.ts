import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { createColors } from 'picocolors';
import { runRecordKey } from '../../../archive/format/keys';
import type { Outcome } from '../../../archive/format/run-record';
import { ArchiveFixture, type AttemptFixture, answerBut, hour, keyOf, plainAnswer } from '../archive-fixture';
import { runCollector } from '../run-collector';

const clusters = ['alpha', 'beta'];

describe('runs', () => {
  let archive: ArchiveFixture;

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
  });

  async function runs(...args: string[]) {
    const result = await runCollector(['runs', '--archive', archive.folder, ...args]);
    return { ...result, json: args.includes('--json') ? JSON.parse(result.out) : undefined };
  }

  it('a run that a second attempt completed is complete, with what both archived', async () => {
    await archive.attempt({ run: hour(9), clusters, answer: answerBut({ beta: { failed: 'GET failed: 503' } }) });
    const second = answerBut({ alpha: { alreadyArchived: 'with hash' } });
    await archive.attempt({ run: hour(9), attempt: 2, clusters, answer: second });
    const { code, json } = await runs('--json');
    expect(code).toBe(0);
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({
      run: '2026-11-20T09:00:00.000Z',
      status: 'complete',
      attempts: 2,
      counts: { archived: 4, failed: 0, notAttempted: 0 },
      durationMs: 8400,
      records: [runRecordKey({ run: hour(9), attempt: 1 }), runRecordKey({ run: hour(9), attempt: 2 })],
    });
  });

  it('an optional cluster may be missing from a complete run, and is counted apart', async () => {
    const answer = answerBut({ beta: { failed: 'switched off' } });
    await archive.attempt({ run: hour(9), clusters, optional: ['beta'], answer });
    expect((await runs()).out).toMatch(/│ +2\/4 │ +0 │ +0 │.*│ complete/);
    const { out } = await runs('2026-11-20T09:00');
    expect(out).toContain(
      'complete after 1 attempt, worked 4.2 s; 2 of 4 archived, 0 failed, 0 not attempted, 2 optional missing',
    );
  });

  it('where a schedule was disabled between two runs, says that nobody can tell which are absent', async () => {
    const common = { clusters, answer: plainAnswer };
    for (const at of [6, 10]) await archive.attempt({ ...common, run: hour(at) });
    const configuration = { schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: false } };
    await archive.attempt({ ...common, run: hour(7.5), trigger: 'manual', configuration });
    const { code, out } = await runs();
    expect(code).toBe(0);
    expect(out).toContain('Not judged from 2026-11-20T06:00:00.000Z to 2026-11-20T10:00:00.000Z: a schedule');
    expect(out).not.toContain('absent from');
  });

  describe('says first whether it is well, and why not', () => {
    const fleet = Array.from({ length: 300 }, (_, at) => `c-${at}`);
    const halfFails: AttemptFixture['answer'] = (cluster, resource) =>
      Number(cluster.slice(2)) % 2 === 0
        ? { failed: `GET log of cluster ${cluster} failed: 503 Service Unavailable` }
        : plainAnswer(cluster, resource);
    const linesOf = (out: string) => stripVTControlCharacters(out).split('\n');

    it('one reason of 300 failures is one line, and 20 rows are shown of 600 unless all are asked for', async () => {
      await archive.attempt({ run: hour(9), clusters: fleet, answer: halfFails });
      const rowsIn = (lines: readonly string[]) => lines.filter((line) => line.startsWith('│ c-')).length;
      const lines = linesOf((await runs('2026-11-20T09:00')).out);
      expect(lines.slice(0, 2)).toEqual([
        'Run 2026-11-20T09:00:00Z: incomplete after 1 attempt, worked 4.2 s; 300 of 600 archived, 300 failed, 0 not attempted',
        '300 failed, one reason: 503 Service Unavailable',
      ]);
      expect([rowsIn(lines), lines.at(-2)]).toEqual([
        20,
        `… and 580 more; npm run collector -- runs 2026-11-20T09:00:00Z --all --archive ${archive.folder} shows every row`,
      ]);
      expect(rowsIn(linesOf((await runs('2026-11-20T09:00', '--all')).out))).toBe(600);
    });

    it('what failed, what was not attempted and what is optional have reasons of their own', async () => {
      const failed = '503';
      const answer = answerBut({ a: { failed }, b: { notAttempted: 'time ran out' }, c: { failed } });
      await archive.attempt({ run: hour(9), clusters: ['d', 'b', 'a', 'c'], optional: ['c'], answer });
      const { out } = await runs('2026-11-20T09:00');
      expect(linesOf(out).slice(1, 4)).toEqual([
        '2 failed, one reason: 503 Service Unavailable',
        '2 not attempted, one reason: time ran out',
        '2 optional missing, one reason: 503 Service Unavailable',
      ]);
      expect(out).toMatch(/│ b +│ log +│ not-attempted.*time ran out/);
      // What failed comes first.
      const { outcomes } = (await runs('2026-11-20T09:00', '--json')).json;
      const told = ['a failed', 'c failed', 'b not-attempted', 'd archived'].flatMap((both) => [both, both]);
      expect(outcomes.map(({ cluster, outcome }: Outcome) => `${cluster} ${outcome}`)).toEqual(told);
    });

    it('of an old run it says too how the newest one ended; the list of runs begins with that', async () => {
      await archive.attempt({ run: hour(6), clusters, answer: () => ({ failed: 'x' }) });
      await archive.attempt({ run: hour(7), clusters, answer: plainAnswer });
      const newest = 'Newest run 2026-11-20T07:00:00Z, 5 h ago: complete, 4 of 4 archived';
      expect(linesOf((await runs('2026-11-20T06:00')).out)[0]).toBe(newest);
      expect(linesOf((await runs('--to', '2026-11-20T06:00')).out)[0]).toBe(newest);
      expect((await runs('2026-11-20T07:00')).out).not.toContain('Newest');
    });
  });

  describe('says which clusters are stale', () => {
    /** Beta leaves its manifest out from 8 o'clock on, gamma everything always. */
    const answer =
      (at: number): AttemptFixture['answer'] =>
      (cluster, resource) =>
        (cluster === 'beta' && at >= 8 && resource === 'manifest') || cluster === 'gamma'
          ? { failed: '503' }
          : plainAnswer(cluster, resource);
    const fleet = ['alpha', 'beta', 'gamma'];
    const beta = { cluster: 'beta', runs: 3, hours: 5, lastArchived: '2026-11-20T07:00:00.000Z' };
    const gamma = { cluster: 'gamma', runs: 5, hours: 6, lastArchived: null };
    const staleRows = (out: string) =>
      /^Not archived for longest.*\n((?: {2}.*\n)+)/m.exec(out)?.[1]?.trimEnd().split('\n');

    async function run(at: number, more: Partial<AttemptFixture> = {}) {
      await archive.attempt({ run: hour(at), clusters: fleet, answer: answer(at), ...more });
    }

    it('with the runs and hours since both resources were archived, the longest first', async () => {
      for (const at of [6, 7, 8, 9, 10]) await run(at);
      expect(staleRows((await runs()).out)).toEqual([
        '  gamma: at least 5 runs, 6 h',
        '  beta: 3 runs, 5 h; last archived by the run 2026-11-20T07:00:00Z',
      ]);
      const { json } = await runs('--json');
      expect(json.at(-1)).toMatchObject({ stale: [gamma, beta], notCovered: [] });
      expect(json.at(-2)).not.toHaveProperty('stale');
    });

    it('leaves out what is optional, and what was taken out of the configuration', async () => {
      await run(8, { optional: ['gamma'] });
      const configured = [{ uid: 'alpha' }, ...['gamma', 'spare'].map((uid) => ({ uid, optional: true }))];
      await run(9, { clusters: ['alpha', 'gamma'], configuration: { clusters: configured } });
      expect((await runs()).out).not.toContain('longest');
      expect((await runs('--json')).json.at(-1)).toMatchObject({ stale: [], notCovered: [] });
    });

    it('judges an end of being optional by the time of the last run', async () => {
      const until = (date: string) => ({
        clusters: [{ uid: 'alpha' }, { uid: 'gamma' }, { uid: 'spare', optional: { until: date } }],
      });
      await run(9, { clusters: ['alpha', 'gamma'], configuration: until('2026-11-20') });
      expect((await runs('--json')).json.at(-1)).toMatchObject({ notCovered: [] });
      await run(10, { clusters: ['alpha', 'gamma'], configuration: until('2026-11-19') });
      expect((await runs('--json')).json.at(-1)).toMatchObject({ notCovered: ['spare'] });
    });

    it('names how many configured clusters none of the runs covers', async () => {
      const configuration = { clusters: ['alpha', 'beta', 'delta', 'gamma'].map((uid) => ({ uid })) };
      await run(9, { clusters: ['alpha'], trigger: 'manual', configuration });
      const { out } = await runs();
      expect(out).not.toContain('longest');
      expect(out).toContain('None of these runs covers 3 configured clusters.');
      expect((await runs('--json')).json.at(-1)).toMatchObject({ stale: [], notCovered: ['beta', 'delta', 'gamma'] });
    });
  });

  describe('after a run that a person started for a few clusters', () => {
    const fleet = Array.from({ length: 30 }, (_, at) => `c-${at}`);
    const configuration = { clusters: fleet.map((uid) => ({ uid })) };
    const one: AttemptFixture = {
      run: hour(10),
      clusters: ['c-1'],
      trigger: 'manual',
      answer: plainAnswer,
      configuration,
    };
    const part = 'Newest run 2026-11-20T10:00:00Z, 2 h ago: 1 of 30 configured clusters, complete, 2 of 2 archived';
    const whole = 'Newest run of all configured clusters 2026-11-20T09:00:00Z, 3 h ago: ';

    it('the newest run of all of them decides: it archived nothing', async () => {
      await archive.attempt({ run: hour(9), clusters: fleet, answer: () => ({ failed: '401' }) });
      await archive.attempt(one);
      const { code, out } = await runs();
      expect(out.split('\n').slice(0, 2)).toEqual([part, `${whole}incomplete, 0 of 60 archived`]);
      expect(code).toBe(1);
    });

    it('an incomplete one is found with --strict alone', async () => {
      await archive.attempt({ run: hour(9), clusters: fleet, answer: answerBut({ 'c-3': { failed: '503' } }) });
      await archive.attempt(one);
      expect((await runs()).code).toBe(0);
      const { code, out } = await runs('--strict');
      expect([code, out.split('\n')[1]]).toEqual([1, `${whole}incomplete, 58 of 60 archived`]);
    });

    it('a scheduled run of which a shard left no record is one of all of them', async () => {
      await archive.attempt({ run: hour(8), clusters: fleet, answer: plainAnswer });
      const shard = { index: 0, count: 2 };
      await archive.attempt({ ...one, run: hour(9), shard, trigger: 'schedule' });
      const { code, out } = await runs('--strict');
      const first =
        'Newest run 2026-11-20T09:00:00Z, 3 h ago: 1 of 30 configured clusters, incomplete, 2 of 2 archived';
      expect([code, out.split('\n')[0]]).toEqual([1, first]);
      expect(out).not.toContain('Newest run of all');
    });
  });

  it.each([
    'runs',
    'list',
    'list --by day',
    'history --all',
    'grep x',
    'log a',
    'show a',
    'diff a',
    'verify --seals',
  ])('a folder without an archive is named by %s, and ends with 3', async (line) => {
    const { code, err } = await runCollector([...line.split(' '), '--archive', archive.folder]);
    expect([code, err]).toEqual([3, expect.stringContaining('it holds no archive: runs/ is missing')]);
  });

  it('a record that is damaged is reported, and the others are shown', async () => {
    await archive.attempt({ run: hour(8), clusters, answer: plainAnswer });
    await archive.put(runRecordKey({ run: hour(9), attempt: 1 }), Buffer.from('{"version":1,\n'), {});
    const problem = 'it is not JSON';
    const { code, json } = await runs('--json');
    expect(code).toBe(1);
    expect(json[0].status).toBe('complete');
    const badRecords = [{ problem: expect.stringContaining(problem) }];
    expect(json[1]).toMatchObject({ status: 'incomplete', badRecords });
    expect((await runs()).err).toContain(problem);
  });

  it('why attempts ended early is said once for each reason, and the first three of many', async () => {
    const stopped = [1, 1, 2, 2, 3, 4, 5].map((clusters) => `no answer for ${clusters} clusters`);
    for (const [at, reason] of stopped.entries()) {
      const attempt = at + 1;
      const answer: AttemptFixture['answer'] = () => ({ notAttempted: 'the service looks down' });
      const record = await archive.attempt({ run: hour(9), attempt, clusters: ['alpha'], answer });
      await archive.putRecord({ ...record, stopped: reason });
    }
    expect((await runs('2026-11-20T09:00')).out.split('\n').slice(1, 6)).toEqual([
      'Stopped early: no answer for 1 clusters',
      'Stopped early: no answer for 2 clusters',
      'Stopped early: no answer for 3 clusters',
      '… and for 2 more reasons',
      '2 not attempted, one reason: the service looks down',
    ]);
  });

  it('what the lifecycle has removed counts as archived, here and in list --failed, and is not red', async () => {
    const configuration = { retentionDays: 9 };
    for (const at of [8, 9]) await archive.attempt({ run: hour(at), clusters, answer: plainAnswer, configuration });
    await rm(join(archive.folder, keyOf('log', 'alpha', hour(9))));
    const now = new Date('2026-12-20T12:00:00Z');
    const collector = (...args: string[]) =>
      runCollector([...args, '--archive', archive.folder], { now, columns: 200 });
    const { code, out } = await collector('runs', '--cluster', 'alpha');
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('alpha: archived by the run 2026-11-20T09:00:00Z and all'),
    ]);
    const red = createColors(true).red('x').split('x')[0] ?? '';
    for (const said of [out, (await collector('runs', '2026-11-20T09:00')).out, (await collector('list')).out]) {
      expect(said).toContain('expired');
      expect(said).not.toContain(red);
    }
    expect(await collector('list', '--failed')).toMatchObject({ code: 0, out: '' });
  });

  it('the list goes by the records alone, and says so; what looks for objects finds what is missing', async () => {
    await archive.attempt({ run: hour(9), clusters, answer: plainAnswer });
    await rm(join(archive.folder, keyOf('manifest', 'alpha', hour(9))));
    const said = 'As recorded: whether the objects are there was not looked at; list and verify do.\n';
    expect(await runs()).toMatchObject({ code: 0, err: said });
    for (const args of [['2026-11-20T09:00'], ['--cluster', 'alpha']]) {
      const { code, err } = await runs(...args);
      expect([code, err]).toEqual([1, expect.not.stringContaining('As recorded')]);
    }
    const { code, out } = await runCollector(['list', '--failed', '--archive', archive.folder]);
    expect([code, out]).toEqual([1, expect.stringContaining('1 missing, one reason')]);
  });

  it('of more than 20,000 outcomes says how many objects were not looked for, once, also in JSON', async () => {
    const record = await archive.attempt({ run: hour(9), clusters, answer: answerBut({ beta: { failed: '503' } }) });
    const [first] = record.outcomes;
    if (first === undefined) throw new Error('no outcomes');
    const uids = Array.from({ length: 20_000 }, (_, at) => `c-${at}`);
    const others = uids.map((cluster) => ({ ...first, cluster, key: keyOf('log', cluster, hour(9)) }));
    const outcomes = [...record.outcomes, ...others];
    await archive.putRecord({ ...record, outcomes, counts: { ...record.counts, archived: 20_002 } });
    const said = 'As recorded: 20,002 objects, not looked at whether they are there; verify does.\n';
    const asked = [
      ['runs', '2026-11-20T09:00'],
      ['runs', '--cluster', '*'],
      ['list', '--failed'],
    ];
    for (const args of asked)
      for (const json of [[], ['--json']]) {
        const { code, out, err } = await runCollector([...args, ...json, '--archive', archive.folder]);
        expect([args, code, err.split(said).length]).toEqual([args, 0, 2]);
        if (args[1] === '2026-11-20T09:00' && json.length > 0) expect(JSON.parse(out).notLookedAt).toBe(20_002);
      }
  });

  it('doubts are counted, and shown with what they are of', async () => {
    const doubt = 'it may be \u001b[31m an error';
    const answer = answerBut({ beta: { content: 'x', doubt, state: 'Ready' } });
    await archive.attempt({ run: hour(9), clusters, answer });
    const listed = await runs();
    expect(listed.code).toBe(0);
    expect(listed.out).toMatch(/│ complete; 2 with a doubt/);
    expect((await runs('--json')).json[0]).toMatchObject({ status: 'complete', counts: { archived: 4, doubts: 2 } });
    const { code, out } = await runs('2026-11-20T09:00:00.000Z');
    expect(code).toBe(0);
    expect(out).toMatch(/4 of 4 archived, 0 failed, 0 not attempted; 2 with a doubt/);
    expect(out).toMatch(/beta +│ log +│ archived .*│ Ready; doubt: it may be \\u\{1b\}\[31m an error/);
    expect(out).toMatch(/beta +│ manifest +│ archived .*│ doubt: it may be/);
  });
});
