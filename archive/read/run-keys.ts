import { type Find, findStray } from '../format/finding';
import { parseRunRecordKey, type RunRecordName, runPrefix, runsPrefix } from '../format/keys';
import type { ArchiveReader, ListedObject } from './archive-reader';

/** Times of runs, both ends included; left out: without limit. */
export interface Period {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Whether a run lies in a period. */
export function isWithin(run: Date, { from, to }: Period): boolean {
  return (from === undefined || run >= from) && (to === undefined || run <= to);
}

export interface RunRecordObject extends RunRecordName, ListedObject {}

/** A run of a listing, with its records by shard and attempt. */
export interface ListedRun {
  readonly run: Date;
  readonly records: readonly RunRecordObject[];
}

/**
 * Lists the runs of a period in the order of their times. Only that part of the archive is listed.
 * @param find gets each key under the prefix that is not of a run record
 */
export async function* runsBetween(
  reader: ArchiveReader,
  period: Period,
  find: Find = () => {},
): AsyncGenerator<ListedRun> {
  let current: { run: Date; records: RunRecordObject[] } | undefined;
  for await (const object of reader.list(runsPrefix, period.from && runPrefix(period.from))) {
    const name = parseRunRecordKey(object.key);
    if (name === undefined) {
      findStray(find, object);
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

function inOrder({ run, records }: { run: Date; records: RunRecordObject[] }): ListedRun {
  const index = (record: RunRecordObject) => record.shard?.index ?? -1;
  const count = (record: RunRecordObject) => record.shard?.count ?? 0;
  // Listed by text, attempt-10 comes before attempt-2.
  records.sort((a, b) => count(a) - count(b) || index(a) - index(b) || a.attempt - b.attempt);
  return { run, records };
}
