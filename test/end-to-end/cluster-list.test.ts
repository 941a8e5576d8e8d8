import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
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
const hash = (...uids: string[]) =>
  createHash('sha256')
    .update(uids.map((uid) => `${uid}\n`).join(''))
    .digest('hex');

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
      [{ clusters: ['c-00'], leave: 'x' }, 'leave: received an unknown member'],
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

  it('does not let more leave without consent, and takes additions at once', async () => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    const [leaving, staying] = [fleet.slice(0, 5), fleet.slice(5)];
    await write([...staying, 'new']);
    const withheld = await run(collector);
    expect(withheld.error?.errorType).toBe('ClusterListError');
    expect(withheld.error?.errorMessage).toContain(leaving.join(', '));
    expect(withheld.error?.errorMessage).toContain(`"leaving": "${hash(...leaving)}"`);
    expect(clustersOf(withheld.record)).toEqual([...fleet, 'new']);
    await write({ clusters: [...staying, 'new'], leaving: hash(...leaving.slice(1)) });
    expect((await run(collector)).error?.errorType).toBe('ClusterListError');
    await write({ clusters: [...staying, 'new', 'newer'], leaving: hash(...leaving) });
    const { error, record } = await run(collector);
    expect(error).toBeUndefined();
    expect(clustersOf(record)).toEqual([...staying, 'new', 'newer']);
    expect(record.clusterList?.leaving).toBe(hash(...leaving));
    // It is not needed any more.
    expect((await run(collector)).error).toBeUndefined();
    expect(collector.logs.join('')).toContain('is not needed, or not of these clusters: it was ignored');
  });

  it.each([
    ['becomes optional', (uid: string) => ({ uid, optional: true })],
    ['loses a resource', (uid: string) => ({ uid, resources: ['log'] })],
  ])('counts a cluster that %s as one that leaves', async (_, less) => {
    const collector = await deployed(local);
    await write(fleet);
    await run(collector);
    await write(fleet.map((uid, index) => (index < 5 ? less(uid) : uid)));
    const { error, record } = await run(collector);
    expect(error?.errorMessage).toContain('5 of 12 clusters would leave');
    expect(record.outcomes).toHaveLength(fleet.length * resourceNames.length);
    expect(record.outcomes.filter(({ optional }) => optional)).toEqual([]);
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
    expect((await collector.invoke({ dryRun: true })).error).toBeUndefined();
    expect((await collector.keys()).filter((stored) => !stored.startsWith('configurations/'))).toEqual([]);
    const shards = [];
    for (const index of [0, 1]) {
      await write([...fleet, `new-${index}`]);
      shards.push(...clustersOf((await run(collector, { shard: { index, count: 2 } })).record));
    }
    expect(shards.filter((uid) => uid.startsWith('c-')).sort()).toEqual(fleet);
    await write(fleet.slice(0, 8));
    const { error } = await run(collector, { clusters: ['c-11'] });
    expect(error?.errorType).toBe('ClusterListError');
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
