import type { ArchiveReader } from './archive-reader';
import { newestFirst, take } from './newest-first';
import { type ListedRun, type Period, runsBetween } from './run-keys';
import type { SeenRun } from './seen-run';

/** Runs beside a period that are read at most to find the one that the schedule started. */
const mostRead = 10;

type Read = (listed: ListedRun) => Promise<SeenRun>;

/** The last run before a period that the schedule started, and the runs between it and the period, in order. */
export async function runsBefore(reader: ArchiveReader, { from }: Period, read: Read): Promise<SeenRun[]> {
  if (from === undefined) return [];
  const list = (period: Period) => runsBetween(reader, period);
  const before = newestFirst(list, { to: new Date(from.getTime() - 1) }, from);
  return (await untilScheduled(before, read)).reverse();
}

/** The runs after a period up to the first that the schedule started. */
export function runsUntilScheduled(reader: ArchiveReader, period: Period, read: Read): Promise<SeenRun[]> {
  return untilScheduled(runsAfter(reader, period), read);
}

/** All runs after a period. */
export async function* runsAfter(reader: ArchiveReader, { to }: Period): AsyncGenerator<ListedRun> {
  if (to !== undefined) yield* runsBetween(reader, { from: new Date(to.getTime() + 1) });
}

async function untilScheduled(listed: AsyncIterable<ListedRun>, read: Read): Promise<SeenRun[]> {
  const runs: SeenRun[] = [];
  for await (const one of take(mostRead, listed)) {
    const run = await read(one);
    runs.push(run);
    if (run.isScheduled) break;
  }
  return runs;
}
