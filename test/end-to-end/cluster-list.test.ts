import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { configurationKey } from '../../archive/format/keys';
import { resourceNames } from '../../archive/format/resources';
import type { RunRecord } from '../../archive/format/run-record';
import { FolderStore } from '../../local/aws/store/folder-store';
import type { InvocationResult } from '../../local/deployment/execution-environment';
import { newFolder } from '../support/new-folder';
import { type DeployedCollector, LocalCollector, useLocalCollector } from './local-collector';

const from = 's3://inventory/fleet/clusters.json';
const key = 'fleet/clusters.json';
const fleet = Array.from({ length: 12 }, (_, index) => `c-${String(index).padStart(2, '0')}`);

let folder: string;
let hour: number;
beforeEach(() => {
  folder = newFolder();
  hour = 0;
});

async function write(list: unknown): Promise<void> {
  const body = Buffer.isBuffer(list) ? list : Buffer.from(typeof list === 'string' ? list : JSON.stringify(list));
  await new FolderStore(folder).put(key, body, { contentType: 'application/json' });
}

const deployed = (local: LocalCollector) => local.deploy({ otherBuckets: [{ name: 'inventory', folder }] });

const event = (): object => ({ scheduledTime: `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z` });

/** The next hourly run, by one attempt. */
async function run(collector: DeployedCollector, more: object = {}): Promise<InvocationResult & { record: RunRecord }> {
  hour += 1;
  const result = await collector.invoke({ ...event(), ...more });
  return { ...result, record: (await collector.records()).at(-1) as RunRecord };
}

const strangers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ uid: `s-${from}-${at}`, optional: true }));

const clustersOf = ({ outcomes }: RunRecord) => [...new Set(outcomes.map(({ cluster }) => cluster))].sort();

