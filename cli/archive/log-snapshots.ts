import { LogHistory, type LogLink } from '../../lambda/log/log-history';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { LogReader } from '../../lambda/log/seam';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { DamagedObjectError, damageOf, readContent } from '../../lambda/verify/open-content';
import { type ListedRun, type Period, runsBetween } from '../../lambda/verify/run-keys';
import { type ClusterObject, clusterObjects, clusterObjectsNewestFirst } from './cluster-objects';
import { byRun } from './list-outcomes';
import { behind } from './read-text';
import { whyNotArchived } from './select-object';

/** One archived log of a cluster, and how it follows the one before it. */
export interface LogSnapshot {
  readonly run: Date;
  readonly key: string;
  readonly link: LogLink;
  /** Its text, if it was short enough to be held. */
  readonly text: readonly Buffer[] | undefined;
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
  /** Longest text that is held in memory, in bytes: a longer one that is wanted is read a second time. */
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
  const history = new LogHistory();
  if (period.from !== undefined) await readBase(reader, history, cluster, period.from, now);
  let archived: number | undefined;
  const objects = clusterObjects(reader, 'log', cluster, period);
  for await (const item of byRun<ClusterObject | ListedRun>([objects, runsBetween(reader, period)])) {
    if ('key' in item) {
      archived = item.run.getTime();
      // Behind a gap, logs wait for the one that may close it.
      yield await readSnapshot(reader, history, item, history.openGaps.length === 0 ? hold : 0);
    } else if (item.run.getTime() !== archived) {
      yield { run: item.run, reason: await whyNotArchived(reader, 'log', cluster, item) };
    }
  }
}

/** Makes the newest log before a time that has a text the base of what follows. */
async function readBase(
  reader: ArchiveReader,
  history: LogHistory,
  cluster: string,
  from: Date,
  now: Date,
): Promise<void> {
  const before = { to: new Date(from.getTime() - 1) };
  for await (const object of clusterObjectsNewestFirst(reader, 'log', cluster, before, now)) {
    const { link } = await readSnapshot(reader, history, object, 0);
    if (link.seam.kind !== 'unknown') return;
  }
}

async function readSnapshot(
  reader: ArchiveReader,
  history: LogHistory,
  { key, run }: ClusterObject,
  most: number,
): Promise<LogSnapshot> {
  const log = history.reader();
  const common = { run, key };
  try {
    const { text, found } = await readInto(log, reader, key, most);
    const link = history.add(run, log.end());
    const problem = found ? (link.lines === 0 ? 'its text is empty' : undefined) : 'it has no text (spec.log)';
    return { ...common, link, text, openGaps: history.openGaps, problem, isDamaged: false };
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    const link = history.skip(run);
    return { ...common, link, text: [], openGaps: history.openGaps, problem: `damaged: ${damage}`, isDamaged: true };
  }
}

async function readInto(
  log: LogReader,
  reader: ArchiveReader,
  key: string,
  most: number,
): Promise<{ text: Buffer[] | undefined; found: boolean }> {
  const decoder = new LogTextDecoder();
  let text: Buffer[] | undefined = [];
  let held = 0;
  for await (const chunk of decoder.decode(await contentOf(reader, key))) {
    log.write(chunk);
    held += chunk.length;
    if (held > most) text = undefined;
    text?.push(chunk);
  }
  return { text, found: decoder.found };
}

/** The text of a log from one of its bytes on. Reads it again if it was not held. */
export async function* textFrom(
  reader: ArchiveReader,
  { key, text }: Pick<LogSnapshot, 'key' | 'text'>,
  from: number,
): AsyncGenerator<Buffer> {
  yield* behind(text ?? new LogTextDecoder().decode(await contentOf(reader, key)), from);
}

async function contentOf(reader: ArchiveReader, key: string): Promise<AsyncIterable<Buffer> | Buffer[]> {
  const content = await readContent(reader, key);
  if (content === undefined) throw new DamagedObjectError('it is no longer there');
  return Buffer.isBuffer(content.body) ? [content.body] : (content.body as AsyncIterable<Buffer>);
}
