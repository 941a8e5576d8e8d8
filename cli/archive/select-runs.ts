import {
  type ArchiveReader,
  firstOf,
  type ListedRun,
  newestFirst,
  type Period,
  runsBetween,
  take,
} from '../../archive/read';
import { formatTime } from '../terminal/format';
import type { OpenedArchive } from './open-archive';

/** The runs that a command is about: exactly one, or those of a period. */
export interface RunSelection extends Period {
  /** The time of this run. */
  readonly run?: Date | undefined;
  /** Only the newest runs of the period; left out: all. */
  readonly last?: number | undefined;
}

/** There is no run of the time, or in the period, that was asked for. */
export class NoSuchRunError extends Error {
  override readonly name = 'NoSuchRunError';
}

/**
 * The runs that were selected, oldest first.
 * @throws NoSuchRunError if one run was asked for and is not there
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* selectRuns(
  reader: ArchiveReader,
  { run, from, to, last }: RunSelection,
  now: Date,
): AsyncGenerator<ListedRun> {
  if (run !== undefined) yield await findRun(reader, run);
  else if (last === undefined) yield* runsBetween(reader, { from, to });
  else {
    const newest: ListedRun[] = [];
    for await (const listed of take(last, runsNewestFirst(reader, { from, to }, now))) newest.push(listed);
    yield* newest.reverse();
  }
}

export function runsNewestFirst(reader: ArchiveReader, period: Period, now: Date): AsyncGenerator<ListedRun> {
  return newestFirst((part) => runsBetween(reader, part), period, now);
}

/**
 * The run of exactly this time.
 * @throws NoSuchRunError that names the nearest runs
 */
export async function findRun(reader: ArchiveReader, time: Date): Promise<ListedRun> {
  const found = await firstOf(runsBetween(reader, { from: time, to: time }));
  if (found !== undefined) return found;
  const before = await firstOf(runsNewestFirst(reader, { to: time }, time));
  const after = await firstOf(runsBetween(reader, { from: time }));
  const nearest = [before, after].filter((listed) => listed !== undefined).map(({ run }) => formatTime(run));
  throw new NoSuchRunError(
    `Finding the run ${formatTime(time)} failed: the archive has none; ` +
      (nearest.length === 0 ? 'the archive has no runs' : `the nearest: ${nearest.join(', ')}`),
  );
}

/** No run lies in a period: nothing was looked at, which is not the same as nothing found. @param doing as a noun phrase */
export async function noRuns(opened: Pick<OpenedArchive, 'archive' | 'now'>, doing: string): Promise<NoSuchRunError> {
  return new NoSuchRunError(`${doing} failed: ${await describeNoRuns(opened)}`);
}

/** `no run lies in this period; the archive has those of … to …`. */
export async function describeNoRuns({ archive, now }: Pick<OpenedArchive, 'archive' | 'now'>): Promise<string> {
  const oldest = await firstOf(runsBetween(archive, {}));
  if (oldest === undefined) return 'the archive has no runs';
  const newest = (await firstOf(runsNewestFirst(archive, {}, now))) ?? oldest;
  const [from, to] = [oldest, newest].map(({ run }) => formatTime(run));
  return `no run lies in this period; the archive has ${from === to ? `one, of ${from}` : `those of ${from} to ${to}`}`;
}