describe('a list of clusters from outside', () => {
  const local = useLocalCollector({ clusters: { from, maxAgeHours: 30 } });

  it('is what an attempt collects; its run record names it, and the configuration with it', async () => {
    const collector = await deployed(local);
    await write([...fleet, { uid: 'c-12', resources: ['log'], optional: true }]);
    const { error, record } = await run(collector);
    expect(error).toBeUndefined();
    expect(clustersOf(record)).toEqual([...fleet, 'c-12']);
    expect(record.clusterList).toEqual({
      from,
      sha256: createHash('sha256')
        .update(readFileSync(join(folder, key)))
        .digest('hex'),
      modifiedAt: expect.stringMatching(/Z$/),
      isInForce: true,
    });
    const stored = gunzipSync(readFileSync(join(collector.folder, configurationKey(record.configuration))));
    expect(createHash('sha256').update(stored).digest('hex')).toBe(record.configuration);
    expect(JSON.parse(stored.toString()).clusters).toHaveLength(13);
  });

  it('that is wrong replaces nothing: what is in force is collected, and then the attempt fails, and says since when', async () => {
    const collector = await deployed(local);
    await write(fleet);
    const { record: first } = await run(collector);
    const wrong: [list: unknown, why: string][] = [
      [undefined, 'it cannot be read, or does not exist: Reading fleet/clusters.json in s3://inventory failed: 403'],
      ['[', 'it is not JSON in UTF-8'],
      [{ clusters: ['c-00'] }, 'it is not valid: it is not a list of clusters'],
      [`[${'0,'.repeat(1_000_000)}0]`, 'no run can finish its 1000001 clusters: at most 513000'],
      // As many as one run could finish: each of them is wrong, and judging stops at fifty.
      [`[${'0,'.repeat(500_000)}0]`, '… and what stands behind them, which was not looked at'],
      [[...fleet, 'c-99\nc-98'], 'expected a uid without control characters'],
      [Buffer.alloc(64 * 1024 * 1024 + 1, 32), 'it is longer than 67108864 bytes'],
    ];
    const since = new Set<string | undefined>();
    for (const [list, why] of wrong) {
      if (list === undefined) await new FolderStore(folder).delete(key);
      else await write(list);
      const { error, record } = await run(collector);
      expect(error?.errorType).toBe('ClusterListError');
      expect(error?.errorMessage).toContain(why);
      expect(error?.errorMessage).not.toMatch(/complete/i);
      expect(record).toMatchObject({ status: 'complete', clusterList: { isInForce: false } });
      expect(record.clusterList?.problem).toContain(why);
      expect(clustersOf(record)).toEqual(fleet);
      expect(record.configuration).toBe(first.configuration);
      since.add(record.clusterList?.since);
    }
    expect([...since]).toEqual(['2026-11-20T02:00:00.000Z']);
  });

  it('that is older than maxAgeHours replaces nothing', async () => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    await write(['another', ...fleet]);
    const description = join(folder, 'metadata', `${key}.json`);
    const lastModified = new Date(Date.now() - 31 * 3_600_000).toISOString();
    writeFileSync(description, JSON.stringify({ ...JSON.parse(readFileSync(description, 'utf8')), lastModified }));
    const { error, record } = await run(collector);
    expect(error?.errorMessage).toContain('it is 31 hours old, and at most 30 are allowed');
    expect(clustersOf(record)).toEqual(fleet);
  });

  it('asks the service for nothing if neither it nor a list in force can be used', async () => {
    const collector = await deployed(local);
    local.requests.length = 0;
    await write('{');
    const { error } = await collector.invoke(event());
    expect(error?.errorType).toBe('NoClusterListError');
    expect(local.requests).toEqual([]);
    expect(await collector.keys()).toEqual([]);
  });

  it('goes on collecting who is not on it any more, last, and no run fails over them; who joins is collected at once', async () => {
    const collector = await deployed(local);
    await write(fleet);
    const { record: first } = await run(collector);
    await write([...fleet.slice(5), 'new']);
    local.failing['c-00'] = 'not-found';
    const { error, record } = await run(collector);
    expect(error).toBeUndefined();
    const leaving = fleet.slice(0, 5);
    expect(clustersOf(record)).toEqual([...fleet, 'new']);
    expect(
      record.outcomes.filter((outcome) => outcome.leaving && outcome.optional).map(({ cluster }) => cluster),
    ).toEqual(leaving.flatMap((uid) => resourceNames.map(() => uid)));
    expect(record.counts).toMatchObject({ failed: 0, notAttempted: 0, optionalMissing: resourceNames.length });
    expect(record.clusterList).toMatchObject({
      isInForce: true,
      follows: {
        record: expect.stringMatching(/T010000\.000Z\.attempt-1\.jsonl$/),
        configuration: first.configuration,
      },
      joined: { count: 1, uids: ['new'] },
      leaving: { count: 5, clusters: leaving.map((uid) => ({ uid, since: expect.any(String), dates: 1 })) },
    });
    // Who comes back is collected as before.
    await write(fleet);
    const back = await run(collector);
    expect(back.error?.errorType).toBe('RunIncompleteError');
    expect(back.record.clusterList?.leaving?.clusters.map(({ uid }) => uid)).toEqual(['new']);
  });

  it('says of who becomes optional, or loses a resource, that less of it is collected', async () => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    await write(
      fleet.map((uid, at) => (at === 0 ? { uid, optional: true } : at === 1 ? { uid, resources: ['log'] } : uid)),
    );
    const { error, record } = await run(collector);
    expect(error).toBeUndefined();
    expect(record.clusterList?.lessened).toEqual({ count: 2, uids: ['c-00', 'c-01'] });
  });

  it.each([
    ['a tenth, and strangers in their place, in each run', (at: number) => [...fleet.slice(at), ...strangers(2 * at)]],
    [
      'many strangers, and then without all others',
      (at: number) => (at < 2 ? [...fleet, ...strangers(30)] : strangers(29)),
    ],
    ['everybody replaced, again and again', (at: number) => strangers(12, at)],
  ])('drops nobody within a day who was on it: %s', async (_, listOf) => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    for (let at = 1; at < 6; at += 1) {
      await write(listOf(at));
      const { record } = await run(collector);
      expect(clustersOf(record).filter((uid) => fleet.includes(uid))).toEqual(fleet);
    }
  });

  it('goes on where the configuration of the newest run is gone: S3 refuses it, because the role may not list', async () => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    await write([...fleet, 'new']);
    const { record: newest } = await run(collector);
    rmSync(join(collector.folder, configurationKey(newest.configuration)));
    await write(fleet.slice(1));
    const { error, record } = await run(collector);
    expect(error).toBeUndefined();
    expect(clustersOf(record)).toEqual(fleet);
    expect(record.clusterList?.follows?.record).toContain('T010000.000Z');
    expect(collector.logs.join('')).toContain('what was collected before is taken from an older run record');
  });

  it('is not read by a late completion, which works with the list of its run', async () => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    await write([...fleet, 'new']);
    await run(collector);
    await write('{');
    const { error } = await collector.invoke({ run: '2026-11-20T01:00:00Z' });
    expect(error).toBeUndefined();
    const records = (await collector.records()).filter(({ run }) => run === '2026-11-20T01:00:00.000Z');
    expect(records.map(({ attempt, clusterList }) => [attempt, clusterList?.isInForce])).toEqual([
      [1, true],
      [2, undefined],
    ]);
    expect(clustersOf(records[1] as RunRecord)).toEqual(fleet);
    expect(records[1]?.configuration).toBe(records[0]?.configuration);
  });

  it('judges the clusters of an event, and is read by each shard and by a dry run', async () => {
    const collector = await deployed(local);
    await write(fleet);
    expect((await collector.invoke({ clusters: ['c-07', 'gone'] })).error?.errorMessage).toContain(
      'clusters[1]: received "gone", expected the uid of a configured cluster',
    );
    // A list that no run has read: its configuration is not stored either.
    await write([...fleet, 'tried']);
    const before = await collector.keys();
    expect((await collector.invoke({ dryRun: true })).payload).toMatchObject({ counts: { wouldArchive: 26 } });
    expect(await collector.keys()).toEqual(before);
    expect(before.filter((stored) => !stored.startsWith('configurations/'))).toEqual([]);
    const shards = [];
    for (const index of [0, 1]) {
      await write([...fleet, `new-${index}`]);
      shards.push(...clustersOf((await run(collector, { shard: { index, count: 2 } })).record));
    }
    expect(shards.filter((uid) => uid.startsWith('c-')).sort()).toEqual(fleet);
    await write(fleet.slice(0, 8));
    const { record } = await run(collector, { clusters: ['c-11'] });
    expect(record.clusterList?.leaving?.clusters).toContainEqual(expect.objectContaining({ uid: 'c-11', dates: 0 }));
  });
});

