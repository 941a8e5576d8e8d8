import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { checksumText } from '../../../lambda/archive/archive-object';
import { FolderStore } from '../../../local/aws/store/folder-store';
import { Program } from '../../support/program';
import { admin, clientsOf } from './endpoint-setup';

let folder: string;
let endpoint: Program;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-aws-'));
});

afterEach(async () => {
  await endpoint.kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<string> {
  endpoint = new Program('test/local/aws/serve-endpoint.ts', [folder]);
  const { url } = await endpoint.message<{ url: string }>();
  return url;
}

/** Bytes that the endpoint holds. */
async function heldBytes(): Promise<number> {
  endpoint.child.send('memory');
  const { held } = await endpoint.message<{ held: number }>();
  return held;
}

describe('the endpoint in a process of its own', () => {
  it('shows no half object, whenever it is killed', async () => {
    const sizes = [10, 20_000, 3_000_000];
    const begun = new Set<string>();
    const sure = new Set<string>();
    let visible = new Set<string>();
    for (let round = 0; round < 8; round += 1) {
      const { s3 } = clientsOf(await start(), admin);
      const writes = Array.from({ length: 40 }, async (_, i) => {
        const Body = randomBytes(sizes[i % sizes.length] ?? 0);
        const sha256 = createHash('sha256').update(Body).digest('hex');
        const Key = `logs/cluster=${i % 5}/${round}-${i}`;
        begun.add(Key);
        await s3.send(new PutObjectCommand({ Bucket: 'archive', Key, Body, IfNoneMatch: '*', Metadata: { sha256 } }));
        sure.add(Key);
      });
      // Some objects are stored; the others are under way, each at another step.
      const some = Promise.race(writes.slice(round * 4, round * 4 + 8));
      const settled = Promise.allSettled(writes);
      await some;
      await endpoint.kill();
      s3.destroy();
      await settled;

      const store = new FolderStore(folder);
      visible = new Set();
      for await (const { key, size, etag, userMetadata } of store.list('')) {
        visible.add(key);
        const found = await store.get(key);
        const content = await buffer(found?.open() ?? Readable.from([]));
        const [md5, sha256] = ['md5', 'sha256'].map((name) => createHash(name).update(content).digest('hex'));
        expect([key, content.length, md5, { sha256 }]).toEqual([key, size, etag, userMetadata]);
      }
      expect([...sure].filter((key) => !visible.has(key))).toEqual([]);
    }
    // The last start removes what the killed processes left. Then every key that has no object can be written.
    const { s3 } = clientsOf(await start(), admin);
    expect(await readdir(join(folder, '.metadata-incoming'))).toEqual([]);
    expect(begun.size).toBe(8 * 40);
    expect(visible.size).toBeLessThan(begun.size);
    for (const Key of [...begun].filter((key) => !visible.has(key)))
      await s3.send(new PutObjectCommand({ Bucket: 'archive', Key, Body: 'x', IfNoneMatch: '*' }));
    s3.destroy();
  });

  it('holds no more memory for a large object than for a small one', async () => {
    const { s3 } = clientsOf(await start(), admin);
    const megabyte = randomBytes(2 ** 20);
    /** @returns the most that the endpoint holds while it receives an object of so many MiB and sends it back */
    const mostHeld = async (count: number) => {
      const [Bucket, Key] = ['archive', randomUUID()];
      const held: number[] = [];
      const parts = async function* () {
        for (let nth = 1; nth <= count; nth += 1) {
          // Nearly all of the others have been sent by now.
          if (nth === count) held.push(await heldBytes());
          yield megabyte;
        }
      };
      const ContentLength = count * megabyte.length;
      const ChecksumCRC32 = checksumText(
        Array(count)
          .fill(megabyte)
          .reduce((sum, part) => crc32(part, sum), 0),
      );
      await s3.send(new PutObjectCommand({ Bucket, Key, Body: Readable.from(parts()), ContentLength, ChecksumCRC32 }));
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      held.push(await heldBytes());
      let length = 0;
      for await (const chunk of (Body as Readable | undefined) ?? []) length += (chunk as Buffer).length;
      expect(length).toBe(ContentLength);
      return Math.max(...held);
    };
    const small = await mostHeld(10);
    expect((await mostHeld(100)) - small).toBeLessThan(50 * 2 ** 20);
    s3.destroy();
  });
});
