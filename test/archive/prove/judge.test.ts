import { nameOf } from '../../../archive/format/finding';
import { clusterPrefix, objectKey } from '../../../archive/format/keys';
import { checkObject } from '../../../archive/prove/check-object';
import { Expiry } from '../../../archive/prove/expiry';
import { judge } from '../../../archive/prove/judge';
import { SealChain } from '../../../archive/prove/seals/seal-chain';
import { SealedArchive } from '../../../archive/prove/seals/sealed-archive';
import { drain, type JudgedRun, type Slice } from '../../../archive/prove/world';
import type { ListedObject } from '../../../archive/read/archive-reader';
import { allClusters, clusterNames, clustersBetween, namedClusters } from '../../../archive/read/clusters';
import { StoredConfigurations } from '../../../archive/read/stored-configurations';
import { SealedWorld } from '../../lambda/audit/sealed-world';
import type { MemoryBucket } from './history/memory-bucket';

const now = new Date('2026-11-28T00:00:00.000Z');
const times = [20, 21, 22].map((day) => new Date(`2026-11-${day}T06:00:00.000Z`));
const [first = now, second = now] = times;

const put = (bucket: MemoryBucket, key: string) =>
  bucket.put({ key, content: Buffer.from('planted'), contentType: 'text/plain' }, second);
const keyOf = (cluster: string, run: Date) => objectKey({ resource: 'log', cluster, run });

let bucket: MemoryBucket;

beforeEach(async () => {
  const world = new SealedWorld();
  for (const time of times) await world.collect(time.toISOString());
  bucket = world.bucket;
});

interface Judged {
  readonly runs: readonly JudgedRun[];
  /** Kind and key. */
  readonly found: readonly string[];
  readonly read: readonly string[];
}

async function judged(slice: Partial<Slice>): Promise<Judged> {
  const found: string[] = [];
  const read: string[] = [];
  const clusters = allClusters(await clusterNames(bucket, (kind, key) => found.push(`${kind} ${key}`)));
  const runs: JudgedRun[] = [];
  const configurations = new StoredConfigurations(bucket);
  const chain = new SealChain({}, () => undefined);
  const world = {
    ...{ reader: bucket, concurrency: 4, now, settled: now, isBucket: true, check: checkObject, valid: new Map() },
    ...{ configurations, sealed: new SealedArchive(chain, {}) },
    expiry: new Expiry({ reader: bucket, configurations, chain, now }),
  };
  await drain(judge({ clusters, depth: 'content', ...slice }, world), (one) => {
    if ('finding' in one) found.push(nameOf(one.finding));
    else if ('run' in one) runs.push(one.run);
    else if ('object' in one) read.push(one.object.key);
  });
  return { runs, found: [...found, ...configurations.findings.map(nameOf)], read };
}

describe('a judgement of a slice', () => {
  it('finds nothing in what a collector left, and reads each object once', async () => {
    const { runs, found, read } = await judged({});
    expect(found).toEqual([]);
    expect(runs.map(({ run, isWhole, records }) => [run, isWhole, records])).toEqual(
      times.map((run) => [run, true, 1]),
    );
    expect([...read].sort()).toEqual([...bucket.keys('logs/'), ...bucket.keys('manifests/')]);
  });

  it('finds what no record names, of clusters that nobody knows too, and under keys of no archive', async () => {
    const planted = [
      keyOf('a', second),
      keyOf('zz', second),
      `${clusterPrefix('log', 'a')}junk`,
      'logs/junk',
      'logs/x/y',
    ];
    bucket.objects.delete(bucket.keys('runs/')[1] ?? '');
    for (const key of planted) put(bucket, key);
    const left = [...bucket.keys('logs/'), ...bucket.keys('manifests/')].filter(
      (key) => planted.includes(key) || key.includes('2026-11-21'),
    );
    expect([...(await judged({})).found].sort()).toEqual(left.map((key) => `unrecorded ${key}`).sort());
  });

  it('tells what is missing from the listing alone, after opening it once', async () => {
    const gone = keyOf('b', second);
    bucket.objects.delete(gone);
    const { found, read } = await judged({ depth: 'names' });
    expect([found, read]).toEqual([[`missing ${gone}`], []]);
    // One that came after the listing is there.
    const late = bucket.copy();
    const list = bucket.list.bind(bucket);
    put(bucket, gone);
    bucket.list = async function* (prefix: string, after?: string): AsyncGenerator<ListedObject> {
      for await (const object of list(prefix, after)) if (object.key !== gone) yield object;
    };
    expect((await judged({ depth: 'names' })).found).toEqual([`damaged ${gone}`]);
    bucket = late;
  });

  it('of a slice says nothing of other clusters, and of a run nothing of other runs', async () => {
    for (const time of times) for (const cluster of ['a', 'b', 'c']) bucket.objects.delete(keyOf(cluster, time));
    const clusters = namedClusters(['b']);
    expect((await judged({ clusters })).found).toEqual(times.map((time) => `missing ${keyOf('b', time)}`));
    const { runs, found } = await judged({ clusters, from: second, to: second });
    expect([runs.length, found]).toEqual([1, [`missing ${keyOf('b', second)}`]]);
    const names = await clusterNames(bucket, () => undefined);
    const parts = [
      clustersBetween(names, undefined, 'b'),
      clustersBetween(names, 'b', 'c'),
      clustersBetween(names, 'c'),
    ];
    const found3 = await Promise.all(parts.map(async (part) => (await judged({ clusters: part })).found.length));
    expect(found3).toEqual([3, 3, 3]);
  });

  it('cannot tell what a run lacks if one of its records or its configuration cannot be read', async () => {
    const [record = ''] = bucket.keys('runs/');
    bucket.refused.add(record);
    const whole = async () => (await judged({ to: first })).runs.map(({ isWhole, isUnread }) => [isWhole, isUnread]);
    expect(await whole()).toEqual([[false, true]]);
    bucket.refused.clear();
    bucket.objects.delete(bucket.keys('configurations/')[0] ?? '');
    expect(await whole()).toEqual([[false, false]]);
  });
});
