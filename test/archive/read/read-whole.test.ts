import { ArchiveReadError } from '../../../archive/read/archive-reader';
import { readObject, readWhole } from '../../../archive/read/read-whole';
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
