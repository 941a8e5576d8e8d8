import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Configuration } from '../../../../archive/format/configuration';
import { readWhole } from '../../../../archive/read/s3-archive-reader';
import type { Clock } from '../../../../lambda/clock';
import { parseEvent } from '../../../../lambda/collect/event';
import { type AttemptContext, attemptRun } from '../../../../lambda/collect/run/attempt-run';
import { attemptList } from '../../../../lambda/collect/run/cluster-list';
import { PastLists } from '../../../../lambda/collect/run/past-lists';
import { largestListBytes } from '../../../../lambda/collect/run/read-list';
import { configurationStore, RecordStore } from '../../../../lambda/collect/run/record-store';
import { RunStopped, Stop } from '../../../../lambda/stop';
import { between, type Random } from '../../../../local/demo-service/seeded-random';
import { Connection, type ConnectionOptions } from '../../../support/connection';
import { FakeReporter } from '../../../support/fake-reporter';
import { answer, FakeService, statusError } from '../../../support/fake-service';
import { AnsweringReader, type S3Answers } from './answering-reader';
import type { MemoryBucket } from './memory-bucket';

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

/** Now and then the answer to a put is lost, and the same request is sent again. */
class LossyConnection extends Connection {
  readonly #random: Random;

  constructor(options: ConnectionOptions, random: Random) {
    super(options);
    this.#random = random;
  }

  protected override answered(done: 'archived' | 'already-archived'): typeof done {
    return this.#random() < 0.02 ? 'already-archived' : done;
  }
}

export interface InvocationOptions {
  readonly bucket: MemoryBucket;
  readonly collection: Configuration;
  /** The list of clusters that lies outside, if the collection names one. */
  readonly list?: string | undefined;
  /** What S3 says of the list, in place of `list`, and of what earlier runs collected; left out: what is there. */
  readonly answers?: S3Answers | undefined;
  readonly event: object;
  readonly start: Date;
  /** Clusters that the service refuses. */
  readonly failing: ReadonlySet<string>;
  readonly random: Random;
  /** Manifests of clusters; left out: one of a few short ones. */
  readonly manifests?: ReadonlyMap<string, string>;
  /** Requests to the archive until the process is killed; left out: it is not. */
  readonly killedAfter?: number | undefined;
  /** Requests to the service until the time is over; left out: it never is. */
  readonly outOfTimeAfter?: number | undefined;
  /** Names it in its run record. */
  readonly invocation?: string;
}

export interface Invoked {
  readonly outcome: 'succeeded' | 'failed' | 'killed';
  readonly run: Date;
  /** When it ended, truly. */
  readonly end: Date;
  /** What it ended with; left out: it succeeded. */
  readonly message?: string;
}

/** One invocation of the function's core, beside whatever else is under way in the same bucket. */
export async function invoke(options: InvocationOptions): Promise<Invoked> {
  const { bucket, event, start, failing, random, killedAfter } = options;
  const clock = new InvocationClock(start, random);
  const wait = async () => {
    for (let turns = between(random, 0, 6); turns > 0; turns -= 1) await Promise.resolve();
  };
  const isLastDone = () => random() < 0.5;
  const connection = new LossyConnection({ bucket, time: () => clock.time, wait, killedAfter, isLastDone }, random);
  const reporter = new FakeReporter();
  const listed = await listOf(options, connection, clock);
  const collection = { ...options.collection, ...(listed && { clusters: listed.clusters }) };
  const text = Buffer.from(JSON.stringify(collection));
  const configuration = createHash('sha256').update(text).digest('hex');
  const request = parseEvent(event, collection.clusters, clock.now());
  const run = request.run ?? clock.now();
  // Closed in every outcome: nothing stands between it and the attempt that may fail.
  const stop = new Stop(() => 600_000);
  const service = new FakeService((nth, _key, { cluster, resource }) => {
    if (nth + 1 === options.outOfTimeAfter) stop.startNothing(new RunStopped('its time is over'));
    void clock.sleep(between(random, 0, 3000));
    if (failing.has(cluster)) return statusError(404);
    const short = `${resource} of ${cluster}, version ${between(random, 1, 4)}\n`;
    const content = Buffer.from((resource === 'manifest' && options.manifests?.get(cluster)) || short);
    const stored = gzipSync(content);
    const facts = resource === 'log' ? { state: 'Available', recordUid: `r-${cluster}` } : {};
    const sha256 = createHash('sha256').update(content).digest('hex');
    return answer({ facts, sha256, length: content.length, content: stored });
  });
  const context: AttemptContext = {
    configuration: collection,
    provenance: {
      collectorVersion: '1.0.0',
      functionVersion: '1',
      invocation: options.invocation ?? 'i',
      configuration,
    },
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
    joined: listed?.joined,
  };
  try {
    await attemptRun({ ...request, run }, context);
    return { outcome: 'succeeded', run, end: clock.time };
  } catch (error) {
    const { name, message } = error as Error;
    if (!['RunIncompleteError', 'ClusterListError', 'KilledError'].includes(name))
      throw new Error(message, { cause: error });
    return { outcome: name === 'KilledError' ? 'killed' : 'failed', run, end: clock.time, message };
  } finally {
    stop.close();
  }
}

/** Reads the list as the function does; undefined if the clusters are deployed. */
function listOf(options: InvocationOptions, connection: Connection, clock: InvocationClock) {
  const { collection, list = '', event, answers } = options;
  const { clusterList: source } = collection;
  const bytes = Buffer.from(list);
  const readerOf = (bucket: 'archive' | 'inventory') =>
    answers && new AnsweringReader(bucket, connection, answers, () => clock.time);
  const lists = readerOf('inventory');
  return (
    source &&
    attemptList(parseEvent(event, undefined, clock.now()), source, {
      past: new PastLists(readerOf('archive') ?? connection),
      read: async () =>
        lists
          ? readWhole(lists, 'c.json', largestListBytes)
          : { storedBytes: bytes.length, metadata: {}, bytes, writtenAt: clock.time },
      now: clock.now(),
    })
  );
}
