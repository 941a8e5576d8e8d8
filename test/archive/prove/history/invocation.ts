import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Configuration } from '../../../../archive/format/configuration';
import type { ArchiveReader, ListedObject, OpenedObject } from '../../../../archive/read';
import type { Clock } from '../../../../lambda/clock';
import { parseEvent } from '../../../../lambda/collect/event';
import type { ArchiveObject } from '../../../../lambda/collect/put/archive-object';
import { type AttemptContext, attemptRun } from '../../../../lambda/collect/run/attempt-run';
import { attemptList } from '../../../../lambda/collect/run/cluster-list';
import { PastLists } from '../../../../lambda/collect/run/past-records';
import { configurationStore, RecordStore } from '../../../../lambda/collect/run/record-store';
import { Stop } from '../../../../lambda/stop';
import { between, type Random } from '../../../../local/demo-service/seeded-random';
import { FakeReporter } from '../../../support/fake-reporter';
import { answer, FakeService, statusError } from '../../../support/fake-service';
import type { MemoryBucket } from './memory-bucket';

/** The process was killed: nothing of it happens any more. */
class KilledError extends Error {
  override readonly name = 'KilledError';
}

/** A clock that may be wrong, and may be set back while an attempt is under way. */
class InvocationClock implements Clock {
  readonly #startMs: number;
  readonly #random: Random;
  #wrongByMs: number;
  #readingsUntilSetBack: number;
  #elapsedMs = 0;

  constructor(start: Date, random: Random) {
    this.#startMs = start.getTime();
    this.#random = random;
    this.#wrongByMs = random() < 0.1 ? (random() < 0.5 ? -3_600_000 : 3_600_000) : 0;
    this.#readingsUntilSetBack = random() < 0.1 ? between(random, 1, 6) : Number.POSITIVE_INFINITY;
  }

