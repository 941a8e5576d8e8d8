import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CopyObjectCommand, CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mapConcurrently } from '../../archive/read/map-concurrently';
import { FolderStore } from '../../local/aws/store/folder-store';
import type { ArchiveFixture } from '../cli/archive-fixture';
import { healthy, runAt } from '../cli/operator-archive';
import { runCollector } from '../cli/run-collector';
import type { SealFixture } from '../cli/seal-fixture';
import { sealedOperatorArchive } from '../cli/sealed-operator-archive';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { newFolder } from '../support/new-folder';

const command = findCommand('moto_server');

/** The rehearsal of docs/keeping.md, with two buckets: what S3 would replicate is copied one by one. */
(command === undefined ? describe.skip : describe)('reading the copy in moto (skipped without moto_server)', () => {
  const folder = newFolder();
  const former = { ...process.env };
  let moto: MotoServer;
  let archive: ArchiveFixture;
  let seals: SealFixture;

  beforeAll(async () => {
    moto = await startMoto(command ?? '');
    ({ archive, seals } = await sealedOperatorArchive());
    const region = 'us-east-1';
    Object.assign(process.env, {
      ...{ AWS_ENDPOINT_URL: moto.url, AWS_REGION: region, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' },
    });
    const s3 = new S3Client({ endpoint: moto.url, region, forcePathStyle: true });
    for (const Bucket of ['archive', 'copies']) await s3.send(new CreateBucketCommand({ Bucket }));
    const store = new FolderStore(archive.folder);
    const keys: string[] = [];
    for await (const { key } of store.list('')) keys.push(key);
    for await (const _ of mapConcurrently(keys, 16, async (Key) => {
      const object = await store.get(Key);
      if (object === undefined) throw new Error(`${Key} is gone`);
      const { contentType, contentEncoding, userMetadata } = object.metadata;
      const headers = { ContentType: contentType, ContentEncoding: contentEncoding, Metadata: userMetadata };
      await s3.send(new PutObjectCommand({ Bucket: 'archive', Key, Body: await buffer(object.open()), ...headers }));
      await s3.send(new CopyObjectCommand({ Bucket: 'copies', Key, CopySource: encodeURI(`archive/${Key}`) }));
    }));
  }, 300_000);
  afterAll(async () => {
    process.env = former;
    await moto.stop();
  });

  const run = (from: string, ...args: string[]) => runCollector([...args, '--archive', from], { now: runAt(60) });
  const copy = 's3://copies';

  it('finds what reading the archive itself finds, against the public key that was kept', async () => {
    const key = join(folder, 'seals-public-key.pem');
    writeFileSync(key, seals.publicKey);
    const [inCopy, inFolder] = [
      await run(copy, 'verify', '--public-key', key),
      await run(archive.folder, 'verify', '--public-key', key),
    ];
    expect(inCopy.out).toContain('Signatures were checked with the keys given.');
    // moto's clock is later than the fixture's: one more run was due.
    const facts = ({ out }: typeof inCopy) => [...out.matchAll(/\d+ (?:missing|runs|records|objects sound)/g)].join();
    expect(facts(inCopy)).toBe(facts(inFolder));
  });

  it.each([
    ['show', healthy, '--run', runAt(5).toISOString()],
    ['show', healthy, '--resource', 'log', '--raw', '--run', runAt(5).toISOString()],
  ])('restores one cluster: %j', async (...args: string[]) => {
    const { out } = await run(copy, ...args);
    expect(out).not.toBe('');
    expect(out).toBe((await run(archive.folder, ...args)).out);
  });
});
