import { clusterPrefix, objectKey } from '../../../archive/format/keys';
import type { ListedObject } from '../../../archive/read/archive-reader';
import { keysOfCluster } from '../../../archive/read/objects-between';
import type { Period } from '../../../archive/read/run-keys';
import { MemoryBucket } from '../prove/history/memory-bucket';

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

const hours = Array.from({ length: 5000 }, (_, at) => at);
const keyAt = (at: number, cluster = 'b b') => objectKey({ resource: 'log', cluster, run: hour(at) });
const strays = ['first', 'date=2026-12-01/junk', 'zoo'].map((name) => `${clusterPrefix('log', 'b b')}${name}`);
const keys = [...hours.map((at) => keyAt(at)), ...strays];

function bucketOf(own: readonly string[]): CountedBucket {
  const bucket = new CountedBucket();
  for (const key of own) bucket.put({ key, content: Buffer.from(''), contentType: '' }, new Date(0));
  return bucket;
}

async function keysOf(reader: CountedBucket, period: Period): Promise<string[]> {
  const found: string[] = [];
  for await (const { listed } of keysOfCluster(reader, 'log', 'b b', period)) found.push(listed.key);
  return found;
}

describe('the keys of a cluster', () => {
  it('are those of a period, and nothing before and behind them is listed', async () => {
    const reader = bucketOf([...keys, keyAt(2001, 'a'), keyAt(2001, 'c')]);
    const found = await keysOf(reader, { from: hour(2000), to: hour(2009) });
    expect(found).toEqual(Array.from({ length: 10 }, (_, at) => keyAt(2000 + at)));
    expect(reader.handedOut).toBe(11);
  });

  it('are all found once by periods that follow each other, those that are not of an archive too', async () => {
    const reader = bucketOf(keys);
    const found = [
      ...(await keysOf(reader, { to: hour(700) })),
      ...(await keysOf(reader, { from: new Date(hour(700).getTime() + 1), to: hour(4000) })),
      ...(await keysOf(reader, { from: new Date(hour(4000).getTime() + 1) })),
    ];
    expect(found).toEqual([...keys].sort());
  });

  it('are all found up to the end of the year 9999', async () => {
    expect(await keysOf(bucketOf(keys), { to: new Date('9999-12-31T23:59:59.999Z') })).toEqual([...keys].sort());
  });
});
