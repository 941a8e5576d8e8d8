import { parseRunRecordKey, type RunRecordName, runPrefix, runsPrefix } from '../archive/archive-layout';
import type { ArchiveReader, ListedObject } from './archive-reader';

/** Times of runs, both ends included; left out: without limit. */
export interface Period {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

export interface RunRecordObject extends RunRecordName, ListedObject {}

/** A run of a listing, with its records by shard and attempt. */
export interface ListedRun {
  readonly run: Date;
  readonly records: readonly RunRecordObject[];
}

const dayMs = 86_400_000;

/**
 * Lists the runs of a period in the order of their times. Only that part of the archive is listed.
 * @param onOther called with each object under the prefix whose key is not that of a run record
 */
export async function* runsBetween(
  reader: ArchiveReader,
  period: Period,
  onOther: (object: ListedObject) => void = () => {},
): AsyncGenerator<ListedRun> {
  let current: { run: Date; records: RunRecordObject[] } | undefined;
  for await (const object of reader.list(runsPrefix, period.from && runPrefix(period.from))) {
    const name = parseRunRecordKey(object.key);
    if (name === undefined) {
      onOther(object);
      continue;
    }
    if (period.to !== undefined && name.run > period.to) break;
    if (current !== undefined && current.run.getTime() !== name.run.getTime()) {
      yield inOrder(current);
      current = undefined;
    }
    current ??= { run: name.run, records: [] };
    current.records.push({ ...name, ...object });
  }
  if (current !== undefined) yield inOrder(current);
}

/**
 * The newest runs of a period, oldest first. A listing runs forward only: so it looks at the last day, then at the two
 * days before, the four before those, until there are enough.
 * @param now where to begin if the period has no end
 */
export async function newestRuns(
  reader: ArchiveReader,
  period: Period,
  limit: number,
  now: Date,
): Promise<ListedRun[]> {
  const oldest = await firstOf(runsBetween(reader, period));
  if (oldest === undefined) return [];
  // A day ahead of now, because clocks differ.
  let end = period.to?.getTime() ?? Math.max(now.getTime(), oldest.run.getTime()) + dayMs;
  let runs: ListedRun[] = [];
  for (let span = dayMs; runs.length < limit && end >= oldest.run.getTime(); span *= 2) {
    const start = Math.max(end - span + 1, oldest.run.getTime());
    const found: ListedRun[] = [];
    for await (const run of runsBetween(reader, { from: new Date(start), to: new Date(end) })) found.push(run);
    runs = [...found, ...runs];
    end = start - 1;
  }
  return runs.slice(-limit);
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}

function inOrder({ run, records }: { run: Date; records: RunRecordObject[] }): ListedRun {
  const index = (record: RunRecordObject) => record.shard?.index ?? -1;
  const count = (record: RunRecordObject) => record.shard?.count ?? 0;
  // Listed by text, attempt-10 comes before attempt-2.
  records.sort((a, b) => count(a) - count(b) || index(a) - index(b) || a.attempt - b.attempt);
  return { run, records };
}
