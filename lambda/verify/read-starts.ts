import type { RunRecordName } from '../archive/archive-layout';
import { largestRecordBytes, RunRecordError, type StoredRecord } from '../run/run-record';
import { longestLineBytes, RunRecordParser } from '../run/run-record-lines';
import { ArchiveReadError, type ArchiveReader, DamagedObjectError, discard } from './archive-reader';
import { type AttemptStart, type StoredRun, startOf } from './read-run';
import { chunksOf, parseJson, readObject } from './read-whole';
import type { ListedRun } from './run-keys';

/**
 * How and when the attempts of a run were started: the first line of each record, and nothing behind it. A record that cannot
 * be used is passed over.
 * @throws RunStopped if the reader has no more time
 */
export async function readStarts(
  reader: ArchiveReader,
  { run, records }: ListedRun,
): Promise<Pick<StoredRun, 'run' | 'starts'>> {
  const starts: AttemptStart[] = [];
  for (const record of records) {
    const head = await readHead(reader, record);
    if (head !== undefined) starts.push(startOf(head, record.writtenAt));
  }
  return { run, starts };
}

/** The first line of a run record, as a record without outcomes; undefined: it cannot be used. */
export async function readHead(
  reader: ArchiveReader,
  object: RunRecordName & { readonly key: string },
): Promise<StoredRecord | undefined> {
  try {
    return await readObject(reader, object.key, largestRecordBytes, async ({ body, storedBytes }) => {
      const line = await firstLine(chunksOf(body, storedBytes));
      discard(body);
      return parseRecordLines(object, line, []);
    });
  } catch (error) {
    const isBad = [RunRecordError, DamagedObjectError, ArchiveReadError].some((type) => error instanceof type);
    if (isBad) return undefined;
    throw error;
  }
}

async function firstLine(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  let line: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    line = Buffer.concat([line, chunk]);
    const end = line.indexOf('\n');
    if (end >= 0) return line.subarray(0, end);
    if (line.length > longestLineBytes) break;
  }
  throw new DamagedObjectError('its first line does not end');
}

/**
 * Validates some lines of a run record as those of a record that has no others.
 * @param own each ends with LF
 * @throws RunRecordError, DamagedObjectError
 */
export function parseRecordLines(object: RunRecordName, head: Buffer, own: readonly Buffer[]): StoredRecord {
  const run = { ...(parseJson(head) as object), outcomes: own.length };
  const lines = Buffer.concat([Buffer.from(`${JSON.stringify(run)}\n`), ...own]);
  const parser = new RunRecordParser(object, lines.length);
  parser.add(lines);
  return parser.end();
}
