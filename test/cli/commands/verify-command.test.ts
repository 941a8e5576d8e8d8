import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { objectKey, runRecordKey } from '../../../lambda/archive/archive-layout';
import type { Resource } from '../../../lambda/resources';
import type { Outcome, RunRecord } from '../../../lambda/run/run-record';
import { ArchiveFixture, type AttemptFixture, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';
import { longAfter, runVerify } from '../run-verify';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 20, at));
const clusters = ['alpha', 'beta'];
const answer: AttemptFixture['answer'] = (cluster, resource) => ({
  content: resource === 'log' ? logRecord(cluster, 'some text\n'.repeat(200)) : `kind: Namespace # ${cluster}\n`,
});

describe('verify', () => {
  let archive: ArchiveFixture;
  let record: RunRecord;

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    await archive.attempt({ run: hour(8), clusters, answer });
    record = await archive.attempt({ run: hour(9), clusters, answer });
  });

  const verify = (...args: string[]) => runVerify(archive.folder, args);

  const keyOf = (resource: Resource, cluster = 'alpha', run = hour(9)) =>
    objectKey({ resource, cluster, run, compression: 'gzip' });
  const recordKey = runRecordKey({ run: hour(9), attempt: 1 });
  const pathOf = (key: string) => join(archive.folder, key);

  /** Replaces the record of the second run by an altered one. */
  async function alterRecord(alter: (outcomes: Outcome[]) => Outcome[], more: Partial<RunRecord> = {}) {
    await archive.putRecord({ ...record, ...more, outcomes: alter(structuredClone(record.outcomes)) });
  }

  it('a sound archive is sound, and everything in it was read', async () => {
    const { code, result } = await verify();
    expect(code).toBe(0);
    expect(result).toMatchObject({ ok: true, runs: 2, records: 2, sound: 8, expired: 0, findings: [] });
    expect(result.bytes).toBe(2 * record.outcomes.reduce((sum, { bytes = 0 }) => sum + bytes, 0));
  });

  it('one flipped bit, wherever it is, is damage', async () => {
    const key = keyOf('log');
    const sound = await readFile(pathOf(key));
    // All of the header, the trailer, and some between.
    for (const at of [0, 3, 4, 8, 9, 10, 25, sound.length >> 1, sound.length - 5, sound.length - 1]) {
      const bytes = Buffer.from(sound);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      await writeFile(pathOf(key), bytes);
      expect([at, (await verify()).kinds]).toEqual([at, [`damaged ${key}`]]);
    }
  });

  it('a truncated object is damaged', async () => {
    await truncate(pathOf(keyOf('manifest')), 30);
    const { code, kinds } = await verify();
    expect([code, kinds]).toEqual([1, [`damaged ${keyOf('manifest')}`]]);
  });

  it('something behind the content is damage, also where no checksum of the object is known', async () => {
    const key = keyOf('manifest');
    const bytes = await readFile(pathOf(key));
    const { userMetadata = {} } = (await archive.store.head(key)) ?? {};
    const append = (behind: Buffer) => archive.store.put(key, Buffer.concat([bytes, behind]), { userMetadata });
    for (const behind of [Buffer.alloc(8), Buffer.from('more'), gzipSync('more')]) {
      await append(behind);
      expect((await verify()).kinds).toEqual([`damaged ${key}`]);
    }
    // Compressed nothing adds nothing to the content: only the record knows how long the object was.
    await append(gzipSync(''));
    expect((await verify()).kinds).toEqual([`contradiction ${key}`]);
  });

  it('content of the right length that is another is damaged', async () => {
    const key = keyOf('manifest');
    const { userMetadata = {} } = (await archive.store.head(key)) ?? {};
    await archive.put(key, gzipSync('kind: namespace # alpha\n'), userMetadata);
    const { kinds, problems } = await verify();
    expect(kinds).toEqual([`damaged ${key}`]);
    expect(problems).toEqual(['its content does not have the SHA-256 its metadata says']);
  });

  it('a deleted object is missing', async () => {
    await rm(pathOf(keyOf('log', 'beta', hour(8))));
    const { code, kinds } = await verify();
    expect([code, kinds]).toEqual([1, [`missing ${keyOf('log', 'beta', hour(8))}`]]);
  });

  it('another content that agrees with itself contradicts the record', async () => {
    const other = await ArchiveFixture.create();
    await other.attempt({ run: hour(9), clusters: ['alpha'], answer: () => ({ content: 'kind: Forged\n' }) });
    const key = keyOf('manifest');
    await archive.put(key, await readFile(join(other.folder, key)), (await other.store.head(key))?.userMetadata ?? {});
    const { code, kinds, problems } = await verify();
    expect([code, kinds]).toEqual([1, [`contradiction ${key}`]]);
    expect(problems[0]).toContain('stored length, SHA-256, length');
  });

  it.each<[string, Partial<Outcome>]>([
    ['hash', { sha256: 'e'.repeat(64) }],
    ['length', { bytes: 1 }],
    ['stored length', { storedBytes: 1 }],
    ['time', { fetchedAt: '2026-11-20T09:00:02.000Z' }],
    ['state', { state: 'Failed' }],
    ['media type', { mediaType: 'text/html' }],
  ])('a replaced record with another %s contradicts the object', async (_, altered) => {
    await alterRecord((outcomes) => outcomes.map((o) => (o.key === keyOf('log') ? { ...o, ...altered } : o)));
    const { code, kinds } = await verify();
    expect([code, kinds]).toEqual([1, [`contradiction ${keyOf('log')}`]]);
  });

  it('a replaced record that keeps quiet about an object leaves it unrecorded', async () => {
    await alterRecord((outcomes) => outcomes.filter(({ key }) => key !== keyOf('log')), {
      counts: { archived: 3, alreadyArchived: 0, failed: 0, notAttempted: 0 },
    });
    expect((await verify()).kinds).toEqual([`contradiction ${recordKey}`, `unrecorded ${keyOf('log')}`]);
  });

  it('a replaced record that calls an archived object failed does not add up', async () => {
    await alterRecord((outcomes) =>
      outcomes.map((o) => (o.key === keyOf('log') ? { cluster: 'alpha', resource: 'log', outcome: 'failed' } : o)),
    );
    const { kinds, problems } = await verify();
    expect(kinds).toEqual([
      `contradiction ${recordKey}`,
      `contradiction ${recordKey}`,
      `contradiction ${recordKey}`,
      `unrecorded ${keyOf('log')}`,
    ]);
    expect(problems.slice(0, 3)).toEqual([
      'it counts 4 archived and lists 3',
      'it counts 0 failed and lists 1',
      'it says complete, and its outcomes say otherwise',
    ]);
  });

  it('a replaced record of another collector contradicts its objects', async () => {
    await alterRecord((outcomes) => outcomes, { collectorVersion: '9.9.9' });
    const { problems } = await verify();
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain('version of the collector');
  });

  it('a record that is none is damaged, and all it should have recorded is unrecorded', async () => {
    await writeFile(pathOf(recordKey), 'no record');
    const { code, kinds } = await verify();
    expect(code).toBe(1);
    expect(kinds[0]).toBe(`damaged ${recordKey}`);
    expect([...kinds.slice(1)].sort()).toEqual(
      clusters.flatMap((c) => (['log', 'manifest'] as const).map((r) => `unrecorded ${keyOf(r, c)}`)).sort(),
    );
  });

  it('a record that was removed leaves a gap', async () => {
    await archive.attempt({ run: hour(9), attempt: 2, clusters, answer: () => ({ alreadyArchived: 'with hash' }) });
    expect((await verify()).kinds).toEqual([]);
    await rm(pathOf(recordKey));
    expect((await verify()).kinds).toEqual([`missing ${recordKey}`]);
  });

  it('two attempts that both archived one object contradict each other', async () => {
    await archive.putRecord({ ...record, attempt: 2 });
    const { problems } = await verify();
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain('attempts 1 and 2 both say they archived');
  });

  it('where no record has a hash, the metadata of the object serves', async () => {
    await archive.attempt({ run: hour(9), clusters, answer: () => ({ alreadyArchived: 'without hash' }) });
    expect(await verify()).toMatchObject({ code: 0, result: { sound: 8 } });
    const bytes = gzipSync('another content');
    await archive.put(keyOf('log'), bytes, (await archive.store.head(keyOf('log')))?.userMetadata ?? {});
    expect((await verify()).kinds).toEqual([`damaged ${keyOf('log')}`]);
  });

  it('an object without metadata, or with that of another, is damaged', async () => {
    await archive.put(keyOf('log'), await readFile(pathOf(keyOf('log'))), {});
    const metadata = (await archive.store.head(keyOf('manifest', 'beta')))?.userMetadata ?? {};
    await archive.put(keyOf('manifest'), await readFile(pathOf(keyOf('manifest', 'beta'))), metadata);
    const { kinds, problems } = await verify();
    expect(kinds).toEqual([`damaged ${keyOf('log')}`, `damaged ${keyOf('manifest')}`]);
    expect(problems).toEqual(['its metadata is absent or malformed', 'its key says cluster alpha, its metadata beta']);
  });

  it('an object of a cluster that no record knows is unrecorded, and so is a key that is none', async () => {
    const planted = keyOf('log', 'planted', hour(8));
    await archive.put(planted, gzipSync('x'), {});
    await archive.put('manifests/readme.txt', Buffer.from('x'), {});
    await archive.put('runs/readme.txt', Buffer.from('x'), {});
    expect([...(await verify()).kinds].sort()).toEqual([
      `unrecorded ${planted}`,
      'unrecorded manifests/readme.txt',
      'unrecorded runs/readme.txt',
    ]);
  });

  it('an object just written may still get its record', async () => {
    await archive.put(keyOf('log', 'gamma'), gzipSync('x'), {});
    const args = ['verify', '--archive', archive.folder, '--json', '--to', '2026-11-20'];
    const { code, out } = await runCollector(args, { now: new Date() });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true, findings: [{ kind: 'pending', key: keyOf('log', 'gamma') }] });
  });

  it('only the period is looked at', async () => {
    await rm(pathOf(keyOf('log', 'beta', hour(8))));
    await rm(pathOf(keyOf('log', 'beta', hour(9))));
    expect((await verify('--from', '2026-11-20T08:30')).kinds).toEqual([`missing ${keyOf('log', 'beta')}`]);
    const early = await verify('--to', '2026-11-20T08:30');
    expect(early.kinds).toEqual([`missing ${keyOf('log', 'beta', hour(8))}`]);
    expect(early.result.runs).toBe(1);
  });

  describe('with a retention', () => {
    const at = (now: string, ...args: string[]) => runVerify(archive.folder, args, new Date(now));
    /** Clocks may differ by two hours. */
    const [before, after] = ['2026-11-29T06:00:01Z', '2026-11-29T06:00:02Z'];

    it('counts what the lifecycle has removed as expired, and as missing before its time', async () => {
      await rm(pathOf(keyOf('log', 'beta', hour(8))));
      expect(await at(after, '--retention-days', '9')).toMatchObject({ code: 0, result: { expired: 1 } });
      expect(await at(before, '--retention-days', '9')).toMatchObject({ code: 1, result: { expired: 0 } });
      expect(await at(after)).toMatchObject({ code: 1, result: { found: { missing: 1 } } });
    });

    it('does not excuse by its age what is damaged and still there', async () => {
      await truncate(pathOf(keyOf('log')), 30);
      expect(await at('2027-11-29T08:00:00Z', '--retention-days', '9')).toMatchObject({
        code: 1,
        result: { found: { damaged: 1 } },
      });
    });

    it('takes it from the configurations in the archive', async () => {
      const configuration = { retentionDays: 9 };
      archive = await ArchiveFixture.create();
      for (const at of [8, 9]) await archive.attempt({ run: hour(at), clusters, answer, configuration });
      await rm(pathOf(keyOf('log', 'beta', hour(8))));
      expect(await at(after)).toMatchObject({ code: 0, result: { expired: 1 } });
      expect(await at(before)).toMatchObject({ code: 1, result: { expired: 0 } });
      expect(await at(after, '--retention-days', '10')).toMatchObject({ code: 1, result: { expired: 0 } });
    });

    it('excuses nothing that is younger than the last configuration with it', async () => {
      archive = await ArchiveFixture.create();
      await archive.attempt({ run: hour(8), clusters, answer, configuration: { retentionDays: 9 } });
      await archive.attempt({ run: hour(12), clusters, answer });
      await rm(pathOf(keyOf('log', 'beta', hour(8))));
      expect(await at('2027-11-29T08:00:00Z')).toMatchObject({ code: 1, result: { found: { missing: 1 } } });
      // What was deployed behind the period counts too.
      expect(await at('2027-11-29T08:00:00Z', '--to', '2026-11-20T08:00')).toMatchObject({ code: 1 });
    });

    it('excuses a hash whose origin the lifecycle has removed with its record', async () => {
      archive = await ArchiveFixture.create();
      const configuration = { retentionDays: 9, clusters: clusters.map((uid) => ({ uid })) };
      const shard = { index: 0, count: 1 };
      await archive.attempt({ run: hour(8), shard, clusters, answer, configuration });
      const known: AttemptFixture['answer'] = () => ({ alreadyArchived: 'with hash' });
      await archive.attempt({ run: hour(8), clusters, answer: known, configuration, trigger: 'manual' });
      await rm(pathOf(runRecordKey({ run: hour(8), shard, attempt: 1 })));
      expect(await at(after)).toMatchObject({ code: 0, kinds: [] });
      expect(await at('2026-11-29T05:00:00Z')).toMatchObject({ code: 1, result: { found: { contradiction: 4 } } });
    });

    it('excuses an object whose run record the lifecycle has removed first', async () => {
      archive = await ArchiveFixture.create();
      for (const at of [8, 9])
        await archive.attempt({ run: hour(at), clusters, answer, configuration: { retentionDays: 9 } });
      await rm(pathOf(runRecordKey({ run: hour(8), attempt: 1 })));
      expect(await runVerify(archive.folder)).toMatchObject({ code: 0, result: { expired: 4, runs: 1 } });
      await rm(pathOf(recordKey));
      expect(await runVerify(archive.folder)).toMatchObject({ code: 3, kinds: [], result: { expired: 8, runs: 0 } });
    });
  });

  describe('with nothing to verify', () => {
    it('says so and exits with 3 for an empty archive', async () => {
      const empty = await ArchiveFixture.create();
      expect(await runVerify(empty.folder)).toMatchObject({ code: 3, result: { ok: false, runs: 0 } });
      const { code, out } = await runCollector(['verify', '--archive', empty.folder], { now: longAfter });
      expect([code, out]).toEqual([3, expect.stringContaining(`Nothing was verified: ${empty.folder} has no runs`)]);
    });

    it('says so and exits with 3 for a period without runs', async () => {
      const args = ['verify', '--archive', archive.folder, '--from', '2026-11-21'];
      const { code, out } = await runCollector(args, { now: longAfter });
      expect([code, out]).toEqual([
        3,
        expect.stringMatching(/^0 runs.*\nNot sealed.*\nNothing was verified: .* has no runs in this period/),
      ]);
      expect(out).not.toContain('Nothing is wrong');
    });
  });

  it('prints what was found and how much was read', async () => {
    await rm(pathOf(keyOf('log')));
    const { code, out } = await runCollector(['verify', '--archive', archive.folder], { now: longAfter });
    expect(code).toBe(1);
    expect(out).toMatch(/missing.*logs\/cluster=alpha.*it is not there/);
    expect(out).toContain('2 runs, 2 records, 7 objects sound');
    expect(out).toContain('Found: 1 missing.');
  });
});
