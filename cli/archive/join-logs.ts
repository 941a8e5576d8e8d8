import { Readable } from 'node:stream';
import { objectKey } from '../../archive/format/keys';
import { LogTextDecoder } from '../../archive/format/log-text';
import {
  type ArchiveReader,
  clusterObjectsNewestFirst,
  damageOf,
  LogHistory,
  type LogLink,
  type ObjectHead,
  type OpenedContent,
  openContent,
  type Seam,
} from '../../archive/read';
import type { OpenedArchive } from './open-archive';
import { contentOf, textOf } from './read-text';
import { archivedAndGone } from './select-object';

/** A log, or a run without one, as it stands in the joined log. */
export type JoinedRun = MissingLog | JoinedLog;

/** A run that has no log of the cluster. */
export interface MissingLog {
  readonly run: Date;
  readonly reason: string;
}

/** A run that archived a log of the cluster. */
export interface ArchivedLog {
  readonly run: Date;
  readonly reason?: undefined;
}

/** One archived log of a cluster, and how it follows the one before it. */
export interface JoinedLog extends ArchivedLog {
  readonly key: string;
  /** What it says about itself; undefined: it is damaged. */
  readonly head: ObjectHead | undefined;
  readonly link: LogLink;
  /** What the log that it follows does not have; undefined: it adds nothing. */
  readonly added: Seam | undefined;
  /** Its text from one of its bytes on, in chunks that are not empty. Reads a large one again. */
  readonly textFrom: (byte: number) => AsyncIterable<Buffer>;
  /** Why it has no text that could be compared. */
  readonly problem: string | undefined;
}

export function isMissing(joined: JoinedRun): joined is MissingLog {
  return joined.reason !== undefined;
}

/**
 * The logs of some runs of a cluster with what each adds to those before it, oldest first, and the runs between them that
 * have none. The newest log with a text before the runs is the base of the first.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* joinLogs<Archived extends ArchivedLog>(
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  cluster: string,
  runs: AsyncIterable<Archived | MissingLog> | Iterable<Archived | MissingLog>,
): AsyncGenerator<(Archived & JoinedLog) | MissingLog> {
  const history = new LogHistory();
  let isFirst = true;
  for await (const one of runs) {
    const { run } = one;
    const before = { to: new Date(run.getTime() - 1) };
    if (isFirst)
      for await (const { key, run: time } of clusterObjectsNewestFirst(archive, 'log', cluster, before, now)) {
        const log = await readLog(archive, history, time, key);
        if (log?.added !== undefined) break;
      }
    isFirst = false;
    if (one.reason !== undefined) {
      yield one;
      continue;
    }
    const log = await readLog(archive, history, run, objectKey({ resource: 'log', cluster, run }));
    yield log === undefined ? { run, reason: archivedAndGone(run) } : { ...one, ...log };
  }
}

/** Lines of a log that are from before the one that it follows: it reaches further back, and they are not printed. */
export function linesBefore({ link, added }: JoinedLog): number {
  return added === undefined ? 0 : Math.max(link.lines - added.shared - added.added, 0);
}

/** @returns undefined if it is not there */
async function readLog(
  archive: ArchiveReader,
  history: LogHistory,
  run: Date,
  key: string,
): Promise<JoinedLog | undefined> {
  const log = history.reader();
  const decoder = new LogTextDecoder();
  let problem: string | undefined;
  let content: OpenedContent | undefined;
  try {
    const opened = await archive.open(key);
    if (opened === undefined) return undefined;
    const found = openContent(key, opened);
    for await (const chunk of decoder.decode(found.body)) log.write(chunk);
    if (!decoder.found) problem = 'it has no text (spec.log)';
    content = found;
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    problem = `damaged: ${damage}`;
  }
  const link = history.add(run, content && log.result());
  if (link.lines === 0) problem ??= 'its text is empty';
  const added = link.seam.kind === 'older' || link.seam.kind === 'unknown' ? undefined : link.seam;
  const textFrom = (byte: number) => textBehind(archive, key, content, byte);
  return { run, key, head: content, link, added, textFrom, problem };
}

/** @param content what is in one piece is still there; a stream was read to its end */
async function* textBehind(
  archive: ArchiveReader,
  key: string,
  content: OpenedContent | undefined,
  byte: number,
): AsyncGenerator<Buffer> {
  const isHeld = content !== undefined && !(content.body instanceof Readable);
  const { body } = isHeld ? content : await contentOf(archive, key);
  yield* textOf(body, 'log', byte);
}
