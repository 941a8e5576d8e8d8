import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runRecordKey } from '../../../archive/format/keys';
import type { Outcome, RunRecord } from '../../../archive/format/run-record';
import { ArchiveFixture, hour } from '../../cli/archive-fixture';
import { runCollector } from '../../cli/run-collector';
import { archiveTwoRuns, twoClusters as clusters, keyAt, runVerify } from '../../cli/run-verify';

let archive: ArchiveFixture;
let record: RunRecord;

beforeEach(async () => {
  ({ archive, record } = await archiveTwoRuns());
});

const late = 'another answer of the same attempt belongs to another cluster';

describe('verify finds what was changed', () => {
  const verify = () => runVerify(archive.folder);
  const recordKey = runRecordKey({ run: hour(9), attempt: 1 });
  const pathOf = (key: string) => join(archive.folder, key);

  /** Replaces the record of the second run by an altered one. */
  async function alterRecord(alter: (outcomes: Outcome[]) => Outcome[], more: Partial<RunRecord> = {}) {
    await archive.putRecord({ ...record, ...more, outcomes: alter(structuredClone([...record.outcomes])) });
  }

  it('one flipped bit, wherever it is, is damage', async () => {
    const key = keyAt('log');
    const sound = await readFile(pathOf(key));
    // All of the header, the trailer, and some between.
    for (const at of [0, 3, 4, 8, 9, 10, 25, sound.length >> 1, sound.length - 5, sound.length - 1]) {
      const bytes = Buffer.from(sound);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      await writeFile(pathOf(key), bytes);
      expect([at, (await verify()).kinds]).toEqual([at, [`damaged ${key}`]]);
    }
  });

  it('compressed nothing behind the content is known by the record alone, which knows how long the object was', async () => {
    const key = keyAt('manifest');
    const { userMetadata = {} } = (await archive.store.head(key)) ?? {};
    await archive.put(key, Buffer.concat([await readFile(pathOf(key)), gzipSync('')]), userMetadata);
    expect((await verify()).kinds).toEqual([`contradiction ${key}`]);
  });

  it('another content that agrees with itself contradicts the record', async () => {
    const other = await ArchiveFixture.create();
    await other.attempt({ run: hour(9), clusters: ['alpha'], answer: () => ({ content: 'kind: Forged\n' }) });
    const key = keyAt('manifest');
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
    ['media type, which says nothing', { mediaType: undefined }],
    ['media type', { mediaType: 'text/html' }],
    ['doubt', { doubt: 'it has the member error' }],
    ['text', { logSha256: 'ab'.repeat(32) }],
  ])('a replaced record with another %s contradicts the object', async (_, altered) => {
    await alterRecord((outcomes) => outcomes.map((o) => (o.key === keyAt('log') ? { ...o, ...altered } : o)));
    const { code, kinds } = await verify();
    expect([code, kinds]).toEqual([1, [`contradiction ${keyAt('log')}`]]);
  });

  it.each([
    ['alone', undefined, late, []],
    ['behind the doubt of the object', 'it has the member error', `it has the member error; ${late}`, []],
    ['that was known in time', `it has the member error; ${late}`, `it has the member error; ${late}`, []],
    ['in the object alone', late, undefined, ['contradiction']],
    ['behind another doubt than the object has', 'it has the member error', late, ['contradiction']],
  ])('a doubt that came late, %s, is %s of the object and %s of the record', async (_, own, recorded, found) => {
    const key = keyAt('log');
    const { userMetadata = {} } = (await archive.store.head(key)) ?? {};
    const doubt: Record<string, string> = own === undefined ? {} : { doubt: encodeURIComponent(own) };
    await archive.put(key, await readFile(pathOf(key)), { ...userMetadata, ...doubt });
    await alterRecord((outcomes) => outcomes.map((o) => (o.key === key ? { ...o, doubt: recorded } : o)));
    expect((await verify()).kinds).toEqual(found.map((kind) => `${kind} ${key}`));
  });

  it('a replaced record that calls an archived object failed does not add up', async () => {
    await alterRecord((outcomes) =>
      outcomes.map((o) => (o.key === keyAt('log') ? { cluster: 'alpha', resource: 'log', outcome: 'failed' } : o)),
    );
    const { kinds, problems } = await verify();
    expect(kinds).toEqual([`contradiction ${recordKey}`, `unrecorded ${keyAt('log')}`]);
    expect(problems[0]).toBe(
      'it counts 4 archived and lists 3; it counts 0 failed and lists 1; it says complete, and its outcomes say otherwise',
    );
  });

  it('a replaced record that gives an object the key of another contradicts itself', async () => {
    const key = keyAt('log', 'beta');
    await alterRecord((outcomes) => outcomes.map((o) => (o.key === keyAt('log') ? { ...o, key } : o)));
    expect((await verify()).problems).toContain('with the key of another object: 1 (log of cluster alpha)');
  });

  it('a replaced record of another collector contradicts its objects', async () => {
    await alterRecord((outcomes) => outcomes, { collectorVersion: '9.9.9' });
    const { problems } = await verify();
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain('version of the collector');
  });

  it.each<[string, Partial<RunRecord>]>([
    ['before it started', { startedAt: '2026-11-20T11:01:00.000Z', finishedAt: '2026-11-20T11:02:00.000Z' }],
    ['after it finished', { startedAt: '2026-11-20T06:58:00.000Z', finishedAt: '2026-11-20T06:59:00.000Z' }],
  ])('a record that archived what was fetched %s contradicts itself', async (_, times) => {
    await alterRecord((outcomes) => outcomes, times);
    const { kinds, problems } = await verify();
    expect(kinds).toEqual([`contradiction ${recordKey}`]);
    expect(problems[0]).toContain('fetched before it started, or after it finished: 4 (log of cluster alpha, ');
  });

  it('a record of a longer attempt than the function may run contradicts itself', async () => {
    const took = (minutes: number) =>
      alterRecord((outcomes) => outcomes, { finishedAt: new Date(hour(9).getTime() + minutes * 60_000).toISOString() });
    await took(136);
    expect((await verify()).kinds).toEqual([`contradiction ${recordKey}`]);
    expect((await verify()).problems).toEqual(['it took longer than the function may run']);
    await took(134);
    expect((await verify()).kinds).toEqual([]);
  });

  it('a file that is not a record is damaged, and all it should have recorded is unrecorded', async () => {
    await writeFile(pathOf(recordKey), 'no record');
    const { code, kinds } = await verify();
    expect(code).toBe(1);
    expect(kinds[0]).toBe(`damaged ${recordKey}`);
    expect([...kinds.slice(1)].sort()).toEqual(
      clusters.flatMap((c) => (['log', 'manifest'] as const).map((r) => `unrecorded ${keyAt(r, c)}`)).sort(),
    );
  });

  it('a record that one attempt wrote twice, because nobody told it that the first is stored, is not a contradiction', async () => {
    await archive.putRecord({ ...record, attempt: 2 });
    await archive.putRecord({ ...record, attempt: 3 });
    expect(await verify()).toMatchObject({ code: 0, kinds: [], result: { records: 4, sound: 8 } });
  });

  it.each<[string, (own: RunRecord) => Partial<RunRecord>, number]>([
    ['another invocation', () => ({ invocation: 'another' }), 4],
    [
      'another outcome',
      ({ outcomes: [first, ...rest] }) => ({ outcomes: [{ ...first, durationMs: 77 } as Outcome, ...rest] }),
      4,
    ],
    ['one outcome less', ({ outcomes }) => ({ outcomes: outcomes.slice(0, -1) }), 3],
  ])('one that has %s than the other does contradict it', async (_, alter, count) => {
    await archive.putRecord({ ...record, attempt: 2, ...alter(record) });
    const { problems } = await verify();
    expect(problems.join().match(/attempts 1 and 2 both say they archived/g) ?? []).toHaveLength(count);
  });

  it('where no record has a hash, the metadata of the object serves', async () => {
    await archive.attempt({ run: hour(9), clusters, answer: () => ({ alreadyArchived: 'without hash' }) });
    expect(await verify()).toMatchObject({ code: 0, result: { sound: 8 } });
    const bytes = gzipSync('another content');
    await archive.put(keyAt('log'), bytes, (await archive.store.head(keyAt('log')))?.userMetadata ?? {});
    expect((await verify()).kinds).toEqual([`damaged ${keyAt('log')}`]);
  });

  it.each([
    ['log-length', { logLength: 7 }],
    ['log-lines', { logLines: 7 }],
    ['log-sha256', { logSha256: 'ab'.repeat(32) }],
  ] as const)('a %s that is not that of the text contradicts it', async (name, wrong) => {
    const key = keyAt('log');
    const { userMetadata = {} } = (await archive.store.head(key)) ?? {};
    await archive.put(key, await readFile(pathOf(key)), { ...userMetadata, [name]: `${Object.values(wrong)[0]}` });
    await alterRecord((outcomes) => outcomes.map((one) => (one.key === key ? { ...one, ...wrong } : one)));
    const { code, kinds, problems } = await verify();
    expect([code, kinds]).toEqual([1, [`contradiction ${key}`]]);
    expect(problems).toEqual(['its log is not the one that its metadata says']);
  });

  it('an object without metadata, or with that of another, is damaged', async () => {
    await archive.put(keyAt('log'), await readFile(pathOf(keyAt('log'))), {});
    const metadata = (await archive.store.head(keyAt('manifest', 'beta')))?.userMetadata ?? {};
    await archive.put(keyAt('manifest'), await readFile(pathOf(keyAt('manifest', 'beta'))), metadata);
    const { kinds, problems } = await verify();
    expect(kinds).toEqual([`damaged ${keyAt('log')}`, `damaged ${keyAt('manifest')}`]);
    expect(problems).toEqual(['its metadata is absent or malformed', 'its key says cluster alpha, its metadata beta']);
  });

  it('an object just written may still get its record', async () => {
    await archive.put(keyAt('log', 'gamma'), gzipSync('x'), {});
    const args = ['verify', '--archive', archive.folder, '--json', '--to', '2026-11-20'];
    const { code, out } = await runCollector(args, { now: new Date() });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true, findings: [{ kind: 'pending', key: keyAt('log', 'gamma') }] });
  });
});
