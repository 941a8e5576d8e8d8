import { objectKey } from '../../lambda/archive/archive-layout';
import { LogHistory, type LogLink } from '../../lambda/log/log-history';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { Seam } from '../../lambda/log/seam';
import type { ArchiveReader, ObjectHead } from '../../lambda/verify/archive-reader';
import { clusterObjectsNewestFirst } from '../../lambda/verify/objects-between';
import { damageOf, openContent } from '../../lambda/verify/open-content';
import type { OpenedArchive } from './open-archive';
import { behind, contentOf, textOf } from './read-text';
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
  /** Its text from one of its bytes on, in chunks that are not empty. Reads it again if it is no longer held. */
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
 * @param isHeld whether texts are wanted
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* joinLogs<Archived extends ArchivedLog>(
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  cluster: string,
  runs: AsyncIterable<Archived | MissingLog> | Iterable<Archived | MissingLog>,
  isHeld: boolean,
): AsyncGenerator<(Archived & JoinedLog) | MissingLog> {
  const logs = new LogsInTurn(archive, isHeld);
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

/** Longest text that is held, in bytes. Nearly all logs are shorter; one that is read twice takes up to twice as long. */
const mostHeld = 4 * 1024 * 1024;

/** Reads the logs of a cluster, oldest first. */
class LogsInTurn {
  readonly #reader: ArchiveReader;
  readonly #history = new LogHistory();
  readonly #mostHeld: number;
  /** The last text, as far as it is held, and its key. */
  #held: { readonly key: string; readonly chunks: Buffer[]; length: number } | undefined;

  /** @param isHeld whether texts are wanted: the last one is held then, so that it need not be read again */
  constructor(reader: ArchiveReader, isHeld: boolean) {
    this.#reader = reader;
    this.#mostHeld = isHeld ? mostHeld : 0;
  }

  /** @returns undefined if it is not there */
  async read(run: Date, key: string): Promise<ReadLog | undefined> {
    const log = this.#history.reader();
    const decoder = new LogTextDecoder();
    let problem: string | undefined;
    let head: ObjectHead | undefined;
    try {
      const opened = await this.#reader.open(key);
      if (opened === undefined) return undefined;
      const { body, ...content } = openContent(key, opened);
      this.#held = { key, chunks: [], length: 0 };
      for await (const chunk of decoder.decode(body)) {
        log.write(chunk);
        this.#hold(chunk);
      }
      if (!decoder.found) problem = 'it has no text (spec.log)';
      head = content;
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      problem = `damaged: ${damage}`;
    }
    const link = this.#history.add(run, head && log.result());
    if (link.lines === 0) problem ??= 'its text is empty';
    return { key, head, link, textFrom: (byte) => this.#textFrom(key, byte), problem };
  }

  #hold(chunk: Buffer): void {
    if (this.#held === undefined) return;
    this.#held.chunks.push(chunk);
    this.#held.length += chunk.length;
    if (this.#held.length > this.#mostHeld) this.#held = undefined;
  }

  async *#textFrom(key: string, byte: number): AsyncGenerator<Buffer> {
    if (this.#held?.key === key) yield* behind(this.#held.chunks, byte);
    else yield* textOf((await contentOf(this.#reader, key)).body, 'log', byte);
  }
}
