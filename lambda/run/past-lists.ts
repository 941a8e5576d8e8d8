import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import {
  configurationKey,
  dateOf,
  parseRunRecordKey,
  type RunRecordName,
  runPrefix,
  runRecordKey,
  runsPrefix,
} from '../archive/archive-layout';
import { clusterList } from '../list/cluster-schema';
import { removalHours } from '../list/next-list';
import { largestListBytes } from '../list/read-list';
import type { ConfiguredCluster } from '../stack-contract';
import { dayMs, hourMs } from '../time-limits';
import type { RecordBucket } from './record-store';
import { type ClusterList, runSchema } from './run-record';
import { longestLineBytes } from './run-record-lines';

/** What a run collected, by one of its records. */
export interface PastList {
  readonly run: Date;
  readonly clusters: readonly ConfiguredCluster[];
  /** What the attempt read; undefined: it read none. */
  readonly read: ClusterList | undefined;
}

const configurationSchema = z.object({ clusters: clusterList });

/**
 * The lists of clusters of earlier runs, by the first lines of their records and by the configurations that these name. What
 * is absent or damaged is passed over. Every method
 * @throws ArchiveError, and what breaks a reading off: then nobody knows which list is in force
 */
export class PastLists {
  readonly #bucket: Pick<RecordBucket, 'open' | 'keys'>;
  readonly #signal: AbortSignal;

  constructor(bucket: Pick<RecordBucket, 'open' | 'keys'>, signal: AbortSignal) {
    this.#bucket = bucket;
    this.#signal = signal;
  }

  /** Of the newest run that is not later than a time; undefined: no record of any can be read. */
  async newest(now: Date): Promise<PastList | undefined> {
    const yesterday = dateOf(new Date(now.getTime() - dayMs));
    // Then the month, the year and all: most archives have a run of today, and to list the others takes long.
    for (const date of [dateOf(now), yesterday, yesterday.slice(0, 8), yesterday.slice(0, 5), '']) {
      const names = await this.#names(`${runsPrefix}date=${date}`);
      const found = await this.#newestOf(names.filter(({ run }) => run <= now));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Of the newest record of a run; undefined: none can be read. */
  async ofRun(run: Date): Promise<PastList | undefined> {
    return this.#newestOf(await this.#names(runPrefix(run)));
  }

  /** The largest of the lists that were in force within {@link removalHours} before a time; undefined: there was none. */
  async largest(now: Date): Promise<PastList | undefined> {
    const from = new Date(now.getTime() - removalHours * hourMs);
    const days = [from, now].map((day) => this.#names(`${runsPrefix}date=${dateOf(day)}/`));
    const within = (await Promise.all(days)).flat().filter(({ run }) => run >= from && run <= now);
    // The shards of an attempt have one list, unless it changed meanwhile.
    const attempts = new Map(within.map((name) => [`${name.run.getTime()} ${name.attempt}`, name]));
    const heads = await Promise.all([...attempts.values()].map((name) => this.#head(name)));
    const configurations = new Map(heads.flatMap((head) => (head === undefined ? [] : [[head.configuration, head]])));
    let largest: PastList | undefined;
    for (const head of configurations.values()) {
      const list = await this.#listOf(head);
      if (list !== undefined && list.clusters.length > (largest?.clusters.length ?? 0)) largest = list;
    }
    return largest;
  }

  async #names(prefix: string): Promise<RunRecordName[]> {
    return (await this.#bucket.keys(prefix, this.#signal)).flatMap((key) => parseRunRecordKey(key) ?? []);
  }

  async #newestOf(names: readonly RunRecordName[]): Promise<PastList | undefined> {
    const index = ({ shard }: RunRecordName) => shard?.index ?? -1;
    const newestFirst = names.toSorted(
      (a, b) => b.run.getTime() - a.run.getTime() || b.attempt - a.attempt || index(b) - index(a),
    );
    for (const name of newestFirst) {
      const head = await this.#head(name);
      const list = head && (await this.#listOf(head));
      if (list !== undefined) return list;
    }
    return undefined;
  }

  /** The first line of a record. */
  async #head(name: RunRecordName): Promise<z.infer<typeof runSchema> | undefined> {
    const stored = await this.#bucket.open(runRecordKey(name), Number.MAX_SAFE_INTEGER, this.#signal);
    let line = Buffer.alloc(0);
    for await (const chunk of stored?.body ?? []) {
      line = Buffer.concat([line, chunk]);
      if (line.includes('\n') || line.length > longestLineBytes) break;
    }
    const { data } = runSchema.safeParse(jsonOf(line.subarray(0, line.indexOf('\n'))));
    return data?.run === name.run.toISOString() && data.attempt === name.attempt ? data : undefined;
  }

  async #listOf({ run, configuration, clusterList: read }: z.infer<typeof runSchema>): Promise<PastList | undefined> {
    const stored = await this.#bucket.open(configurationKey(configuration), largestListBytes, this.#signal);
    const chunks: Buffer[] = [];
    for await (const chunk of stored?.body ?? []) chunks.push(chunk);
    const text = contentOf(Buffer.concat(chunks));
    if (text === undefined || createHash('sha256').update(text).digest('hex') !== configuration) return undefined;
    const { data } = configurationSchema.safeParse(jsonOf(text));
    return data && { run: new Date(run), clusters: data.clusters, read };
  }
}

function contentOf(stored: Buffer): Buffer | undefined {
  try {
    return gunzipSync(stored, { maxOutputLength: 4 * largestListBytes });
  } catch {
    // Absent, or damaged: the list before it is in force.
    return undefined;
  }
}

function jsonOf(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
