import { LogHistory, type LogLink } from '../../lambda/log/log-history';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { LogReader } from '../../lambda/log/seam';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { damageOf } from '../../lambda/verify/open-content';
import { type ListedRun, type Period, runsBetween } from '../../lambda/verify/run-keys';
import { type ClusterObject, clusterObjects, clusterObjectsNewestFirst } from './cluster-objects';
import { byRun } from './list-outcomes';
import { behind, readChunks, textChunks } from './read-text';
import { whyNotArchived } from './select-object';

/** One archived log of a cluster, and how it follows the one before it. */
export interface LogSnapshot {
  readonly run: Date;
  readonly key: string;
  readonly link: LogLink;
  /** Its text from one of its bytes on. Reads it again if it is no longer held. */
  readonly textFrom: (byte: number) => AsyncIterable<Buffer>;
  /** Runs at whose logs a gap was told that a later log may still close. */
  readonly openGaps: readonly Date[];
  /** Why it has no text that could be compared. */
  readonly problem: string | undefined;
  readonly isDamaged: boolean;
}

/** A run that has no log of the cluster. */
export interface MissingLog {
  readonly run: Date;
  readonly reason: string;
}

export interface SnapshotOptions {
  readonly cluster: string;
  readonly period: Period;
  /** Whether texts are wanted: the last one is held then, so that it need not be read again. */
  readonly isHeld: boolean;
  readonly now: Date;
}

/**
 * The logs of a cluster in a period, oldest first, and the runs between them that have none. The newest log before the
 * period is the base of the first; it is read too.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* logSnapshots(
  reader: ArchiveReader,
  { cluster, period, isHeld, now }: SnapshotOptions,
): AsyncGenerator<LogSnapshot | MissingLog> {
  const logs = new LogsInTurn(reader, isHeld);
  if (period.from !== undefined) await readBase(reader, logs, cluster, period.from, now);
  let archived: number | undefined;
  const objects = clusterObjects(reader, 'log', cluster, period);
  for await (const item of byRun<ClusterObject | ListedRun>([objects, runsBetween(reader, period)])) {
    if ('key' in item) {
      archived = item.run.getTime();
      yield await logs.read(item);
    } else if (item.run.getTime() !== archived) {
      yield { run: item.run, reason: await whyNotArchived(reader, 'log', cluster, item) };
    }
  }
}

/** Makes the newest log before a time that has a text the base of what follows. */
async function readBase(
  reader: ArchiveReader,
  logs: LogsInTurn,
  cluster: string,
  from: Date,
  now: Date,
): Promise<void> {
  const before = { to: new Date(from.getTime() - 1) };
  for await (const object of clusterObjectsNewestFirst(reader, 'log', cluster, before, now)) {
    const { link } = await logs.read(object);
    if (link.seam.kind !== 'unknown') return;
  }
}

/** Longest text that is held, in bytes. Nearly all logs are shorter; one that is read twice takes up to twice as long. */
const mostHeld = 16 * 1024 * 1024;

/** Bytes in a chunk of a held text. */
const chunkBytes = 64 * 1024;

/** Reads the logs of a cluster, oldest first. */
class LogsInTurn {
  readonly #reader: ArchiveReader;
  readonly #history = new LogHistory();
  /** All texts stand in the same memory, one at a time: what is let go of is collected late. Empty: none is held. */
  readonly #room: Buffer;
  /** The key of the text in it, and its length so far. */
  #held: { readonly key: string; length: number } | undefined;

  constructor(reader: ArchiveReader, isHeld: boolean) {
    this.#reader = reader;
    // Memory that is never written to costs nothing.
    this.#room = Buffer.allocUnsafeSlow(isHeld ? mostHeld : 0);
  }

  async read({ key, run }: ClusterObject): Promise<LogSnapshot> {
    const log = this.#history.reader();
    let problem: string | undefined;
    let damage: string | undefined;
    try {
      if (!(await this.#readInto(log, key))) problem = 'it has no text (spec.log)';
    } catch (error) {
      damage = damageOf(error);
      if (damage === undefined) throw error;
      problem = `damaged: ${damage}`;
    }
    const link = this.#history.add(run, damage === undefined ? log.result() : undefined);
    if (link.lines === 0) problem ??= 'its text is empty';
    const { openGaps } = this.#history;
    const textFrom = (byte: number) => this.#textFrom(key, byte);
    return { run, key, link, textFrom, openGaps, problem, isDamaged: damage !== undefined };
  }

  /** @returns whether the record has a text */
  async #readInto(log: LogReader, key: string): Promise<boolean> {
    const decoder = new LogTextDecoder();
    const { chunks } = await readChunks(this.#reader, key);
    this.#held = { key, length: 0 };
    for await (const chunk of decoder.decode(chunks, this.#allocate)) {
      log.write(chunk);
      if (this.#held !== undefined) this.#held.length += chunk.length;
    }
    return decoder.found;
  }

  /** Where the next chunk is decoded to: behind those before it, as long as there is room. */
  readonly #allocate = (bytes: number): Buffer => {
    const room = this.#room.subarray(this.#held?.length ?? this.#room.length);
    if (room.length >= bytes) return room;
    this.#held = undefined;
    return Buffer.allocUnsafe(bytes);
  };

  async *#textFrom(key: string, byte: number): AsyncGenerator<Buffer> {
    if (this.#held?.key !== key) {
      const { chunks } = await readChunks(this.#reader, key);
      yield* behind(textChunks(chunks, 'log'), byte);
      return;
    }
    // Copies: whoever writes them out may still have them when the next text is in their place.
    const text = this.#room.subarray(0, this.#held.length);
    for (let at = byte; at < text.length; at += chunkBytes) yield Buffer.from(text.subarray(at, at + chunkBytes));
  }
}
