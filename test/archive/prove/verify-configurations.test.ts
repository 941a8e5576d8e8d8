import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { configurationKey, objectKey, runRecordKey } from '../../../archive/format/keys';
import { firstResources } from '../../../archive/format/resources';
import { ArchiveFixture, type AttemptFixture, hourly } from '../../cli/archive-fixture';
import { runVerify } from '../../cli/run-verify';

const run = new Date('2026-11-20T09:00:00Z');
const answer: AttemptFixture['answer'] = (cluster, resource) => ({ content: `${resource} of ${cluster}` });
const recordKey = runRecordKey({ run, attempt: 1 });

let archive: ArchiveFixture;
let key: string;

beforeEach(async () => {
  archive = await ArchiveFixture.create();
  const { configuration } = await archive.attempt({ run, clusters: ['a'], answer });
  key = configurationKey(configuration);
});

describe('a stored configuration', () => {
  it('that is not there is missing, once for all records that name it', async () => {
    await archive.attempt({ run: new Date('2026-11-20T10:00:00Z'), clusters: ['a'], answer });
    await rm(join(archive.folder, key));
    expect(await runVerify(archive.folder)).toMatchObject({ code: 1, kinds: [`missing ${key}`] });
  });

  it.each<[string, Buffer, string]>([
    ['other content', gzipSync('{"clusters":[]}'), 'its content does not have the SHA-256 that its key says'],
    ['no gzip', Buffer.from('{}'), 'it cannot be decompressed: incorrect header check'],
    [
      'something behind its content',
      Buffer.concat([gzipSync(JSON.stringify({ clusters: [{ uid: 'a' }], schedule: hourly })), Buffer.alloc(8)]),
      'something else follows its compressed content',
    ],
    [
      'a gigabyte of nothing',
      gzipSync(Buffer.alloc(65 * 1024 * 1024), { level: 1 }),
      'it is longer than 67108864 bytes',
    ],
  ])('with %s is damaged', async (_, bytes, problem) => {
    await archive.put(key, bytes, {});
    expect(await runVerify(archive.folder)).toMatchObject({ code: 1, kinds: [`damaged ${key}`], problems: [problem] });
  });

  it('with the right hash of what is not a configuration is damaged', async () => {
    const record = await archive.attempt({ run, clusters: ['a'], answer });
    const configuration = await archive.putConfiguration({ clusters: 'all' } as never);
    await archive.putRecord({ ...record, configuration });
    expect(await runVerify(archive.folder)).toMatchObject({
      code: 1,
      kinds: [`damaged ${configurationKey(configuration)}`],
      problems: ['it is not a valid configuration'],
    });
  });

  it('whose schedule cannot be read here is unreadable, which says nothing about it', async () => {
    const schedule = { ...hourly, timeZone: 'Europe/Nowhere' };
    await archive.attempt({ run, clusters: ['a'], answer, configuration: { schedule } });
    expect(await runVerify(archive.folder)).toMatchObject({ code: 3, result: { found: { unreadable: 1 } } });
    await archive.put(objectKey({ resource: 'log', cluster: 'a', run }), gzipSync('x'), {});
    expect(await runVerify(archive.folder)).toMatchObject({
      code: 1,
      result: { found: { unreadable: 1, damaged: 1 } },
    });
  });

  it('is verified if no record names it, because an attempt that was killed leaves none', async () => {
    const unused = configurationKey(await archive.putConfiguration({ clusters: [{ uid: 'b' }], schedule: hourly }));
    expect(await runVerify(archive.folder)).toMatchObject({ code: 0, kinds: [] });
    await archive.put(unused, gzipSync('{}'), {});
    expect(await runVerify(archive.folder)).toMatchObject({ code: 1, kinds: [`damaged ${unused}`] });
  });
});

