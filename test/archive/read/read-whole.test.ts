import { once } from 'node:events';
import { createServer } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { ArchiveReadError } from '../../../archive/read/archive-reader';
import { readObject, readWhole } from '../../../archive/read/read-whole';
import { S3ArchiveReader } from '../../../archive/read/s3-archive-reader';
import { listenLocally } from '../../../local/listen-locally';
import { MemoryBucket } from '../prove/history/memory-bucket';

/** Reads an object of four bytes. @param storedBytes as the bucket says it */
async function read(mostBytes: number, storedBytes = 4): Promise<string | undefined> {
  const bucket = new MemoryBucket();
  bucket.put({ key: 'key', content: Buffer.from('four'), contentType: 'text/plain' }, new Date(0));
  const object = await bucket.open('key');
  Object.assign(bucket, { open: async () => ({ ...object, storedBytes }) });
  return (await readWhole(bucket, 'key', mostBytes))?.bytes.toString();
}

it('an object is read whole up to a limit, and up to the length that it was said to have', async () => {
  expect(await read(4)).toBe('four');
  await expect(read(3)).rejects.toThrow('it is longer than 3 bytes');
  await expect(read(4, 3)).rejects.toThrow('it is longer than it was said to be');
});

it.each([
  ['three times', 'Reading key failed: reset', false, 3],
  ['once if that will not change', 'reset', true, 1],
])('an object that breaks off is read %s', async (_, message, isLasting, times) => {
  const bucket = new MemoryBucket();
  bucket.put({ key: 'key', content: Buffer.from('four'), contentType: 'text/plain' }, new Date(0));
  let count = 0;
  const read = async () => {
    count += 1;
    throw new ArchiveReadError('reset', { isLasting });
  };
  await expect(readObject(bucket, 'key', 4, read)).rejects.toMatchObject({ name: 'ArchiveReadError', message });
  expect(count).toBe(times);
});

it.each([
  ['with a checksum, as S3 sends it', { 'x-amz-checksum-crc32': 'AAAAAA==' }],
  ['without a checksum', {}],
])('an object of S3 that is longer than wanted is not read, and its connection is given up (%s)', async (_, headers) => {
  let givenUp: Promise<unknown> = Promise.resolve();
  const server = await listenLocally(
    createServer((_request, response) => {
      givenUp = once(response, 'close');
      response.writeHead(200, { 'content-length': 1e9, ...headers }).write('The first');
    }),
  );
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret' };
  const client = new S3Client({ endpoint: server.url, region: 'eu-central-1', credentials, forcePathStyle: true });
  const reading = readWhole(new S3ArchiveReader('archive', client), 'runs/one', 100);
  await expect(reading).rejects.toThrow('it is longer than 100 bytes');
  await givenUp;
  await server.close();
});
