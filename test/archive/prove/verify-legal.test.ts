import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { objectKey, runRecordKey } from '../../../archive/format/keys';
import { shardOf } from '../../../archive/format/shard';
import { ArchiveFixture, type AttemptFixture } from '../../cli/archive-fixture';
import { runVerify } from '../../cli/run-verify';

const run = new Date('2026-11-20T09:00:00Z');
const minute = 60_000;

/** A fleet that two shards divide, and an answer for each of its clusters. */
const fleet = Array.from({ length: 12 }, (_, at) => `cluster-${at}`);
const inShard = (index: number) => fleet.filter((uid) => shardOf(uid, 2) === index);
const answer: AttemptFixture['answer'] = (cluster, resource) => ({ content: `${resource} of ${cluster}` });
const recorded = { alreadyArchived: 'with hash' } as const;
const found = { alreadyArchived: 'without hash' } as const;

let archive: ArchiveFixture;

beforeEach(async () => {
  archive = await ArchiveFixture.create();
});

/** Writes an object as an attempt does that has no record. */
async function leaveObject(cluster: string, run: Date): Promise<string> {
  const other = await ArchiveFixture.create();
  await other.attempt({ run, clusters: [cluster], answer });
  const key = objectKey({ resource: 'log', cluster, run });
  const content = await readFile(join(other.folder, key));
  await archive.put(key, content, (await other.store.head(key))?.userMetadata ?? {});
  return key;
}

describe('verify says nothing of a right archive', () => {
  it('whose run had two invocations at once', async () => {
    const clusters = ['a', 'b'];
    // Attempts number themselves as they finish: the first found what the second archived.
    const first: AttemptFixture['answer'] = (cluster, resource) =>
      cluster === 'b' ? found : answer(cluster, resource);
    const second: AttemptFixture['answer'] = (cluster, resource) =>
      cluster === 'a' ? found : answer(cluster, resource);
    await archive.attempt({ run, clusters, answer: first });
    await archive.attempt({ run, attempt: 2, clusters, answer: second });
    expect(await runVerify(archive.folder)).toMatchObject({ code: 0, kinds: [] });
  });

  it('whose run began in shards and was completed without them', async () => {
    const configuration = { clusters: fleet.map((uid) => ({ uid })) };
    const failing = inShard(1)[0];
    for (const index of [0, 1])
      await archive.attempt({
        run,
        shard: { index, count: 2 },
        clusters: inShard(index),
        configuration,
        answer: (cluster, resource) => (cluster === failing ? { failed: '503' } : answer(cluster, resource)),
      });
    await archive.attempt({
      run,
      clusters: fleet,
      configuration,
      trigger: 'manual',
      answer: (cluster, resource) => (cluster === failing ? answer(cluster, resource) : recorded),
    });
    expect(await runVerify(archive.folder)).toMatchObject({ code: 0, kinds: [], result: { sound: 24 } });
  });

  it('whose attempt had its clock set back', async () => {
    await archive.attempt({ run, clusters: ['a'], answer, durationMs: -5000 });
    expect(await runVerify(archive.folder)).toMatchObject({ code: 0, kinds: [] });
  });

  it('whose configuration changed between the attempts of a run', async () => {
    const failedOnce: AttemptFixture['answer'] = (cluster, resource) =>
      cluster === 'b' ? { failed: '503' } : answer(cluster, resource);
    await archive.attempt({ run, clusters: ['a', 'b'], answer: failedOnce });
    await archive.attempt({
      run,
      attempt: 2,
      clusters: ['a', 'b', 'c'],
      configuration: { clusters: [{ uid: 'a' }, { uid: 'b', optional: true }, { uid: 'c' }], retentionDays: 30 },
      answer: (cluster, resource) => (cluster === 'a' ? recorded : failedOnce(cluster, resource)),
    });
    await archive.attempt({
      run,
      attempt: 3,
      clusters: ['a'],
      configuration: { schedule: { expression: 'cron(0 6 * * ? *)', timeZone: 'Europe/Berlin', enabled: false } },
      answer: () => recorded,
    });
    expect(await runVerify(archive.folder, [], new Date('2026-11-21T00:00:00Z'))).toMatchObject({ code: 0, kinds: [] });
  });
});

