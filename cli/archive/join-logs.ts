import { Readable } from 'node:stream';
import { objectKey } from '../../lambda/archive/archive-layout';
import { LogHistory, type LogLink } from '../../lambda/log/log-history';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { Seam } from '../../lambda/log/seam';
import type { ArchiveReader, ObjectHead } from '../../lambda/verify/archive-reader';
import { clusterObjectsNewestFirst } from '../../lambda/verify/objects-between';
import { damageOf, type OpenedContent, openContent } from '../../lambda/verify/open-content';
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
interface ReadLog {
  readonly key: string;
  /** What it says about itself; undefined: it is damaged. */
  readonly head: ObjectHead | undefined;
  readonly link: LogLink;
  /** Its text from one of its bytes on, in chunks that are not empty. Reads a large one again. */
  readonly textFrom: (byte: number) => AsyncIterable<Buffer>;
  /** Why it has no text that could be compared. */
  readonly problem: string | undefined;
}

export interface JoinedLog extends ReadLog, ArchivedLog {
  readonly run: Date;
  /** What the log that it follows does not have; undefined: it adds nothing. */
  readonly added: Pick<Seam, 'shared' | 'added' | 'newFrom' | 'lineFrom'> | undefined;
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
  const logs = new LogsInTurn(archive);
  let isFirst = true;
  for await (const one of runs) {
    const { run } = one;
    if (isFirst)
      for await (const { key, run: time } of clusterObjectsNewestFirst(archive, 'log', cluster, before(run), now)) {
        const log = await logs.read(time, key);
        if (log !== undefined && !addsNothing(log)) break;
      }
    isFirst = false;
    if (one.reason !== undefined) {
      yield one;
      continue;
    }
    const log = await logs.read(run, objectKey({ resource: 'log', cluster, run }));
    if (log === undefined) yield { run, reason: archivedAndGone(run) };
    else yield { ...one, ...log, added: addsNothing(log) ? undefined : log.link.seam };
  }
}

function before(run: Date) {
  return { to: new Date(run.getTime() - 1) };
}

/** Lines of a log that are from before the one that it follows: it reaches further back, and they are not printed. */
export function linesBefore({ link, added }: JoinedLog): number {
  return added === undefined ? 0 : Math.max(link.lines - added.shared - added.added, 0);
}

function addsNothing({ link: { seam } }: ReadLog): boolean {
  return seam.kind === 'older' || seam.kind === 'unknown';
}

/** Reads the logs of a cluster, oldest first. */
class LogsInTurn {
  readonly #reader: ArchiveReader;
  readonly #history = new LogHistory();

  constructor(reader: ArchiveReader) {
    this.#reader = reader;
  }

  /** @returns undefined if it is not there */
  async read(run: Date, key: string): Promise<ReadLog | undefined> {
    const log = this.#history.reader();
    const decoder = new LogTextDecoder();
    let problem: string | undefined;
    let content: OpenedContent | undefined;
    try {
      const opened = await this.#reader.open(key);
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
    const link = this.#history.add(run, content && log.result());
    if (link.lines === 0) problem ??= 'its text is empty';
    return { key, head: content, link, textFrom: (byte) => this.#textFrom(key, content, byte), problem };
  }

  /** A stream was read to its end. */
  async *#textFrom(key: string, content: OpenedContent | undefined, byte: number): AsyncGenerator<Buffer> {
    const isHeld = content !== undefined && !(content.body instanceof Readable);
    const { body } = isHeld ? content : await contentOf(this.#reader, key);
    yield* textOf(body, 'log', byte);
  }
}