describe('a list of clusters from outside that somebody floods', () => {
  const local = useLocalCollector({ clusters: { from }, limits: { concurrency: 1 } });

  it('takes no turn of those that were on it: who joined comes behind them, and who is leaving last', async () => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    await write([...strangers(30), ...fleet.slice(4)]);
    local.requests.length = 0;
    const { error, record } = await run(collector);
    expect(error).toBeUndefined();
    const asked = local.requests.map((path) => /\/platformclusters\/([^/?]+)/.exec(path)?.[1] ?? path);
    const turnOf = (uid: string) => (uid.startsWith('s-') ? 1 : fleet.indexOf(uid) < 4 ? 2 : 0);
    expect([...new Set(asked)].sort()).toEqual(clustersOf(record));
    expect(asked.map(turnOf)).toEqual(asked.map(turnOf).sort());
  });
});

describe('a list of clusters from outside that is replaced again and again', () => {
  // Ten clusters are the most that a run could finish.
  const local = useLocalCollector({ clusters: { from }, limits: { requestsPerSecond: 0.004 } });

  it('lets at most twice as many be collected as a run can finish: the others wait, and the attempt fails at its end', async () => {
    const collector = await deployed(local);
    const logOnly = (uids: readonly string[]) => uids.map((uid) => ({ uid, resources: ['log'] }));
    const others = (from: number) => Array.from({ length: 10 }, (_, at) => `o-${from + at}`);
    const lists = [fleet.slice(0, 10), others(0), others(10), others(20)];
    const told: unknown[] = [];
    for (const list of lists) {
      await write(logOnly(list));
      // Of one cluster: a request each is what the limit lets through at once.
      const { error, record } = await run(collector, { clusters: ['c-00'] });
      const stored = gunzipSync(readFileSync(join(collector.folder, configurationKey(record.configuration))));
      const uids: string[] = JSON.parse(stored.toString()).clusters.map(({ uid }: { uid: string }) => uid);
      expect(fleet.slice(0, 10).filter((uid) => !uids.includes(uid))).toEqual([]);
      told.push([uids.length, record.clusterList?.waiting?.count, error?.errorMessage?.includes('did not join')]);
    }
    expect(told).toEqual([
      [10, undefined, undefined],
      [20, undefined, undefined],
      [20, 10, true],
      [20, 10, true],
    ]);
  });
});

describe('a list of clusters from outside is refused', () => {
  const slow = useLocalCollector({ clusters: { from }, limits: { requestsPerSecond: 0.5 } });

  it('if no run could finish it', async () => {
    const collector = await deployed(slow);
    await write(Array.from({ length: 1283 }, (_, index) => `c-${index}`));
    expect((await collector.invoke({})).error?.errorMessage).toContain(
      'no run can finish its 1283 clusters: at most 1282, docs/large-fleets.md',
    );
  });

  it("in the archive's bucket, where nothing is overwritten", async () => {
    const { bucket } = await deployed(slow);
    const own = await new LocalCollector({
      clusters: { from: `s3://${bucket}/runs/clusters.json` },
    }).start();
    const collector = await own.deploy();
    expect((await collector.invoke({})).error?.errorMessage).toContain("it lies in the archive's bucket");
    await own.close();
  });

  it('if the role may not read it: another key, or the right to this one taken away', async () => {
    const collector = await slow.deploy({
      otherBuckets: [{ name: 'inventory', folder }],
      edit: (template) => {
        const text = JSON.stringify(template.Resources).replaceAll(
          'arn:aws:s3:::inventory/fleet/',
          'arn:aws:s3:::inventory/other/',
        );
        Object.assign(template.Resources, JSON.parse(text));
      },
    });
    await write(fleet);
    expect((await collector.invoke({})).error?.errorMessage).toContain('403 AccessDenied');
  });
});
