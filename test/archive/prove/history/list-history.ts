import type { Configuration } from '../../../../archive/format/configuration';
import { dateOf } from '../../../../archive/format/keys';
import { between, pick, type Random, seededRandom } from '../../../../local/demo-service/seeded-random';
import type { Refusal, S3Answers } from './answering-reader';
import { type InvocationOptions, invoke } from './invocation';
import { MemoryBucket } from './memory-bucket';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
export const mostClusters = 10;
const fleet = ['a', 'b', 'c', 'd', 'e', 'f'];

/** What an attempt may say instead of collecting anything. */
const expected =
  /Nobody is left to collect|Completing run .* failed|each of its clusters is excluded|the uid of a configured cluster/;

type Written = readonly (string | object)[];

/** What one attempt was given to read. */
export interface Reading {
  /** Whether the list was one that counts. */
  readonly hasList: boolean;
  /** What S3 said in its place. */
  readonly list?: Refusal;
  /** What S3 said of keys of the archive; empty: it gave what is there. */
  readonly archive: ReadonlyMap<string, Refusal>;
}

/** A writer of the list with all freedom, an S3 that refuses now and then, and honest attempts beside each other. */
export class ListHistory {
  readonly bucket = new MemoryBucket();
  /** What attempts were given to read, by the name that their records have. */
  readonly readings = new Map<string, Reading>();
  readonly #random: Random;
  readonly #retentionDays: number | undefined;
  /** Runs by hand for some clusters before each run, before some, or never. */
  readonly #subsets: number;
  /** How often S3 refuses something, and how often the time is over before everything was asked for. */
  readonly #refusals: number;
  readonly #timeouts: number;
  #now = Date.parse('2027-11-02T22:30:00.000Z');
  #list: Written = [...fleet];
  #next = 0;
  #days = 3;
  #exclude: readonly string[] = [];
  #isDeployed = false;

  constructor(seed: string) {
    this.#random = seededRandom(seed);
    this.#retentionDays = this.#random() < 0.4 ? pick(this.#random, [2, 5, 20]) : undefined;
    this.#subsets = pick(this.#random, [0, 0.2, 0.2, 1]);
    this.#refusals = pick(this.#random, [0, 0.1, 0.4]);
    this.#timeouts = pick(this.#random, [0, 0.5, 0.9]);
  }

  get now(): Date {
    return new Date(this.#now);
  }

  /** @param judge called after every run, before anything of it expires */
  async play(judge: () => void): Promise<void> {
    for (let step = between(this.#random, 8, 22); step > 0; step -= 1) {
      this.#now +=
        pick(this.#random, [hour, hour, hour, 6 * hour, day, day, day, 7 * day, 40 * day]) -
        between(this.#random, 0, 3) * minute;
      this.#expire();
      if (this.#random() < 0.6) this.#write();
      if (this.#random() < 0.1) this.#days = pick(this.#random, [1, 3, 30]);
      if (this.#random() < 0.08) this.#exclude = pick(this.#random, [[], ['a'], ['n-1']]);
      if (this.#random() < 0.1) this.#isDeployed = !this.#isDeployed;
      if (this.#random() < this.#subsets) await this.#attempt({ clusters: ['b'] }, this.#now);
      await this.#run();
      if (this.#random() < 0.15) await this.#complete();
      judge();
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
    const stamps = this.bucket.keys('runs/').flatMap((key) => /(\d{8}T\d{6}\.\d{3}Z)/.exec(key)?.[1] ?? []);
    this.#now += hour;
    if (stamps.length > 0) await this.#attempt({ run: pick(this.#random, stamps as [string, ...string[]]) }, this.#now);
  }

  async #attempt(event: object, start: number): Promise<void> {
    const random = this.#random;
    const clusterList = { from: 's3://lists/c.json', leaveAfterDays: this.#days, exclude: this.#exclude, mostClusters };
    const collection: Configuration = {
      service: { baseUrl: 'http://127.0.0.1:9', collection: 'c' },
      clusters: this.#isDeployed ? fleet.slice(0, 4).map((uid) => ({ uid })) : [],
      ...(!this.#isDeployed && { clusterList }),
      limits: { concurrency: 3, maxBodyMiB: 1, responseTimeoutSeconds: 1 },
      schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
      ...(this.#retentionDays !== undefined && { retentionDays: this.#retentionDays }),
    };
    const invocation = `i-${this.readings.size}`;
    const { answers, reading } = this.#answers();
    this.readings.set(invocation, reading);
    const killedAfter = random() < 0.08 ? between(random, 0, 30) : undefined;
    const outOfTimeAfter = random() < this.#timeouts ? between(random, 1, 20) : undefined;
    const options: InvocationOptions = {
      ...{ bucket: this.bucket, collection, event, start: new Date(start), killedAfter, outOfTimeAfter, invocation },
      ...{ answers, failing: new Set(['c']), random },
    };
    await invoke(options).catch((error: Error) => {
      // Another attempt may read what this one could not, and nothing of it may be guessed.
      const isRetried = error.name === 'ArchiveReadError' && [...reading.archive.values()].includes(503);
      if (!expected.test(error.message) && error.name !== 'KilledError' && !isRetried) throw error;
    });
  }

  /** What S3 says to one attempt. */
  #answers(): { readonly answers: S3Answers; readonly reading: Reading } {
    const random = this.#random;
    const list = this.#refuses() ?? Buffer.from(random() < 0.1 ? '[' : JSON.stringify(this.#list));
    const said = new Map<string, Refusal>();
    const refusal = this.#refuses();
    const prefix = pick(random, ['runs/', 'configurations/', 'configurations/']);
    let left = between(random, 1, 4);
    // A 503 may be over before the SDK gives up.
    const times = refusal === 503 ? pick(random, [1, 3, Number.POSITIVE_INFINITY]) : Number.POSITIVE_INFINITY;
    const asked = new Map<string, number>();
    const archive = (key: string): Refusal | undefined => {
      if (refusal === undefined || !key.startsWith(prefix)) return undefined;
      if (!asked.has(key) && left === 0) return undefined;
      if (!asked.has(key)) left -= 1;
      asked.set(key, (asked.get(key) ?? 0) + 1);
      if ((asked.get(key) ?? 0) > times) return undefined;
      if (times === Number.POSITIVE_INFINITY) said.set(key, refusal);
      return refusal;
    };
    const hasList = typeof list !== 'number' && list.length > 1;
    const reading = { hasList, ...(typeof list === 'number' && { list }), archive: said };
    return { answers: { list, archive }, reading };
  }

  #refuses(): Refusal | undefined {
    return this.#random() < this.#refusals ? pick(this.#random, [403, 404, 503]) : undefined;
  }

  /** What somebody may do who writes the list. */
  #write(): void {
    const random = this.#random;
    const strangers = (count: number) => Array.from({ length: count }, () => `n-${this.#next++}`);
    const writes: [() => Written, ...(() => Written)[]] = [
      () => strangers(between(random, 1, mostClusters)),
      () => [...this.#list, ...strangers(mostClusters)].slice(0, mostClusters),
      () => [...strangers(mostClusters - fleet.length).map((uid) => ({ uid, optional: true })), ...fleet],
      () => [...strangers(mostClusters - fleet.length), ...fleet],
      () => [...this.#list.slice(0, mostClusters / 2), ...strangers(mostClusters / 2)],
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
