import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { countOutcomes } from '../../../archive/format/completeness';
import {
  clusterPrefix,
  configurationKey,
  objectKey,
  parseObjectKey,
  parseRunRecordKey,
  runRecordKey,
} from '../../../archive/format/keys';
import { LogTextCheck } from '../../../archive/format/log-text';
import { jsonLinesType } from '../../../archive/format/object-headers';
import { type ObjectFacts, objectMetadata } from '../../../archive/format/object-metadata';
import { type FirstResource, firstResources, resources } from '../../../archive/format/resources';
import type { Outcome } from '../../../archive/format/run-record';
import type {
  ArchiveReader,
  ListedName,
  ListedObject,
  ObjectHead,
  OpenedObject,
} from '../../../archive/read/archive-reader';
import { MemoryBucket } from '../../archive/prove/history/memory-bucket';
import { emptyRunRecord } from '../../support/record-text';
import { plan } from './sealed-world';

export const collectorVersion = '1.0.0';
const hourMs = 3_600_000;
const firstRun = Date.parse('2026-11-20T00:00:00.000Z');

/** Content as it is archived. */
interface Stored {
  readonly body: Buffer;
  readonly facts: Pick<ObjectFacts, 'sha256' | 'length'> & Partial<ObjectFacts>;
}

/** A log of about 10 KB that moved on by a fifth since the run before, or a manifest. */
function storedOf(resource: FirstResource, run: number): Stored {
  const lines = Array.from(
    { length: 150 },
    (_, at) => `line ${30 * run + at} of a log, as long as lines are in logs\n`,
  );
  const record = { spec: { log: lines.join('') }, status: { state: 'Available' } };
  return resource === 'log' ? storedLog(record) : stored(Buffer.from('kind: Namespace\n'.repeat(600)));
}

/** A log record as it is archived. */
export function storedLog(record: object): Stored {
  const content = Buffer.from(JSON.stringify(record));
  const check = new LogTextCheck();
  check.write(content);
  return stored(content, { state: 'Available', recordUid: 'r', ...check.end() });
}

function stored(content: Buffer, more: Partial<ObjectFacts> = {}): Stored {
  const sha256 = createHash('sha256').update(content).digest('hex');
  // Copied: what gzipSync returns is a slice of 16 KiB, which would be kept for each run.
  return { body: Buffer.from(gzipSync(content, { level: 1 })), facts: { sha256, length: content.length, ...more } };
}

/** About the length of what a run record has of one cluster. */
const clusterBytes = 1100;

/** Clusters of which a chunk of a run record has the outcomes. */
const chunkClusters = 100;

/** Stands for a uid in text that is made once for all clusters. Neither JSON nor a key writes it in another way. */
const anyUid = '00000000-any-uid';

export interface MadeUpFleet {
  readonly clusters: number;
  /** One every hour. */
  readonly runs: number;
}

/** The archive of a fleet that is made up while it is read: nothing of it is in memory. */
export class MadeUpArchive implements ArchiveReader {
  readonly location = 's3://archive';
  /** Seals and the configuration. */
  readonly bucket = new MemoryBucket();
  readonly clusters: readonly string[];
  /** Half an hour after the last run. */
  readonly now: Date;
  readonly #known: ReadonlySet<string>;
  readonly #runs: readonly Date[];
  readonly #digest: string;
  readonly #stored: Readonly<Record<FirstResource, readonly Stored[]>>;
  /** Called before an object is opened. */
  onObject: () => void = () => {};
  /** Called before a run record is opened. */
  onRecord: () => void = () => {};

