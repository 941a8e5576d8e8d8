import { DamagedObjectError } from '../../../archive/format/damaged-object-error';
import { type RunRecordName, runRecordKey } from '../../../archive/format/keys';
import { type RecordHead, runSchema } from '../../../archive/format/run-record';
import { longestLineBytes } from '../../../archive/format/run-record-lines';
import { shardName } from '../../../archive/format/shard';
import type { ArchiveReader } from '../../../archive/read/s3-archive-reader';

/**
 * The first line of a run record, however long the rest is.
 * @throws DamagedObjectError if it is absent, damaged or of another attempt; ArchiveReadError; the reason of the reader's signal
 */
export async function readRecordHead(reader: ArchiveReader, name: RunRecordName): Promise<RecordHead> {
  const line = await firstLine(reader, runRecordKey(name));
  return unlessDamaged(() => {
    const head = runSchema.parse(JSON.parse(line));
    const isOwn =
      head.run === name.run.toISOString() &&
      head.attempt === name.attempt &&
      shardName(head.shard) === shardName(name.shard);
    return isOwn ? head : undefined;
  });
}

async function firstLine(reader: ArchiveReader, key: string): Promise<string> {
  const opened = await reader.open(key);
  if (opened === undefined) throw new DamagedObjectError('it is not there');
  let line = Buffer.alloc(0);
  for await (const chunk of opened.body as AsyncIterable<Buffer> | Iterable<Buffer>) {
    line = Buffer.concat([line, chunk.subarray(0, longestLineBytes + 1)]);
    if (line.includes('\n') || line.length > longestLineBytes) break;
  }
  return line.toString('utf8', 0, Math.max(0, line.indexOf('\n')));
}

/** @throws DamagedObjectError */
export function unlessDamaged<Value>(read: () => Value | undefined): Value {
  let value: Value | undefined;
  try {
    value = read();
  } catch (error) {
    throw new DamagedObjectError('it is damaged', { cause: error });
  }
  if (value === undefined) throw new DamagedObjectError('it is damaged');
  return value;
}