describe('the headers of an object', () => {
  const log = objectKey({ resource: 'log', cluster: 'a', run });

  async function withHeaders(which: string, headers: object) {
    const { userMetadata = {} } = (await archive.store.head(which)) ?? {};
    await archive.put(which, await readFile(join(archive.folder, which)), userMetadata, headers);
    return runVerify(archive.folder);
  }

  it.each<[object, string]>([
    [{ contentType: 'text/html' }, 'its Content-Type is "text/html", the collector writes "application/json"'],
    [{ contentEncoding: 'br' }, 'its Content-Encoding is "br", the collector writes "gzip"'],
    [{ contentEncoding: undefined }, 'its Content-Encoding is not set, the collector writes "gzip"'],
  ])('that were changed to %p contradict it', async (headers, problem) => {
    expect(await withHeaders(log, headers)).toMatchObject({
      code: 1,
      kinds: [`contradiction ${log}`],
      problems: [problem],
    });
  });

  it('that were changed contradict a configuration and a run record too', async () => {
    expect((await withHeaders(key, { contentType: 'text/html' })).kinds).toEqual([`contradiction ${key}`]);
    expect((await withHeaders(recordKey, { contentEncoding: 'gzip' })).kinds).toContain(`contradiction ${recordKey}`);
  });

  it('may name how the object was sent, which not every copy of S3 takes away', async () => {
    expect((await withHeaders(log, { contentEncoding: 'aws-chunked,gzip' })).kinds).toEqual([]);
  });
});

describe('what lies where the archive has nothing', () => {
  it('is unrecorded, a folder once', async () => {
    for (const other of [
      'readme.txt',
      'backup/a',
      'backup/b',
      'backup/~/c',
      'logs-old/x',
      'logs.txt',
      'seals/00000001.jsonl',
    ])
      await archive.put(other, Buffer.from('x'), {});
    await archive.put('configurations/readme.txt', Buffer.from('x'), {});
    const { code, kinds } = await runVerify(archive.folder);
    expect(code).toBe(1);
    expect([...kinds].sort()).toEqual([
      'seal-broken seals/00000001.jsonl',
      'unrecorded backup/*',
      'unrecorded configurations/readme.txt',
      'unrecorded logs-old/*',
      'unrecorded logs.txt',
      'unrecorded readme.txt',
    ]);
  });

  it('is not looked for if only a period is verified', async () => {
    await archive.put('readme.txt', Buffer.from('x'), {});
    expect((await runVerify(archive.folder, ['--from', '2026-11-20'])).kinds).toEqual([]);
  });
});

describe('a run of the future', () => {
  it('contradicts itself, more than clocks differ', async () => {
    const verifiedAt = async (now: string) => (await runVerify(archive.folder, [], new Date(now))).kinds;
    expect(await verifiedAt('2026-11-20T07:00:00Z')).toEqual([]);
    expect(await verifiedAt('2026-11-20T06:59:00Z')).toEqual([
      `contradiction runs/date=2026-11-20/20261120T090000.000Z.*`,
    ]);
  });
});

describe('a hash that no attempt can have', () => {
  it('shows that a record was turned from archived into failed', async () => {
    const record = await archive.attempt({ run, clusters: ['a'], answer });
    await archive.attempt({ run, attempt: 2, clusters: ['a'], answer: () => ({ alreadyArchived: 'with hash' }) });
    const log = objectKey({ resource: 'log', cluster: 'a', run });
    await archive.putRecord({
      ...record,
      status: 'incomplete',
      counts: { archived: 1, alreadyArchived: 0, failed: 1, notAttempted: 0 },
      outcomes: record.outcomes.map((one) =>
        one.key === log ? { cluster: 'a', resource: 'log', outcome: 'failed', error: '503' } : one,
      ),
    });
    expect(await runVerify(archive.folder)).toMatchObject({
      code: 1,
      problems: [`attempt 2 has a hash of ${log}, and no attempt says that it archived it`],
    });
  });
});

it('a configuration that names no resources, of an earlier version, means the first two, however many there are now', async () => {
  const stored = JSON.parse(gunzipSync(await readFile(join(archive.folder, key))).toString());
  expect(stored.clusters).toEqual([{ uid: 'a' }]);
  expect(await runVerify(archive.folder)).toMatchObject({ code: 0, result: { sound: firstResources.length } });
});
