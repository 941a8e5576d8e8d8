import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { dayMs } from '../../../archive/format/clocks';
import { type ConfiguredCluster, configurationSchema } from '../../../archive/format/configuration';
import { DamagedObjectError } from '../../../archive/format/damaged-object-error';
import {
  configurationKey,
  parseRunRecordKey,
  type RunRecordName,
  runPrefix,
  runRecordKey,
} from '../../../archive/format/keys';
import { compareAge, newestRecords } from '../../../archive/format/newest-records';
import type { RecordHead } from '../../../archive/format/run-record';
import { ArchiveReadError, type ArchiveReader, readWhole } from '../../../archive/read/s3-archive-reader';
import { largestListBytes } from './read-list';
import { readRecordHead, unlessDamaged } from './record-head';

/** What an attempt collected, by its run record. */
export interface PastList {
  readonly name: RunRecordName;
  readonly head: RecordHead;
  readonly clusters: readonly ConfiguredCluster[];
}

/** What was looked for, and why newer records were passed over. */
export interface FoundList {
  readonly list: PastList | undefined;
  readonly skipped: readonly string[];
}

/** Records whose configuration cannot be had before nobody looks any further. */
const mostSkipped = 3;

/** All that is needed of a configuration here. */
const clustersSchema = z.pick(configurationSchema, { clusters: true });

/**
 * What earlier attempts collected, by their run records and the configurations that these name. What is absent, damaged or
 * refused counts as if it were not there; without the right to list, S3 refuses what is absent. Every method throws
 * ArchiveReadError if another reading may give something else, or the reason of the reader's signal.
 */
export class PastLists {
  readonly #reader: ArchiveReader;
  /** The configuration that was read last: most runs of a day have the same. */
  #last: Pick<PastList, 'clusters'> & { readonly sha256: string } = { sha256: '', clusters: [] };

  constructor(reader: ArchiveReader) {
    this.#reader = reader;
  }

  /** Of the newest run that is not later than a time. */
  newest(at: Date): Promise<FoundList> {
    return this.#first(newestRecords((prefix) => this.#names(prefix), at));
  }

  /** Of the newest run that is at least a day older than a time; of the oldest that is not later, if none is. */
  async dayBefore(at: Date): Promise<FoundList> {
    const found = await this.newest(new Date(at.getTime() - dayMs));
    if (found.list !== undefined || found.skipped.length > 0) return found;
    const names: RunRecordName[] = [];
    for await (const name of newestRecords((prefix) => this.#names(prefix), at)) names.push(name);
    return this.#first(names.reverse());
  }

  /** Of the newest record of a run. */
  async ofRun(run: Date): Promise<FoundList> {
    return this.#first((await this.#names(runPrefix(run))).toSorted((a, b) => compareAge(b, a)));
  }

  async #first(names: AsyncIterable<RunRecordName> | Iterable<RunRecordName>): Promise<FoundList> {
    const skipped: string[] = [];
    let withoutClusters = 0;
    for await (const name of names) {
      const key = runRecordKey(name);
      const head = await readRecordHead(this.#reader, name).catch((error: unknown) =>
        skipped.push(`${key}: ${reasonOf(error)}`),
      );
      if (typeof head === 'number') continue;
      const at = configurationKey(head.configuration);
      const clusters = await this.#clusters(head.configuration).catch((error: unknown) =>
        skipped.push(`${key}: its configuration ${at}: ${reasonOf(error)}`),
      );
      if (typeof clusters !== 'number') return { list: { name, head, clusters }, skipped };
      withoutClusters += 1;
      if (withoutClusters === mostSkipped) break;
    }
    return { list: undefined, skipped };
  }

  async #names(prefix: string): Promise<RunRecordName[]> {
    const names: RunRecordName[] = [];
    for await (const { key } of this.#reader.list(prefix)) {
      const name = parseRunRecordKey(key);
      if (name !== undefined) names.push(name);
    }
    return names;
  }

  /** Those of a configuration. */
  async #clusters(sha256: string): Promise<readonly ConfiguredCluster[]> {
    if (sha256 !== this.#last.sha256) this.#last = { sha256, clusters: await this.#readClusters(sha256) };
    return this.#last.clusters;
  }

  async #readClusters(sha256: string): Promise<readonly ConfiguredCluster[]> {
    const stored = await readWhole(this.#reader, configurationKey(sha256), largestListBytes);
    if (stored === undefined) throw new DamagedObjectError('it is not there');
    return unlessDamaged(() => {
      const text = gunzipSync(stored.bytes, { maxOutputLength: 4 * largestListBytes });
      const isOwn = createHash('sha256').update(text).digest('hex') === sha256;
      return isOwn ? clustersSchema.parse(JSON.parse(text.toString())).clusters : undefined;
    });
  }
}

/** Why an object is as if it were not there. @throws the error if another reading may find it */
function reasonOf(error: unknown): string {
  if (error instanceof DamagedObjectError || (error instanceof ArchiveReadError && error.isLasting))
    return error.message;
  throw error;
}
