import { runPrefix, runRecordKey } from '../../../archive/format/keys';
import { firingsOf } from '../../../archive/format/schedule/firings';
import { shardOf } from '../../../archive/format/shard';
import { DueRuns } from '../../../archive/prove/due-runs';
import type { UsedSchedule } from '../../../archive/prove/seen-run';
import { ArchiveFixture, type AttemptFixture, hourly } from '../../cli/archive-fixture';
import { runVerify } from '../../cli/run-verify';

const at = (hour: number, minutes = 0) => new Date(Date.UTC(2026, 10, 20, hour, minutes));
const nextDay = new Date('2026-11-21T12:00:00Z');
const answer: AttemptFixture['answer'] = (cluster, resource) => ({ content: `${resource} of ${cluster}` });
const clusters = ['a', 'b'];

let archive: ArchiveFixture;

beforeEach(async () => {
  archive = await ArchiveFixture.create();
});

const runAt = (run: Date, more: Partial<AttemptFixture> = {}) => archive.attempt({ run, clusters, answer, ...more });
const verify = (args: string[] = [], now = nextDay) => runVerify(archive.folder, args, now);
const allOf = (run: Date) => `${runPrefix(run)}*`;

describe('a run that the schedule should have started', () => {
  it('is absent if no record of it lies between two that it started', async () => {
    for (const hour of [6, 7, 10]) await runAt(at(hour));
    const { code, kinds, problems, result } = await verify();
    expect([code, result.ok, kinds]).toEqual([0, true, [`absent ${allOf(at(8))}`]]);
    expect(problems[0]).toContain('2 scheduled runs from 2026-11-20T08:00:00.000Z to 2026-11-20T09:00:00.000Z are');
    expect((await verify(['--strict'])).code).toBe(1);
  });

  it('up to now is judged by the newest schedule from when it was in force, and by all before that', () => {
    const firings = (expression: string) => firingsOf(expression, 'Etc/UTC');
    const attempt = { sha256: '', days: undefined, isKnown: true, isStart: true };
    const used = (expression: string, usedAt: Date) => ({ ...attempt, firings: firings(expression), usedAt });
    const due = new DueRuns({});
    const hourlyAt = used('cron(0 * * * ? *)', at(6));
    due.add({ run: at(6), isScheduled: true, used: [hourlyAt] });
    const upTo = (plan?: UsedSchedule) => due.upTo(at(9), plan).times;
    expect(upTo()).toEqual([at(7), at(8), at(9)]);
    // Before 07:10 nothing is in both, and behind it a seal's plan is alone.
    expect(upTo(used('cron(20 * * * ? *)', at(7, 10)))).toEqual([at(7, 20), at(8, 20)]);
    expect(due.upTo(at(9), { firings: undefined, usedAt: at(7, 10) })).toMatchObject({
      times: [],
      notJudged: { from: at(6), to: at(9) },
    });
    expect(upTo(used('cron(20 * * * ? *)', at(5)))).toEqual([at(7), at(8), at(9)]);
  });

  it('is not absent if a person started it, which does not begin or end what is judged either', async () => {
    await runAt(at(6));
    await runAt(at(7), { trigger: 'manual' });
    await runAt(at(8));
    await runAt(at(12), { trigger: 'manual' });
    await runAt(at(14, 23));
    expect(await verify()).toMatchObject({ code: 0, kinds: [] });
  });

  it('is not judged while its schedule is disabled, or if its configuration is not known', async () => {
    await runAt(at(6));
    await runAt(at(7, 30), { trigger: 'manual', configuration: { schedule: { ...hourly, enabled: false } } });
    await runAt(at(10));
    const notJudged = [{ from: at(6).toISOString(), to: at(10).toISOString() }];
    expect(await verify()).toMatchObject({ code: 0, kinds: [], result: { notJudged, verdict: 'not seen' } });
    // Who asks whether a run is absent has no answer.
    expect((await verify(['--strict'])).code).toBe(3);
  });

  it('is judged by what both schedules have if the schedule changes', async () => {
    await runAt(at(6));
    await runAt(at(12), { configuration: { schedule: { ...hourly, expression: 'cron(0 0/3 * * ? *)' } } });
    const { kinds, problems } = await verify();
    expect(kinds).toEqual([`absent ${allOf(at(9))}`]);
    expect(problems[0]).toBe('the scheduled run of 2026-11-20T09:00:00.000Z is missing');
  });

  it('may be either of a time that comes twice', async () => {
    const schedule = { ...hourly, timeZone: 'Europe/Berlin' };
    for (const time of ['2026-10-24T23:00Z', '2026-10-25T00:00Z', '2026-10-25T02:00Z', '2026-10-25T03:00Z'])
      await runAt(new Date(time), { configuration: { schedule } });
    expect(await verify()).toMatchObject({ code: 0, kinds: [] });
    const other = await ArchiveFixture.create();
    for (const time of ['2026-10-24T23:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'])
      await other.attempt({ run: new Date(time), clusters, answer, configuration: { schedule } });
    expect(await runVerify(other.folder, [], nextDay)).toMatchObject({ code: 0, kinds: [] });
  });

  it('may still come while it is young', async () => {
    for (const hour of [6, 7, 9]) await runAt(at(hour));
    // With limits.oneRunAtATime it may have waited six hours for the run before it.
    expect((await verify([], at(16))).kinds).toEqual([]);
    expect((await verify([], at(18))).kinds).toEqual([`absent ${allOf(at(8))}`]);
  });

  it('is judged at the edges of a period too, by the runs beside it', async () => {
    for (const hour of [4, 5, 8, 11]) await runAt(at(hour));
    await runAt(at(5, 30), { trigger: 'manual' });
    const { code, problems } = await verify(['--from', '2026-11-20T07:00', '--to', '2026-11-20T10:00']);
    expect(code).toBe(0);
    expect(problems).toEqual([
      'the scheduled run of 2026-11-20T07:00:00.000Z is missing',
      '2 scheduled runs from 2026-11-20T09:00:00.000Z to 2026-11-20T10:00:00.000Z are missing',
    ]);
  });

  it('is found in a period without any run, which is never called right', async () => {
    for (const hour of [4, 9]) await runAt(at(hour));
    const { code, result, kinds } = await verify(['--from', '2026-11-20T06:00', '--to', '2026-11-20T07:00']);
    expect([code, result.ok, result.runs, kinds]).toEqual([3, false, 0, [`absent ${allOf(at(6))}`]]);
  });

  it('costs little if somebody plants a run in another millennium', async () => {
    const schedule = { ...hourly, expression: 'cron(* * * * ? *)' };
    await runAt(new Date('1971-01-01T00:00:00Z'), { configuration: { schedule } });
    await runAt(at(6), { configuration: { schedule } });
    expect((await verify()).kinds).toEqual([`absent ${allOf(new Date('1971-01-01T00:01:00Z'))}`]);
  });
});

