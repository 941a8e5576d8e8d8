import { gunzipSync } from 'node:zlib';
import type { Configuration, ConfiguredCluster } from '../../../../archive/format/configuration';
import { configurationKey, dateOf } from '../../../../archive/format/keys';
import type { RunRecord } from '../../../../archive/format/run-record';
import { verifyArchive } from '../../../../archive/prove/verify-archive';
import { between, pick, type Random, seededRandom } from '../../../../local/demo-service/seeded-random';
import { recordOf } from '../../../support/record-text';
import { type InvocationOptions, invoke } from './invocation';
import { MemoryBucket } from './memory-bucket';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const mostClusters = 10;
const fleet = ['a', 'b', 'c', 'd', 'e', 'f'];

/** What an attempt may say instead of collecting anything. */
const expected =
  /Nobody is left to collect|Completing run .* failed|each of its clusters is excluded|the uid of a configured cluster/;

type Written = readonly (string | object)[];

/** A writer of the list with all freedom, and honest attempts beside each other that read it. */
class ListHistory {
  readonly bucket = new MemoryBucket();
  readonly #random: Random;
  readonly #retentionDays: number | undefined;
  #now = Date.parse('2027-11-02T22:30:00.000Z');
  #list: Written = [...fleet];
  #next = 0;
  #days = 3;
  #exclude: readonly string[] = [];
  #isDeployed = false;

  constructor(seed: string) {
    this.#random = seededRandom(seed);
    this.#retentionDays = this.#random() < 0.4 ? pick(this.#random, [2, 5, 20]) : undefined;
  }