  /** The true time. */
  get time(): Date {
    return new Date(this.#startMs + this.#elapsedMs);
  }

  now(): Date {
    this.#readingsUntilSetBack -= 1;
    if (this.#readingsUntilSetBack === 0) this.#wrongByMs -= 5000;
    return new Date(this.time.getTime() + this.#wrongByMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  async sleep(ms: number): Promise<void> {
    this.#elapsedMs += ms;
  }

  random(): number {
    return this.#random();
  }
}

/** The bucket as one process sees it, until it is killed at one of its requests. */
class Connection implements ArchiveReader {
  readonly bucket = 'archive';
  readonly location = 's3://archive';
  readonly #bucket: MemoryBucket;
  readonly #clock: InvocationClock;
  readonly #random: Random;
  #requestsLeft: number;

  constructor(bucket: MemoryBucket, clock: InvocationClock, random: Random, requestsLeft: number) {
    this.#bucket = bucket;
    this.#clock = clock;
    this.#random = random;
    this.#requestsLeft = requestsLeft;
  }

  put(object: ArchiveObject): Promise<'archived' | 'already-archived'> {
    return this.#request(() => {
      const done = this.#bucket.put(object, this.#clock.time);
      // Its answer was lost, and the same request was sent again.
      return this.#random() < 0.02 ? 'already-archived' : done;
    });
  }

  open(key: string): Promise<OpenedObject | undefined> {
    return this.#request(() => {
      const { body } = this.#bucket.objects.get(key) ?? {};
      return body && { storedBytes: body.length, metadata: {}, body: [body] };
    });
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    const keys = await this.#request(() => this.#bucket.keys(prefix));
    for (const key of keys) yield { key, storedBytes: 0, writtenAt: new Date(0) };
  }

  async *listNames(): AsyncGenerator<never> {}

  async head(): Promise<undefined> {
    return undefined;
  }

  async time(): Promise<undefined> {
    return undefined;
  }

  async #request<Result>(act: () => Result): Promise<Result> {
    // Lets others go first now and then.
    for (let turns = between(this.#random, 0, 6); turns > 0; turns -= 1) await Promise.resolve();
    if (this.#requestsLeft < 0) throw new KilledError('killed');
    this.#requestsLeft -= 1;
    if (this.#requestsLeft >= 0) return act();
    // S3 may still do what the process asked for last.
    if (this.#random() < 0.5) act();
    throw new KilledError('killed');
  }
}

export interface InvocationOptions {
  readonly bucket: MemoryBucket;
  readonly collection: Configuration;
  /** The list of clusters that lies outside, if the collection names one. */
  readonly list?: string | undefined;
  readonly event: object;
  readonly start: Date;
  /** Clusters that the service refuses. */
  readonly failing: ReadonlySet<string>;
  readonly random: Random;
  /** Requests to the archive until the process is killed; left out: it is not. */
  readonly killedAfter?: number | undefined;
}

export interface Invoked {
  readonly outcome: 'succeeded' | 'failed' | 'killed';
  readonly run: Date;
  /** When it ended, truly. */
  readonly end: Date;
}

/** One invocation of the function's core, beside whatever else is under way in the same bucket. */
export async function invoke(options: InvocationOptions): Promise<Invoked> {
  const { bucket, event, start, failing, random, killedAfter = Number.POSITIVE_INFINITY } = options;
  const clock = new InvocationClock(start, random);
  const connection = new Connection(bucket, clock, random, killedAfter);
  const reporter = new FakeReporter();
  const stop = new Stop(() => 600_000);
  const listed = await Promise.resolve(listOf(options, connection, clock)).catch((error: unknown) => {
    stop.close();
    throw error;
  });
  const collection = { ...options.collection, ...(listed && { clusters: listed.clusters }) };
  const text = Buffer.from(JSON.stringify(collection));
  const configuration = createHash('sha256').update(text).digest('hex');
  const service = new FakeService((_nth, _key, { cluster, resource }) => {
    void clock.sleep(between(random, 0, 3000));
    if (failing.has(cluster)) return statusError(404);
    const content = Buffer.from(`${resource} of ${cluster}, version ${between(random, 1, 4)}\n`);
    const stored = gzipSync(content);
    const facts = resource === 'log' ? { state: 'Available', recordUid: `r-${cluster}` } : {};
    const sha256 = createHash('sha256').update(content).digest('hex');
    return answer({ facts, sha256, length: content.length, content: stored });
  });
  const context: AttemptContext = {
    configuration: collection,
    provenance: { collectorVersion: '1.0.0', functionVersion: '1', invocation: 'i', configuration },
    stack: { name: 'collector', region: 'eu-central-1' },
    clock,
    stop,
    service,
    reporter,
    archive: connection,
    records: new RecordStore(connection, connection),
    storeConfiguration: configurationStore(connection, configuration, async () => text),
    keys: { current: async () => 'key', afterRejection: async () => 'key' },
    clusterList: listed?.read,
  };
  const request = parseEvent(event, collection.clusters, clock.now());
  const run = request.run ?? clock.now();
  try {
    await attemptRun({ ...request, run }, context);
    return { outcome: 'succeeded', run, end: clock.time };
  } catch (error) {
    const { name, message } = error as Error;
    if (!['RunIncompleteError', 'ClusterListError', 'KilledError'].includes(name))
      throw new Error(message, { cause: error });
    return { outcome: name === 'KilledError' ? 'killed' : 'failed', run, end: clock.time };
  } finally {
    stop.close();
  }
}

/** Reads the list as the function does; undefined if the clusters are deployed. */
function listOf({ collection, list = '', event }: InvocationOptions, connection: Connection, clock: InvocationClock) {
  const { clusterList: source } = collection;
  const bytes = Buffer.from(list);
  return (
    source &&
    attemptList(parseEvent(event, undefined, clock.now()), source, {
      past: new PastLists(connection),
      read: async () => ({ storedBytes: bytes.length, metadata: {}, bytes, writtenAt: clock.time }),
      now: clock.now(),
    })
  );
}
