import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { parseRunRecordKey, type RunRecordName, runPrefix, runRecordKey } from '../archive/archive-layout';
import type { ArchiveObject, Content } from '../archive/archive-object';
import { memoryLimitBytes } from '../body/spool';
import { recordWriteSeconds } from '../stack-contract';
import { largestRecordBytes, type RunRecord, RunRecordError } from './run-record';
import { parseRunRecord } from './stored-record';

/** The bucket as far as run records need it. */
export interface TextStore {
  readonly bucket: string;
  put(object: ArchiveObject, signal: AbortSignal): Promise<'archived' | 'already-archived'>;
  getText(key: string, maxBytes: number, signal: AbortSignal): Promise<string | undefined>;
  keys(prefix: string, signal: AbortSignal): Promise<string[]>;
}

/** Attempt numbers that are tried before the writing of a record is given up: each was taken by another invocation. */
const mostNumbers = 1000;

/** The run records of the archive. What is read back is untrusted: anyone with the right to write may have. */
export class RunRecords {
  readonly #store: TextStore;
  readonly #writeLimitMs: number;

  /** @param writeLimitMs how long the writing of one record may take, retries included */
  constructor(store: TextStore, writeLimitMs = recordWriteSeconds * 1000) {
    this.#store = store;
    this.#writeLimitMs = writeLimitMs;
  }

  /** The records that exist of one run, all shards, by attempt. @throws ArchiveError */
  async list(run: Date, signal: AbortSignal): Promise<RunRecordName[]> {
    const names = (await this.#store.keys(runPrefix(run), signal)).flatMap((key) => parseRunRecordKey(key) ?? []);
    return names.sort((a, b) => a.attempt - b.attempt);
  }

  /** @throws RunRecordError if it is absent, damaged or of another attempt; ArchiveError */
  async read(name: RunRecordName, signal: AbortSignal): Promise<RunRecord> {
    const key = runRecordKey(name);
    const failed = (reason: string, cause?: unknown) =>
      new RunRecordError(`Reading the run record ${this.address(name)} failed: ${reason}`, { cause });
    const text = await this.#store.getText(key, largestRecordBytes, signal);
    if (text === undefined) throw failed('there is none');
    try {
      const record = parseRunRecord(Buffer.from(text), name);
      return { ...record, outcomes: [...record.outcomes] };
    } catch (error) {
      throw error instanceof RunRecordError ? failed(error.message, error.cause) : error;
    }
  }

  /**
   * Writes a record under the first free attempt number from its own on: two invocations of one run do not overwrite
   * each other. If the number is taken by this very record, because only the answer to its writing was lost, the record
   * keeps it. Writing has a time limit of its own, which may end after the run's deadline.
   * @returns the name it was written under
   * @throws RunRecordError, ArchiveError
   */
  async write(record: RunRecord): Promise<RunRecordName> {
    const signal = AbortSignal.timeout(this.#writeLimitMs);
    const end = record.attempt + mostNumbers;
    for (let attempt = record.attempt; attempt < end; attempt += 1) {
      const name = { run: new Date(record.run), shard: record.shard, attempt };
      try {
        if (await this.#putOnce(runRecordKey(name), { ...record, attempt }, signal)) return name;
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new RunRecordError(`Writing the run record ${this.address(name)} failed: it took too long`, {
          cause: error,
        });
      }
    }
    throw new RunRecordError(
      `Writing the record of run ${record.run} failed: the ${mostNumbers} attempt numbers from ${record.attempt} on are all taken`,
    );
  }

  /** @returns whether the record is what lies under the key now */
  async #putOnce(key: string, record: RunRecord, signal: AbortSignal): Promise<boolean> {
    const object = { key, content: recordContent(record), contentType: 'application/json' };
    if ((await this.#store.put(object, signal)) === 'archived') return true;
    const text = await this.#store.getText(key, largestRecordBytes, signal).catch(() => {
      signal.throwIfAborted();
      // What cannot be read is taken for another invocation's: this record goes under the next number.
      return undefined;
    });
    return text !== undefined && isRecordText(text, record);
  }

  /** Where a record lies: `s3://bucket/key`. */
  address(name: RunRecordName): string {
    return `s3://${this.#store.bucket}/${runRecordKey(name)}`;
  }
}

/** About how much of a record is text at once, in characters. */
const pieceLength = 64 * 1024;

/**
 * A record as its one line of JSON, piece by piece: for 45,000 clusters it has 50 MB, and as one string it would be in
 * memory three times.
 */
function* recordPieces({ outcomes, ...rest }: RunRecord): Generator<string> {
  let piece = `${JSON.stringify(rest).slice(0, -1)},"outcomes":[`;
  let separator = '';
  for (const outcome of outcomes) {
    piece += separator + JSON.stringify(outcome);
    separator = ',';
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}\n`;
}

/** What is stored of a record; a long one is made anew, piece by piece, each time it is sent. */
function recordContent(record: RunRecord): Content {
  let length = 0;
  let crc = 0;
  for (const piece of recordPieces(record)) {
    length += Buffer.byteLength(piece);
    crc = crc32(piece, crc);
  }
  if (length <= memoryLimitBytes) return Buffer.from([...recordPieces(record)].join(''));
  return { length, crc32: crc, open: () => Readable.from(recordPieces(record), { objectMode: false }) };
}

/** Whether a text is what would be stored of a record. */
function isRecordText(text: string, record: RunRecord): boolean {
  let compared = 0;
  for (const piece of recordPieces(record)) {
    if (!text.startsWith(piece, compared)) return false;
    compared += piece.length;
  }
  return compared === text.length;
}