  get now(): Date {
    return new Date(this.#now);
  }

  async play(): Promise<void> {
    for (let step = between(this.#random, 8, 22); step > 0; step -= 1) {
      this.#now +=
        pick(this.#random, [hour, hour, 6 * hour, day, day, day, 7 * day]) - between(this.#random, 0, 3) * minute;
      this.#expire();
      if (this.#random() < 0.6) this.#write();
      if (this.#random() < 0.1) this.#days = pick(this.#random, [1, 3, 30]);
      if (this.#random() < 0.08) this.#exclude = pick(this.#random, [[], ['a'], ['n-1']]);
      if (this.#random() < 0.1) this.#isDeployed = !this.#isDeployed;
      if (this.#random() < 0.2) await this.#attempt({ clusters: ['b'] }, this.#now);
      await this.#run();
      if (this.#random() < 0.15) await this.#complete();
    }
  }

  /** A firing: in shards or not, delivered twice or tried again, with a list that may change meanwhile. */
  async #run(): Promise<void> {
    const event = { scheduledTime: this.now.toISOString() };
    const shards = pick(this.#random, [1, 1, 1, 2]);
    const parts = Array.from({ length: shards }, (_, index) =>
      shards === 1 ? event : { ...event, shard: { index, count: shards } },
    );
    const under = parts.map((part) => {
      if (this.#random() < 0.2) this.#write();
      return this.#attempt(part, this.#now + between(this.#random, 0, 90) * 1000);
    });
    if (this.#random() < 0.2) under.push(this.#attempt(event, this.#now + between(this.#random, 0, 10) * minute));
    await Promise.all(under);
    if (this.#random() > 0.2) return;
    if (this.#random() < 0.5) this.#write();
    // What begins before it has to be played before it.
    this.#now += between(this.#random, 16, 300) * minute;
    await this.#attempt(event, this.#now);
  }

  async #complete(): Promise<void> {
    const runs = recordsIn(this.bucket).map(({ run }) => run);
    this.#now += hour;
    if (runs.length > 0) await this.#attempt({ run: pick(this.#random, runs as [string, ...string[]]) }, this.#now);
  }

  async #attempt(event: object, start: number): Promise<void> {
    const clusterList = { from: 's3://lists/c.json', leaveAfterDays: this.#days, exclude: this.#exclude, mostClusters };
    const collection: Configuration = {
      service: { baseUrl: 'http://127.0.0.1:9', collection: 'c' },
      clusters: this.#isDeployed ? fleet.slice(0, 4).map((uid) => ({ uid })) : [],
      ...(!this.#isDeployed && { clusterList }),
      limits: { concurrency: 3, maxBodyMiB: 1, responseTimeoutSeconds: 1 },
      schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
      ...(this.#retentionDays !== undefined && { retentionDays: this.#retentionDays }),
    };
    const killedAfter = this.#random() < 0.08 ? between(this.#random, 0, 30) : undefined;
    const list = this.#random() < 0.1 ? '[' : JSON.stringify(this.#list);
    const options: InvocationOptions = {
      ...{ bucket: this.bucket, collection, list, event, start: new Date(start), killedAfter },
      ...{ failing: new Set(['c']), random: this.#random },
    };
    await invoke(options).catch((error: Error) => {
      if (!expected.test(error.message) && error.name !== 'KilledError') throw error;
    });
  }

  /** What somebody may do who writes the list. */
  #write(): void {
    const random = this.#random;
    const strangers = (count: number) => Array.from({ length: count }, () => `n-${this.#next++}`);
    const writes: [() => Written, ...(() => Written)[]] = [
      () => strangers(between(random, 1, mostClusters)),
      () => [...this.#list, ...strangers(mostClusters)].slice(0, mostClusters),
      () => this.#list.slice(1),
      () => this.#list.filter(() => random() < 0.7),
      () => fleet.filter(() => random() < 0.8),
      () => fleet,
      () => fleet.map((uid) => (random() < 0.3 ? { uid, optional: true } : uid)),
      () =>
        fleet.map((uid) => (random() < 0.3 ? { uid, optional: { until: this.#dateIn(between(random, -1, 3)) } } : uid)),
      () => fleet.map((uid) => (random() < 0.3 ? { uid, resources: ['log'] } : uid)),
    ];
    this.#list = pick(random, writes)();
  }

  #dateIn(days: number): string {
    return dateOf(new Date(this.#now + days * day));
  }

  /** The lifecycle removes what was written too long ago. */
  #expire(): void {
    if (this.#retentionDays === undefined) return;
    const before = this.#now - (this.#retentionDays * 24 + 3) * hour;
    for (const [key, { writtenAt }] of this.bucket.objects)
      if (!key.startsWith('configurations/') && writtenAt.getTime() < before) this.bucket.objects.delete(key);
  }
}

function recordsIn(bucket: MemoryBucket): RunRecord[] {
  return bucket.keys('runs/').map((key) => recordOf(bucket.objects.get(key)?.body ?? ''));
}

/** @returns what is said of an honest history, and whom it lost although not enough records had named it as leaving */
export async function problemsOfLists(seed: string): Promise<string[]> {
  const history = new ListHistory(seed);
  await history.play();
  const { bucket, now } = history;
  const later = new Date(now.getTime() + 10 * hour);
  bucket.clock = later;
  const { findings } = await verifyArchive(bucket, { now: later, concurrency: 4 });
  const said = findings.flatMap(({ kind, key, problem }) =>
    /list|leaving|completes/.test(problem ?? '') ? `${seed}: ${kind} ${key}: ${problem}` : [],
  );
  return [...said, ...lostIn(bucket).map((problem) => `${seed}: ${problem}`)];
}

function lostIn(bucket: MemoryBucket): string[] {
  const configurations = new Map<string, Configuration>();
  const configurationOf = (sha256: string): Configuration => {
    const known = configurations.get(sha256);
    if (known !== undefined) return known;
    const { body = Buffer.alloc(0) } = bucket.objects.get(configurationKey(sha256)) ?? {};
    const read = JSON.parse(gunzipSync(body).toString()) as Configuration;
    configurations.set(sha256, read);
    return read;
  };
  const records = new Map(bucket.keys('runs/').map((key) => [key, recordOf(bucket.objects.get(key)?.body ?? '')]));
  const problems: string[] = [];
  for (const [key, { configuration, clusterList }] of records) {
    const own = configurationOf(configuration);
    const { leaveAfterDays = 0, exclude = [] } = own.clusterList ?? {};
    if (own.clusters.length > 2 * mostClusters) problems.push(`${key} has ${own.clusters.length} clusters`);
    const { follows } = clusterList ?? {};
    if (follows === undefined) continue;
    const are = new Set(own.clusters.map(({ uid }) => uid));
    for (const { uid } of configurationOf(follows.configuration).clusters) {
      if (are.has(uid) || exclude.includes(uid)) continue;
      const { dates, isCut } = namedBefore(records, follows.record, uid, configurationOf);
      if (!isCut && dates.size < leaveAfterDays)
        problems.push(`${key} lost ${uid}, named as leaving on ${[...dates].join(', ') || 'no date'}`);
    }
  }
  return problems;
}

/** The dates of the records, one behind the other, that name a cluster as leaving. `isCut`: an earlier one has expired. */
function namedBefore(
  records: ReadonlyMap<string, RunRecord>,
  from: string,
  uid: string,
  configurationOf: (sha256: string) => Configuration,
): { readonly dates: ReadonlySet<string>; readonly isCut: boolean } {
  const dates = new Set<string>();
  for (let key: string | undefined = from; key !== undefined; ) {
    const record: RunRecord | undefined = records.get(key);
    if (record === undefined) return { dates, isCut: true };
    const cluster: ConfiguredCluster | undefined = configurationOf(record.configuration).clusters.find(
      (one) => one.uid === uid,
    );
    if (cluster?.leaving === undefined) break;
    dates.add((record.startedAt > record.run ? record.startedAt : record.run).slice(0, 10));
    // A run that was completed late has the clusters of another of its records.
    if (record.clusterList === undefined) return { dates, isCut: true };
    key = record.clusterList.follows?.record;
  }
  return { dates, isCut: false };
}