describe('a run record beside its configuration', () => {
  const recordKey = runRecordKey({ run: at(6), attempt: 1 });

  it('contradicts it if the schedule started it and a configured cluster has no outcome', async () => {
    const configuration = { clusters: [...clusters, 'c'].map((uid) => ({ uid })) };
    await runAt(at(6), { configuration });
    const { code, kinds, problems } = await verify();
    expect([code, kinds]).toEqual([1, [`contradiction ${recordKey}`]]);
    expect(problems).toEqual(['it has no outcome of what is configured: 2 (log of cluster c, manifest of cluster c)']);
  });

  it('may cover a few clusters if a person started it, and then answers no firing', async () => {
    const some = {
      configuration: { clusters: [...clusters, 'c'].map((uid) => ({ uid })) },
      trigger: 'manual' as const,
    };
    await runAt(at(6, 30), some);
    expect(await verify()).toMatchObject({ code: 0, kinds: [] });
    await runAt(at(7), some);
    expect(await verify()).toMatchObject({ code: 0, kinds: [`absent ${allOf(at(7))}`] });
    expect((await verify()).problems).toEqual([
      `no record of the scheduled run of ${at(7).toISOString()} covers 1 of its 3 clusters: c`,
    ]);
    expect((await verify(['--strict'])).code).toBe(1);
  });

  it('is not covered by as many outcomes of clusters that a later attempt had in place of its own', async () => {
    const of = (...uids: string[]) => ({ clusters: uids.map((uid) => ({ uid })) });
    await runAt(at(6), { configuration: of('a', 'b') });
    await runAt(at(7), { configuration: of('a', 'b', 'c'), trigger: 'manual' });
    const late = { attempt: 2, trigger: 'manual', startedAt: at(7, 10), clusters: ['d'] } as const;
    await runAt(at(7), { ...late, configuration: of('a', 'b', 'd') });
    expect((await verify()).problems).toEqual([
      `no record of the scheduled run of ${at(7).toISOString()} covers 1 of its 3 clusters: c`,
    ]);
  });

  it('is covered by what its first attempt had, whatever the clock of a later one says', async () => {
    await runAt(at(6), { configuration: { clusters: [{ uid: 'a' }] }, clusters: ['a'], startedAt: at(7) });
    const both = { clusters: clusters.map((uid) => ({ uid })) };
    const late = { attempt: 2, trigger: 'manual', startedAt: at(6, 45), clusters: ['a'] } as const;
    await runAt(at(6), { ...late, answer: () => ({ alreadyArchived: 'with hash' }), configuration: both });
    expect(await verify()).toMatchObject({ code: 0, problems: [] });
  });

  it('contradicts it if it has an outcome that is not configured', async () => {
    await runAt(at(6), { configuration: { clusters: [{ uid: 'a' }, { uid: 'b', resources: ['log'] }] } });
    expect(await verify()).toMatchObject({
      code: 1,
      problems: ['it has outcomes that are not configured: 1 (manifest of cluster b)'],
    });
  });

  it('of a shard contradicts it if it has outcomes of another shard', async () => {
    const fleet = Array.from({ length: 12 }, (_, number) => `cluster-${number}`);
    const configuration = { clusters: fleet.map((uid) => ({ uid })) };
    await runAt(at(6), { shard: { index: 0, count: 2 }, clusters: fleet, configuration });
    const others = 2 * fleet.filter((uid) => shardOf(uid, 2) === 1).length;
    expect((await verify()).problems[0]).toContain(`it has outcomes that are not configured: ${others} (`);
  });

  it('contradicts it if it calls a failed cluster optional that is not', async () => {
    const record = await runAt(at(6), {
      answer: (cluster, resource) => (cluster === 'b' ? { failed: '503' } : answer(cluster, resource)),
    });
    await archive.putRecord({
      ...record,
      status: 'complete',
      counts: { archived: 2, alreadyArchived: 0, failed: 0, notAttempted: 0, optionalMissing: 2 },
      outcomes: record.outcomes.map((one) => (one.cluster === 'b' ? { ...one, optional: true } : one)),
    });
    expect(await verify()).toMatchObject({
      code: 1,
      problems: [
        'its configuration says otherwise whether these are optional: 2 (log of cluster b, manifest of cluster b)',
      ],
    });
  });

  it('contradicts it if it calls a cluster optional beyond its last date, or does not on it', async () => {
    const configuration = { clusters: [{ uid: 'a' }, { uid: 'b', optional: { until: '2026-11-20' } }] };
    const failed: AttemptFixture['answer'] = (cluster, resource) =>
      cluster === 'b' ? { failed: '503' } : answer(cluster, resource);
    const [on, beyond] = [at(6), new Date(at(6).getTime() + 86_400_000)];
    const contradictions = async () => (await verify()).problems.filter((problem: string) => /otherwise/.test(problem));
    const records = [];
    for (const run of [on, beyond]) records.push(await runAt(run, { answer: failed, configuration }));
    expect(records.map(({ status }) => status)).toEqual(['complete', 'incomplete']);
    expect(await contradictions()).toEqual([]);
    for (const record of records)
      await archive.putRecord({
        ...record,
        outcomes: record.outcomes.map(({ optional, ...one }) =>
          one.cluster === 'b' && optional === undefined ? { ...one, optional: true as const } : one,
        ),
      });
    const problem = /its configuration says otherwise whether these are optional: 2 \(log of cluster b/;
    expect((await contradictions()).filter((found: string) => problem.test(found))).toHaveLength(2);
  });
});
