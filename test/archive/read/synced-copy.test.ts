import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { GetObjectCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { objectKey, runPrefix, runRecordKey } from '../../../archive/format/keys';
import { type ArchiveFixture, hour, keyOf, logRecord } from '../../cli/archive-fixture';
import { runCollector } from '../../cli/run-collector';
import { longAfter, runVerify } from '../../cli/run-verify';
import { admin, clientsOf } from '../../local/aws/endpoint-setup';
import { newFolder } from '../../support/new-folder';
import { archiveToSync, inBucket, printedOf } from './synced-copy';

let archive: ArchiveFixture;
let copy: string;

/** What `aws s3 sync s3://BUCKET copy/` does: each key becomes a file, with the time of its object and nothing else. */
async function sync(): Promise<string> {
  const folder = newFolder();
  const aws = await inBucket(archive);
  const { s3: client } = clientsOf(aws.url, admin);
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: 'archive' }))
    for (const { Key = '', LastModified = new Date() } of Contents) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: 'archive', Key }));
      await mkdir(dirname(join(folder, Key)), { recursive: true });
      await writeFile(join(folder, Key), (await Body?.transformToByteArray()) ?? '');
      await utimes(join(folder, Key), LastModified, LastModified);
    }
  await aws.close();
  return folder;
}

beforeAll(async () => {
  archive = await archiveToSync();
});

beforeEach(async () => {
  copy = await sync();
});

describe('a copy without metadata, as "aws s3 sync" writes it', () => {
  it('is an archive of which every command says what it says of the archive', async () => {
    const expected = await printedOf(archive.folder);
    expect(Object.keys(expected).filter((line) => expected[line]?.code !== 0)).toEqual(['diff alpha']);
    const printed = await printedOf(copy);
    const { out = '' } = printed['verify --json'] ?? {};
    expect(JSON.parse(out)).toMatchObject({ withoutMetadata: 12 });
    printed['verify --json'] = { code: 0, out: out.replace('"withoutMetadata":12', '"withoutMetadata":0') };
    expect(printed).toEqual(expected);
  });

  it('is said by verify to be one, once', async () => {
    const { code, out } = await runCollector(['verify', '--archive', copy], { now: longAfter });
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('\n12 objects have no metadata here: contents were compared'),
    ]);
    expect(out.match(/metadata/g)).toHaveLength(1);
  });

  const manifest = keyOf('manifest', 'alpha', hour(9));
  const log = keyOf('log', 'alpha', hour(9));

  const behind = async (key: string) => Buffer.concat([await readFile(join(copy, key)), Buffer.from('more')]);
  const anew = async (key: string) => gzipSync(gunzipSync(await readFile(join(copy, key))), { level: 0 });

  it.each<[string, string, string, (key: string) => unknown]>([
    ['is not gzip', 'damaged', manifest, () => 'by hand'],
    ['is another', 'damaged', manifest, () => gzipSync('by: hand\n')],
    ['is another log', 'damaged', log, () => gzipSync(logRecord('alpha', 'other'))],
    ['is compressed anew', 'contradiction', log, anew],
    ['has something behind it', 'damaged', log, behind],
  ])('is judged by its run records: an object whose content %s', async (_, kind, key, changed) => {
    await writeFile(join(copy, key), (await changed(key)) as Buffer);
    expect(await runVerify(copy)).toMatchObject({ code: 1, kinds: [`${kind} ${key}`] });
    const show = ['show', 'alpha', '--resource', key === log ? 'log' : 'manifest', '--run', hour(9).toISOString()];
    expect((await runCollector([...show, '--archive', copy], { now: longAfter })).code).toBe(1);
  });

  it('does not make an object of a run out of any file', async () => {
    const key = objectKey({ resource: 'log', cluster: 'alpha', run: hour(7) });
    await writeFile(join(copy, key), gzipSync(logRecord('alpha', 'planted')));
    expect(await runVerify(copy)).toMatchObject({ code: 1, kinds: [`unrecorded ${key}`] });
  });
});

describe('a copy without metadata whose files have the time of the copying, as "cp -r" makes it', () => {
  // The fixture wrote all files now; its runs are older.
  const record = runRecordKey({ run: hour(9), attempt: 1 });
  const objects = ['alpha', 'beta/1 x'].flatMap((cluster) => [
    keyOf('log', cluster, hour(9)),
    keyOf('manifest', cluster, hour(9)),
  ]);

  const absent = `absent ${runPrefix(hour(9))}*`;

  beforeEach(() => rm(join(copy, record)));

  it('has no object of an old run that may still get its record', async () => {
    await rm(join(copy, 'seals'), { recursive: true });
    const { code, kinds } = await runVerify(copy, [], new Date());
    const unrecorded = objects.map((key) => `unrecorded ${key}`);
    expect([code, [...kinds].sort()]).toEqual([1, [absent, ...unrecorded].sort()]);
    const show = ['show', 'alpha', '--run', hour(9).toISOString(), '--archive', copy];
    expect((await runCollector(show, { now: new Date() })).err).toContain('unrecorded: ');
  });

  it('has what nothing vouches for where a sealed record is gone', async () => {
    const { code, kinds, unvouched } = await runVerify(copy, [], new Date());
    expect([code, kinds, [...unvouched].sort()]).toEqual([1, [`missing ${record}`, absent], [...objects].sort()]);
  });

  it('has an object of a run that may be under way', async () => {
    const run = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    const key = objectKey({ resource: 'manifest', cluster: 'alpha', run });
    await mkdir(dirname(join(copy, key)), { recursive: true });
    await writeFile(join(copy, key), gzipSync('of: now\n'));
    expect((await runVerify(copy, ['--from', run.toISOString()], new Date())).kinds).toEqual([`pending ${key}`]);
  });
});

it('an export holds its metadata in a folder that is visible', async () => {
  const out = join(newFolder(), 'part');
  await runCollector(['export', '--cluster', 'alpha', '--archive', archive.folder, '--out', out], { now: longAfter });
  expect((await readdir(out)).sort()).toEqual([
    'CHECK.md',
    'check_archive.py',
    'configurations',
    'logs',
    'manifests',
    'metadata',
    'runs',
    'seals',
    'seals-public-key.pem',
  ]);
});
