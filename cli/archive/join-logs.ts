import { Readable } from 'node:stream';
import { objectKey } from '../../archive/format/keys';
import { LogTextDecoder } from '../../archive/format/log-text';
import type { ObjectFacts } from '../../archive/format/object-metadata';
import {
  type ArchiveReader,
  clusterObjectsNewestFirst,
  damageOf,
  LogHistory,
  type LogLink,
  type ObjectHead,
  type OpenedContent,
  openContent,
  type Period,
  type Seam,
} from '../../archive/read';
import { formatTime } from '../terminal/format';
import { contentOf, type TextParts, textOf } from './read-text';
import { heldNewestFirst } from './recorded-object';
import type { RunReader } from './run-reader';

/** A log, or a run without one, as it stands in the joined log. */
export type JoinedRun = MissingLog | LinkedLog;

/** A run that has no log of the cluster. */
export interface MissingLog {
  readonly run: Date;
  readonly reason: string;
  /** Whether it archived one, which is not there. */
  readonly isGone?: boolean;
}

/** A run that archived a log of the cluster. */
export interface ArchivedLog {
  readonly run: Date;
  readonly reason?: undefined;
}

/** One archived log of a cluster, and how it follows the one before it. */
export interface LinkedLog extends ArchivedLog {
  readonly key: string;
  /** What it says about itself; undefined: it is damaged. */
  readonly head: ObjectHead | undefined;
  readonly link: LogLink;
  /** What the logs before it do not have; undefined: it has no text that could be compared. */
  readonly added: Seam | undefined;
  /** Parts of its text, in chunks that are not empty. Reads a large one again. */
  readonly text: (parts: TextParts) => AsyncIterable<Buffer>;
  /** Why it has no text that could be compared. */
  readonly problem: string | undefined;
  /** What is wrong with its content; undefined: nothing. */
  readonly damage: string | undefined;
  readonly facts: ObjectFacts | undefined;
}

export function isMissing(joined: JoinedRun): joined is MissingLog {
  return joined.reason !== undefined;
}

/**
 * The logs of some runs of a cluster with what each adds to those before it, oldest first, and the runs between them that
 * have none. The newest log with a text before the runs is the base of the first. What is wrong with a log that is not there,
 * or with the base, becomes one of the reader's problems.
 * @param isOfFleet whether many clusters are joined: then no record is read for each, and its base is the newest object
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* joinLogs<Archived extends ArchivedLog>(
  reader: RunReader,
  cluster: string,
  runs: AsyncIterable<Archived | MissingLog> | Iterable<Archived | MissingLog>,
  isOfFleet = false,
): AsyncGenerator<(Archived & LinkedLog) | MissingLog> {
  const { archive } = reader;
  const history = new LogHistory();
  let isFirst = true;
  for await (const one of runs) {
    const { run } = one;
    if (isFirst) await readBase(reader, history, cluster, run, isOfFleet);
    isFirst = false;
    if (one.reason !== undefined) {
      yield one;
      continue;
    }
    const name = { resource: 'log', cluster, run } as const;
    const log = await readLog(archive, history, run, objectKey(name));
    if (log !== undefined) {
      yield { ...one, ...log };
      continue;
    }
    const missing = await reader.held.goneAt(name);
    if (missing !== undefined) reader.problems.push(missing);
    const time = `the run ${formatTime(run)} archived it`;
    const [reason, isGone] = missing
      ? [`missing: ${time}, and it is not there`, true]
      : [`${time}, and the lifecycle has removed it since`, false];
    yield { run, reason, isGone };
  }
}

/** Reads what the first log is compared with. Whatever is passed over for it is one of the problems. */
async function readBase(
  reader: RunReader,
  history: LogHistory,
  cluster: string,
  first: Date,
  isOfFleet: boolean,
): Promise<void> {
  const before = { to: new Date(first.getTime() - 1) };
  const found = isOfFleet
    ? clusterObjectsNewestFirst(reader.archive, 'log', cluster, before, reader.now)
    : recordedLogs(reader, cluster, before);
  for await (const { run, key } of found) {
    const log = await readLog(reader.archive, history, run, key);
    if (log?.damage !== undefined) reader.problems.push({ kind: 'damaged', key, problem: log.damage });
    if (log?.added !== undefined) break;
  }
}

/** The lines of a log that are new above those that it shares with the logs before it. */
export function linesAbove({ above, aboveFrom }: Seam): TextParts['above'] {
  return { from: aboveFrom, to: aboveFrom + above };
}

/** The logs that lie there, newest first. */
async function* recordedLogs(
  reader: RunReader,
  cluster: string,
  period: Period,
): AsyncGenerator<{ readonly run: Date; readonly key: string }> {
  for await (const { object, record } of heldNewestFirst(reader, 'log', cluster, period)) {
    if (object === undefined) reader.problems.push(...(record?.badRecords ?? []));
    if (object?.remark !== undefined && object.remark.kind !== 'note') reader.problems.push(object.remark);
    if (object?.storedBytes !== undefined) yield object;
  }
}

/** @returns undefined if it is not there */
async function readLog(
  archive: ArchiveReader,
  history: LogHistory,
  run: Date,
  key: string,
): Promise<LinkedLog | undefined> {
  const log = history.reader();
  const decoder = new LogTextDecoder();
  let problem: string | undefined;
  let damage: string | undefined;
  let content: OpenedContent | undefined;
  try {
    const opened = await archive.open(key);
    if (opened === undefined) return undefined;
    const found = openContent(key, opened);
    for await (const chunk of decoder.decode(found.body)) log.write(chunk);
    if (!decoder.found) problem = 'it has no text (spec.log)';
    content = found;
  } catch (error) {
    damage = damageOf(error);
    if (damage === undefined) throw error;
    problem = `damaged: ${damage}`;
  }
  const link = history.add(run, content && log.result());
  if (link.lines === 0) problem ??= 'its text is empty';
  const added = link.seam.kind === 'unknown' ? undefined : link.seam;
  const text = (parts: TextParts) => partsOf(archive, key, content, parts);
  return { run, key, head: content, facts: content?.facts, link, added, text, problem, damage };
}

/** @param content what is in one piece is still there; a stream was read to its end */
async function* partsOf(
  archive: ArchiveReader,
  key: string,
  content: OpenedContent | undefined,
  parts: TextParts,
): AsyncGenerator<Buffer> {
  const isHeld = content !== undefined && !(content.body instanceof Readable);
  const { body } = isHeld ? content : await contentOf(archive, key);
  yield* textOf(body, 'log', parts);
}
