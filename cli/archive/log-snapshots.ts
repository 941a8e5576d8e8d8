import { LogHistory, type LogLink } from '../../lambda/log/log-history';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { LogReader } from '../../lambda/log/seam';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { DamagedObjectError, damageOf, type ReadContent, readContent } from '../../lambda/verify/open-content';
import { type ListedRun, type Period, runsBetween } from '../../lambda/verify/run-keys';
import { type ClusterObject, clusterObjects, clusterObjectsNewestFirst } from './cluster-objects';
import { HeldText } from './held-text';
import { byRun } from './list-outcomes';
import { behind } from './read-text';
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
  /** Longest text that is held in memory until the next log is read, in bytes: another that is wanted is read again. */
  readonly hold: number;
  readonly now: Date;
}

/**
 * The logs of a cluster in a period, oldest first, and the runs between them that have none. The newest log before the
 * period is the base of the first; it is read too.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* logSnapshots(
  reader: ArchiveReader,
  { cluster, period, hold, now }: SnapshotOptions,
): AsyncGenerator<LogSnapshot | MissingLog> {
  const logs = new LogsInTurn(reader, hold);
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

/** Reads the logs of a cluster, oldest first. */
class LogsInTurn {
  readonly #reader: ArchiveReader;
  readonly #history = new LogHistory();
  readonly #held: HeldText;

  constructor(reader: ArchiveReader, hold: number) {
    this.#reader = reader;
    this.#held = new HeldText(hold);
  }

  async read({ key, run }: ClusterObject): Promise<LogSnapshot> {
    const history = this.#history;
    const common = { run, key, textFrom: (byte: number) => this.#textFrom(key, byte) };
    const log = history.reader();
    try {
      const found = await this.#readInto(log, key);
      const link = history.add(run, log.end());
      const problem = found ? (link.lines === 0 ? 'its text is empty' : undefined) : 'it has no text (spec.log)';
      return { ...common, link, openGaps: history.openGaps, problem, isDamaged: false };
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      const link = history.skip(run);
      return { ...common, link, openGaps: history.openGaps, problem: `damaged: ${damage}`, isDamaged: true };
    }
  }

  /** @returns whether the record has a text */
  async #readInto(log: LogReader, key: string): Promise<boolean> {
    const decoder = new LogTextDecoder();
    const held = this.#held;
    const { body, facts } = await contentOf(this.#reader, key);
    held.begin(key, facts.length);
    for await (const chunk of decoder.decode(chunksOf(body), held.allocate)) {
      log.write(chunk);
      held.add(chunk.length);
    }
    return decoder.found;
  }

  async *#textFrom(key: string, byte: number): AsyncGenerator<Buffer> {
    if (this.#held.has(key)) {
      yield* this.#held.chunks(byte);
      return;
    }
    const { body } = await contentOf(this.#reader, key);
    yield* behind(new LogTextDecoder().decode(chunksOf(body)), byte);
  }
}

async function contentOf(reader: ArchiveReader, key: string): Promise<ReadContent> {
  const content = await readContent(reader, key);
  if (content === undefined) throw new DamagedObjectError('it is no longer there');
  return content;
}

function chunksOf(body: ReadContent['body']): AsyncIterable<Buffer> | Buffer[] {
  return Buffer.isBuffer(body) ? [body] : (body as AsyncIterable<Buffer>);
}
