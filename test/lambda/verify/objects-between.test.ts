import { objectKey, stampOf } from '../../../lambda/archive/archive-layout';
import type { ListedObject } from '../../../lambda/verify/archive-reader';
import { objectsBetween } from '../../../lambda/verify/objects-between';
import { MemoryBucket } from './history/memory-bucket';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 1, at));

/** It counts the objects that it lists. */
class CountedBucket extends MemoryBucket {
  handedOut = 0;

  override async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    for await (const object of super.list(prefix, after)) {
      this.handedOut += 1;
      yield object;
    }
  }
}

const clusters = ['a', 'b b', 'c'];
const hours = Array.from({ length: 5000 }, (_, at) => at);
const keys = [
  ...clusters.flatMap((cluster) => hours.map((at) => objectKey({ resource: 'log', cluster, run: hour(at) }))),
  'logs/readme.txt',
].sort();

function bucketOf(own: readonly string[]): CountedBucket {
  const bucket = new CountedBucket();
  for (const key of own) bucket.put({ key, content: Buffer.from(''), contentType: '' }, new Date(0));
  return bucket;
}

describe('the objects of a period', () => {
  it('are all found, with every key of no archive, without listing all that lies outside it', async () => {
    const reader = bucketOf(keys);
    const found: string[] = [];
    for await (const { key } of objectsBetween(reader, 'log', { from: hour(2000), to: hour(2009) })) found.push(key);
    const stamps = Array.from({ length: 10 }, (_, at) => stampOf(hour(2000 + at)));
    expect(found).toEqual(keys.filter((key) => key.endsWith('.txt') || stamps.some((stamp) => key.includes(stamp))));
    expect(found).toHaveLength(31);
    // One page before it, and one behind it.
    expect(reader.handedOut).toBeLessThan(clusters.length * 2020);
  });

  it('are found in one listing if it has no ends', async () => {
    const reader = bucketOf(keys);
    let count = 0;
    for await (const _ of objectsBetween(reader, 'log', {})) count += 1;
    expect([count, reader.handedOut]).toEqual([keys.length, keys.length]);
  });
});
