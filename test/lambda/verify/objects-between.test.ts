import { objectKey } from '../../../lambda/archive/archive-layout';
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
const hours = Array.from({ length: 500 }, (_, at) => at);
const keys = [
  ...clusters.flatMap((cluster) =>
    hours.map((at) => objectKey({ resource: 'log', cluster, run: hour(at), compression: 'gzip' })),
  ),
  'logs/readme.txt',
].sort();

function bucketOf(own: readonly string[]): CountedBucket {
  const bucket = new CountedBucket();
  for (const key of own) bucket.put({ key, content: Buffer.from(''), contentType: '' }, new Date(0));
  return bucket;
}

describe('the objects of a period', () => {
  it.each([1, 7, 1000])('are all found, with every key of no archive, with a patience of %d', async (patience) => {
    const reader = bucketOf(keys);
    const found: string[] = [];
    for await (const { key } of objectsBetween(reader, 'log', { from: hour(200), to: hour(209) }, patience))
      found.push(key);
    expect(found).toEqual(keys.filter((key) => key.endsWith('.txt') || isBetween(key)));
    expect(found).toHaveLength(31);
  });

  it('are found without listing what lies outside it', async () => {
    const reader = bucketOf(keys);
    for await (const _ of objectsBetween(reader, 'log', { from: hour(200), to: hour(209) }, 10));
    expect(reader.handedOut).toBeLessThan(clusters.length * 45);
  });

  it('are found in one listing if it has no ends', async () => {
    const reader = bucketOf(keys);
    let count = 0;
    for await (const _ of objectsBetween(reader, 'log', {}, 10)) count += 1;
    expect([count, reader.handedOut]).toEqual([keys.length, keys.length]);
  });
});

function isBetween(key: string): boolean {
  const stamp = /(\d{8}T\d{6}\.\d{3}Z)/.exec(key)?.[1] ?? '';
  return stamp >= '20261109T080000.000Z' && stamp <= '20261109T170000.000Z';
}
