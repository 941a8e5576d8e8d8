import type { ArchiveReader } from './archive-reader';
import { newestFirst, take } from './newest-first';
import { type ListedRun, type Period, runsBetween } from './run-keys';
import type { ConfiguredRun } from './verify-run';

/** Runs beside a period that are read at most to find the one that the schedule started. */
const mostRead = 10;

type Read<Seen> = (listed: ListedRun) => Promise<Seen>;

/** The last run before a period that the schedule started, and the runs between it and the period, in order. */
export async function runsBefore<Seen extends { readonly isScheduled: boolean }>(
  reader: ArchiveReader,
  { from }: Period,
  read: Read<Seen>,
): Promise<Seen[]> {
  if (from === undefined) return [];
  const list = (period: Period) => runsBetween(reader, period);
  const newest = newestFirst(list, { to: new Date(from.getTime() - 1) }, from);
  const runs: Seen[] = [];
  for await (const listed of take(mostRead, newest)) {
    const run = await read(listed);
    runs.unshift(run);
    if (run.isScheduled) break;
  }
  return runs;
}

/** The runs after a period up to the first that the schedule started. */
export async function* runsUntilScheduled(
  reader: ArchiveReader,
  period: Period,
  read: Read<ConfiguredRun>,
): AsyncGenerator<ConfiguredRun> {
  let count = 0;
  for await (const run of runsAfter(reader, period, read)) {
    yield run;
    count += 1;
    if (run.isScheduled || count === mostRead) return;
  }
}

/** All runs after a period. */
export async function* runsAfter(
  reader: ArchiveReader,
  { to }: Period,
  read: Read<ConfiguredRun>,
): AsyncGenerator<ConfiguredRun> {
  if (to === undefined) return;
  for await (const listed of runsBetween(reader, { from: new Date(to.getTime() + 1) })) yield await read(listed);
}
