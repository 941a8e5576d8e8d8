import { gzipSync } from 'node:zlib';
import { DamagedObjectError } from '../../../archive/format/damaged-object-error';
import {
  configurationKey,
  parseRunRecordKey,
  type RunRecordName,
  runPrefix,
  runRecordKey,
} from '../../../archive/format/keys';
import { jsonLinesType } from '../../../archive/format/object-headers';
import {
  largestRecordBytes,
  type RunRecord,
  RunRecordError,
  type StoredRecord,
} from '../../../archive/format/run-record';
import { parseRunRecord, recordLines } from '../../../archive/format/run-record-lines';
import { type ArchiveReader, readWhole, stoppableReader } from '../../../archive/read/s3-archive-reader';
import { recordWriteSeconds } from '../../time-limits';
import type { Archive, PutResult } from '../put/s3-archive';

/** The run records of the archive. What is read back is untrusted: anyone with the right to write may have. */
export class RecordStore {
  readonly #archive: Archive;
  readonly #reader: ArchiveReader;
  readonly #writeLimitMs: number;

  /** @param writeLimitMs how long the writing of one record may take, retries included */
  constructor(archive: Archive, reader: ArchiveReader, writeLimitMs = recordWriteSeconds * 1000) {
    this.#archive = archive;
    this.#reader = reader;
    this.#writeLimitMs = writeLimitMs;
  }

  /** The records that exist of one run, all shards, by attempt. @throws ArchiveReadError; the signal's reason when it aborts */
  async list(run: Date, signal: AbortSignal): Promise<RunRecordName[]> {
    const names: RunRecordName[] = [];
    for await (const { key } of stoppableReader(this.#reader, signal).list(runPrefix(run))) {
      const name = parseRunRecordKey(key);
      if (name !== undefined) names.push(name);
    }
    return names.sort((a, b) => a.attempt - b.attempt);
  }

  /**
   * @throws RunRecordError if it is absent, damaged or of another attempt; ArchiveReadError; the signal's reason when it
   * aborts
   */
  async read(name: RunRecordName, signal: AbortSignal): Promise<StoredRecord> {
    const failed = (reason: string, cause?: unknown) =>
      new RunRecordError(`Reading the run record ${this.address(name)} failed: ${reason}`, { cause });
    const reader = stoppableReader(this.#reader, signal);
    const stored = await readWhole(reader, runRecordKey(name), largestRecordBytes).catch((error: unknown) => {
      throw error instanceof DamagedObjectError ? failed(error.message, error) : error;
    });
    if (stored === undefined) throw failed('it does not exist');
    try {
      return parseRunRecord(name, stored.bytes);
    } catch (error) {
      throw failed((error as Error).message, error);
    }
  }

  /**
   * Writes a record under the first free attempt number from its own on: two invocations of one run do not overwrite
   * each other. If the number is taken by this very record, because only the answer to its writing was lost, the record
   * keeps it. Writing has a time limit of its own, which may end after the run's deadline, and no number is tried after it.
   * @returns the name it was written under; undefined in a dry run
   * @throws RunRecordError, ArchiveError
   */
  async write(record: RunRecord): Promise<RunRecordName | undefined> {
    const signal = AbortSignal.timeout(this.#writeLimitMs);
    for (let attempt = record.attempt; ; attempt += 1) {
      const name = { run: new Date(record.run), shard: record.shard, attempt };
      try {
        const put = await this.#put(runRecordKey(name), { ...record, attempt }, signal);
        if (put === 'would-archive') return undefined;
        if (put === 'archived') return name;
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new RunRecordError(`Writing the run record ${this.address(name)} failed: it took too long`, {
          cause: error,
        });
      }
    }
  }

  /** Looks at what lies under the key if nothing else says whose it is. */
  async #put(key: string, record: RunRecord, signal: AbortSignal): Promise<Exclude<PutResult, 'answer-lost'>> {
    const content = recordContent(record);
    const put = await this.#archive.put({ key, content, contentType: jsonLinesType }, signal);
    if (put !== 'answer-lost') return put;
    const stored = await readWhole(stoppableReader(this.#reader, signal), key, largestRecordBytes);
    return stored !== undefined && content.equals(stored.bytes) ? 'archived' : 'already-archived';
  }

  /** Where a record lies: `s3://bucket/key`. */
  address(name: RunRecordName): string {
    return `s3://${this.#archive.bucket}/${runRecordKey(name)}`;
  }
}

/** The lines of a record. Of a large fleet they are hundreds of megabytes, which are in memory once. */
function recordContent(record: RunRecord): Buffer {
  let length = 0;
  for (const line of recordLines(record)) length += Buffer.byteLength(line);
  const content = Buffer.allocUnsafe(length);
  let end = 0;
  for (const line of recordLines(record)) end += content.write(line, end);
  return content;
}

/**
 * Stores the function's configuration in the archive, so that the archive itself says what was due, unless it is there
 * already; asks the archive once per execution environment.
 * @param sha256 of what `read` gives, lower-case hex: run records name the configuration by it
 * @param read reads the configuration file
 * @returns which throws ArchiveError; the signal's reason when it aborts
 */
export function configurationStore(
  archive: Pick<Archive, 'put'>,
  sha256: string,
  read: () => Promise<Uint8Array>,
): (signal: AbortSignal) => Promise<void> {
  let isStored = false;
  return async (signal) => {
    if (isStored) return;
    const content = gzipSync(await read());
    const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
    await archive.put({ key: configurationKey(sha256), content, ...headers }, signal);
    isStored = true;
  };
}