describe('an object without a record may still get one', () => {
  const soon = (minutes: number) => new Date(Date.now() + minutes * minute);
  /** The hour that it is now: a run of the schedule that is under way. */
  const current = new Date(Math.floor(Date.now() / (60 * minute)) * 60 * minute);

  it('while another shard of its run has its record already', async () => {
    const clusters = inShard(0);
    const configuration = { clusters: fleet.map((uid) => ({ uid })) };
    const key = await leaveObject(inShard(1)[0] ?? '', current);
    await archive.attempt({ run: current, shard: { index: 0, count: 2 }, clusters, configuration, answer });
    const { code, kinds } = await runVerify(archive.folder, [], soon(1));
    expect([code, kinds]).toEqual([0, [`pending ${key}`]]);
  });

  describe('for as long as its run is not completed, if a later attempt failed on it', () => {
    const refusing: AttemptFixture['answer'] = (cluster, resource) =>
      cluster === 'b' ? { failed: '503' } : answer(cluster, resource);
    const refused = { run, clusters: ['a', 'b'], answer: refusing };
    const log = objectKey({ resource: 'log', cluster: 'b', run });

    it('and then it is recorded', async () => {
      await leaveObject('b', run);
      await archive.attempt(refused);
      const { code, kinds, problems } = await runVerify(archive.folder);
      expect([code, kinds]).toEqual([0, [`pending ${log}`]]);
      expect(problems).toEqual([expect.stringContaining('complete the run')]);
      await archive.attempt({
        ...refused,
        attempt: 2,
        trigger: 'manual',
        answer: (cluster, resource) =>
          cluster === 'a' ? recorded : resource === 'log' ? found : answer(cluster, resource),
      });
      expect(await runVerify(archive.folder)).toMatchObject({ code: 0, kinds: [] });
    });

    it('but not if it was written after that attempt had left its record', async () => {
      await archive.attempt(refused);
      await leaveObject('b', run);
      expect((await runVerify(archive.folder)).kinds).toEqual([`unrecorded ${log}`]);
    });

    it('but not if the record that is younger does not say so of it', async () => {
      const key = await leaveObject('planted', run);
      await archive.attempt(refused);
      expect((await runVerify(archive.folder)).kinds).toEqual([`unrecorded ${key}`]);
    });

    it('but not if the record that is younger is of another shard', async () => {
      const configuration = { clusters: fleet.map((uid) => ({ uid })) };
      const [failing = ''] = inShard(1);
      const attempt = (index: number) =>
        archive.attempt({
          run,
          shard: { index, count: 2 },
          clusters: inShard(index),
          configuration,
          answer: (cluster, resource) => (cluster === failing ? { failed: '503' } : answer(cluster, resource)),
        });
      await attempt(1);
      const key = await leaveObject(failing, run);
      await attempt(0);
      expect((await runVerify(archive.folder)).kinds).toEqual([`unrecorded ${key}`]);
    });

    it('but not in a part', async () => {
      await leaveObject('b', run);
      await archive.attempt(refused);
      const asked = ['--part', '--cluster', 'b', '--from', run.toISOString(), '--to', run.toISOString()];
      expect((await runVerify(archive.folder, asked)).kinds).toContain(`unrecorded ${log}`);
    });
  });

  it('as long as Lambda may hold back the attempt after the one that was killed, six hours with oneRunAtATime', async () => {
    const key = await leaveObject('a', current);
    const kinds = async (minutes: number) => (await runVerify(archive.folder, [], soon(minutes))).kinds;
    expect(await kinds(8 * 60)).toEqual([`pending ${key}`]);
    expect(await kinds(10 * 60)).toEqual([`unrecorded ${key}`]);
  });
});

describe('a gap in the numbers of attempts', () => {
  it.each([3, 5000, 999_999_999])('is one finding if the last is %p', async (attempt) => {
    await archive.attempt({ run, clusters: ['a'], answer });
    await archive.attempt({ run, attempt, clusters: ['a'], answer: () => recorded });
    const { kinds } = await runVerify(archive.folder);
    expect(kinds).toEqual([`missing ${runRecordKey({ run, attempt: 2 })}`]);
  });
});