  constructor({ clusters, runs }: MadeUpFleet) {
    this.clusters = Array.from(
      { length: clusters },
      (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    );
    this.#known = new Set(this.clusters);
    this.#runs = Array.from({ length: runs }, (_, hour) => new Date(firstRun + hour * hourMs));
    this.now = new Date(firstRun + runs * hourMs - hourMs / 2);
    const manifest = storedOf('manifest', 0);
    this.#stored = { log: this.#runs.map((_, at) => storedOf('log', at)), manifest: this.#runs.map(() => manifest) };
    const text = JSON.stringify({ clusters: this.clusters.map((uid) => ({ uid })), schedule: plan.schedule });
    this.#digest = createHash('sha256').update(text).digest('hex');
    const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
    this.bucket.put({ key: configurationKey(this.#digest), content: gzipSync(text), ...headers }, this.now);
  }

  async time(): Promise<Date> {
    return this.now;
  }

  async *list(prefix: string, after = ''): AsyncGenerator<ListedObject> {
    if (prefix.startsWith('seals/')) yield* this.bucket.list(prefix, after);
    const listed = (key: string, run: Date) => ({ key, storedBytes: 1000, writtenAt: run });
    const [, resource, cluster = ''] = /^(log|manifest)s\/cluster=([^/]+)\//.exec(prefix) ?? [];
    const isOwn = resource !== undefined && this.#known.has(cluster);
    const start = isOwn ? clusterPrefix(resource as FirstResource, cluster) : '';
    for (const run of this.#runs) {
      const record = runRecordKey({ run, attempt: 1 });
      if (prefix.startsWith('runs/') && record > after) yield listed(record, run);
      else if (start !== '') {
        const key = objectKey({ resource: resource as FirstResource, cluster, run });
        if (key > after) yield listed(key, run);
      }
    }
  }

  async *listNames(prefix: string): AsyncGenerator<ListedName> {
    for (const cluster of this.#known) yield { name: `${prefix}cluster=${cluster}/` };
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    return this.open(key);
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    const name = parseObjectKey(key);
    if (name !== undefined) {
      this.onObject();
      const metadata = objectMetadata({
        ...name,
        ...this.#facts(name.resource as FirstResource, name.run),
        version: collectorVersion,
      });
      const { contentType } = resources[name.resource];
      const { body } = this.#storedAt(name.resource as FirstResource, name.run);
      return { storedBytes: body.length, contentType, contentEncoding: 'gzip', metadata, body: [body] };
    }
    const record = parseRunRecordKey(key);
    if (record !== undefined) {
      this.onRecord();
      const body = Readable.from(this.#recordText(record.run), { objectMode: false });
      const storedBytes = this.clusters.length * clusterBytes;
      return { storedBytes, contentType: jsonLinesType, metadata: {}, body };
    }
    return this.bucket.open(key);
  }

  #facts(resource: FirstResource, fetchedAt: Date) {
    const mediaType = resources[resource].contentType;
    return { fetchedAt, mediaType, ...this.#storedAt(resource, fetchedAt).facts };
  }

  #storedAt(resource: FirstResource, run: Date): Stored {
    return this.#stored[resource][(run.getTime() - firstRun) / hourMs] as Stored;
  }

  *#recordText(run: Date): Generator<Buffer> {
    const archived = this.clusters.length * firstResources.length;
    const record = {
      ...emptyRunRecord(run),
      configuration: this.#digest,
      counts: { ...countOutcomes([]), archived },
      outcomes: archived,
    };
    yield Buffer.from(`${JSON.stringify(record)}\n`);
    const lines = firstResources.map((resource) => `${JSON.stringify(this.#outcome(resource, run))}\n`).join('');
    for (let at = 0; at < this.clusters.length; at += chunkClusters) {
      const uids = this.clusters.slice(at, at + chunkClusters);
      yield Buffer.from(uids.map((uid) => lines.replaceAll(anyUid, uid)).join(''));
    }
  }

  #outcome(resource: FirstResource, run: Date): Outcome {
    const { fetchedAt, length, ...facts } = this.#facts(resource, run);
    const key = objectKey({ resource, cluster: anyUid, run });
    const storedBytes = this.#storedAt(resource, run).body.length;
    const sizes = { bytes: length, storedBytes, httpStatus: 200, requests: 1, durationMs: 120 };
    const time = fetchedAt.toISOString();
    return { cluster: anyUid, resource, outcome: 'archived', key, ...sizes, fetchedAt: time, ...facts };
  }
}
