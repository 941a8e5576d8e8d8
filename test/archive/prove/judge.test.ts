import type { Excusable, Finding } from '../../../archive/format/finding';
import { clusterPrefix, objectKey } from '../../../archive/format/keys';
import { type JudgedRun, judge } from '../../../archive/prove/judge';
import type { Stretch } from '../../../archive/prove/judge-context';
import { SealChain } from '../../../archive/prove/seals/seal-chain';
import { SealedArchive } from '../../../archive/prove/seals/sealed-archive';
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

async function judged(stretch: Partial<Stretch>, isRead: (key: string) => boolean = () => true): Promise<Judged> {
  const found: string[] = [];
  const read: string[] = [];
  const find = (kind: Finding['kind'], key: string) => void found.push(`${kind} ${key}`);
  const clusters = allClusters(await clusterNames(bucket, find));
  const runs: JudgedRun[] = [];
  const context = {
    reader: bucket,
    concurrency: 4,
    configurations: new StoredConfigurations(bucket, find),
    sealed: new SealedArchive(new SealChain({}, find), find, {}),
    now,
    isBucket: true,
    settled: now,
    find,
    findUnlessExpired: async ({ kind, key }: Excusable) => {
      find(kind, key);
      return true;
    },
    isRead: ({ key }: { readonly key: string }) => isRead(key),
    onObject: ({ key }: { readonly key: string }) => void read.push(key),
  };
  for await (const run of judge({ clusters, ...stretch }, context)) runs.push(run);
  return { runs, found, read };
}

describe('a judgement of a stretch', () => {
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
    const { found, read } = await judged({}, () => false);
    expect([found, read]).toEqual([[`missing ${gone}`], []]);
    // One that came after the listing is there.
    const late = bucket.copy();
    const list = bucket.list.bind(bucket);
    put(bucket, gone);
    bucket.list = async function* (prefix: string, after?: string): AsyncGenerator<ListedObject> {
      for await (const object of list(prefix, after)) if (object.key !== gone) yield object;
    };
    expect((await judged({}, () => false)).found).toEqual([`damaged ${gone}`]);
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
