import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import {
  configurationKey,
  objectKey,
  parseObjectKey,
  parseRunRecordKey,
  runRecordKey,
} from '../../../lambda/archive/archive-layout';
import { objectMetadata } from '../../../lambda/archive/object-metadata';
import { type AuditResult, audit } from '../../../lambda/audit/audit';
import { type Resource, resourceNames, resources } from '../../../lambda/resources';
import { countOutcomes, type Outcome } from '../../../lambda/run/run-record';
import { shardOf } from '../../../lambda/run/shard';
import { Stop } from '../../../lambda/stop';
import type { ArchiveReader, ListedObject, ObjectHead, OpenedObject } from '../../../lambda/verify/archive-reader';
import { MemoryBucket } from '../verify/history/memory-bucket';
import { TestKey } from './invoke-audit';
import { plan } from './sealed-world';

const collectorVersion = '1.0.0';
const day = 86_400_000;
const now = new Date('2026-11-21T05:30:00.000Z');
const runs = Array.from(
  { length: 24 },
  (_, hour) => new Date(Date.parse('2026-11-20T00:00:00.000Z') + (hour * day) / 24),
);
const content = Buffer.from('a line of a log, as long as lines are\n'.repeat(270));
const body = gzipSync(content);
const sha256 = createHash('sha256').update(content).digest('hex');
const state = { log: { state: 'Available', recordUid: 'r', logLength: content.length }, manifest: {} } as const;

/** A day of a fleet that is made up while it is read: nothing of it is in memory. */
class MadeUpDay implements ArchiveReader {
  readonly location = 's3://archive';
  readonly seals = new MemoryBucket();
  readonly bucket = 'archive';
  readonly #clusters: readonly string[];
  readonly #shards: number;
  readonly #configuration: Buffer;
  readonly #digest: string;
  /** Called before an object is opened. */
  onObject: () => void = () => {};

  constructor(clusters: readonly string[], shards: number) {
    this.#clusters = clusters;
    this.#shards = shards;
    const text = JSON.stringify({ clusters: clusters.map((uid) => ({ uid })), schedule: plan.schedule });
    this.#configuration = gzipSync(text);
    this.#digest = createHash('sha256').update(text).digest('hex');
  }

  async time(): Promise<Date> {
    return now;
  }

  async *list(prefix: string, after = ''): AsyncGenerator<ListedObject> {
    if (prefix.startsWith('seals/')) yield* this.seals.list(prefix, after);
    const listed = (key: string, run: Date) => ({ key, storedBytes: body.length, writtenAt: run });
    for (const run of runs) {
      if (prefix.startsWith('runs/'))
        for (let index = 0; index < this.#shards; index += 1)
          yield listed(runRecordKey({ run, attempt: 1, ...this.#shardOf(index) }), run);
      const [, resource, cluster] = /^(log|manifest)s\/cluster=([^/]+)\//.exec(prefix) ?? [];
      if (resource !== undefined && cluster !== undefined)
        yield listed(objectKey({ resource: resource as Resource, cluster, run, compression: 'gzip' }), run);
    }
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    return this.open(key);
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    const name = parseObjectKey(key);
    if (name !== undefined) {
      this.onObject();
      const metadata = objectMetadata({ ...name, ...this.#facts(name.resource, name.run), version: collectorVersion });
      const { contentType } = resources[name.resource];
      return opened(body, { contentType, contentEncoding: 'gzip', metadata });
    }
    const record = parseRunRecordKey(key);
    if (record !== undefined)
      return opened(this.#record(record.run, record.shard?.index ?? 0), {
        contentType: 'application/json',
        metadata: {},
      });
    if (key === configurationKey(this.#digest))
      return opened(this.#configuration, {
        contentType: 'application/json',
        contentEncoding: 'gzip',
        metadata: {},
      });
    return this.seals.open(key);
  }

  #shardOf(index: number) {
    return this.#shards === 1 ? {} : { shard: { index, count: this.#shards } };
  }

  #facts(resource: Resource, fetchedAt: Date) {
    const mediaType = resources[resource].contentType;
    return { fetchedAt, mediaType, sha256, length: content.length, ...state[resource] };
  }

  #record(run: Date, index: number): Buffer {
    const shard = { index, count: this.#shards };
    const own = this.#clusters.filter((uid) => this.#shards === 1 || shardOf(uid, this.#shards) === index);
    const outcomes = own.flatMap((cluster) =>
      resourceNames.map((resource): Outcome => {
        const { fetchedAt, length, ...facts } = this.#facts(resource, run);
        const key = objectKey({ resource, cluster, run, compression: 'gzip' });
        const sizes = { bytes: length, storedBytes: body.length, httpStatus: 200, requests: 1, durationMs: 120 };
        return { cluster, resource, outcome: 'archived', key, ...sizes, fetchedAt: run.toISOString(), ...facts };
      }),
    );
    const time = run.toISOString();
    const record = {
      version: 1,
      run: time,
      trigger: 'schedule',
      attempt: 1,
      ...(this.#shards > 1 && { shard }),
      startedAt: time,
      finishedAt: time,
      collectorVersion,
      functionVersion: '1',
      invocation: 'i',
      configuration: this.#digest,
      status: 'complete',
      counts: countOutcomes(outcomes),
      outcomes,
    };
    return Buffer.from(`${JSON.stringify(record)}\n`);
  }
}

function opened(bytes: Buffer, head: Omit<ObjectHead, 'storedBytes'>): OpenedObject {
  return { ...head, storedBytes: bytes.length, body: Readable.from([bytes]) };
}

/** Audits a day. @param mayRead whether it has time for objects */
async function auditDay(clusters: number, shards: number, mayRead: boolean): Promise<AuditResult> {
  const uids = Array.from({ length: clusters }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`);
  const archive = new MadeUpDay(uids, shards);
  const stop = new Stop(() => 3_600_000);
  if (!mayRead) archive.onObject = () => stop.outOfTime();
  let largest = 0;
  const watch = setInterval(() => {
    largest = Math.max(largest, process.memoryUsage.rss());
  }, 50);
  const began = performance.now();
  try {
    const result = await audit(now, {
      plan: { ...plan, clusters: uids.map((uid) => ({ uid })) },
      reader: archive,
      sink: { bucket: 'archive', put: async (object) => archive.seals.put(object, now) },
      signer: new TestKey(),
      mail: async () => undefined,
      clock: { now: () => now },
      stop,
      reporter: { sealed: () => undefined, notMailed: () => undefined },
      collectorVersion,
    });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(`${clusters} clusters: ${seconds} s, at most ${Math.round(largest / 2 ** 20)} MiB\n`);
    return result;
  } finally {
    clearInterval(watch);
    stop.close();
  }
}

describe('an audit of a day with 24 runs', () => {
  it('reads everything of 1,000 clusters', async () => {
    const { found, verified } = await auditDay(1000, 1, true);
    expect([found, verified.objects, verified.carriedOver]).toEqual([{}, 48_000, 0]);
  }, 600_000);

  it('seals the records of 10,000 clusters, and carries the objects over for which there is no time', async () => {
    const { found, verified } = await auditDay(10_000, 2, false);
    expect([found, verified.carriedOverRecords, verified.objects + verified.carriedOver]).toEqual([{}, 0, 480_000]);
  }, 600_000);
});
