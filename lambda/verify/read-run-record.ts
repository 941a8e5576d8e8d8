import { type RunRecord, runRecordSchema } from '../run/run-record';
import { ArchiveReadError, type ArchiveReader } from './archive-reader';
import { damageOf } from './open-content';
import type { RunRecordObject } from './run-keys';

/** Largest run record that is read, in bytes: about 500,000 outcomes. What is larger was not written by a collector. */
const maxRecordBytes = 256 * 1024 * 1024;

/** A run record is there but is none: damaged, replaced, or written by something else. */
export class BadRunRecordError extends Error {
  override readonly name = 'BadRunRecordError';
}

/**
 * Reads and validates one run record. What is read back is as untrusted as what the service sends.
 * @throws BadRunRecordError if it is not a valid record, or not the one its key names
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readRunRecord(reader: ArchiveReader, object: RunRecordObject): Promise<RunRecord> {
  const text = await readText(reader, object);
  const parsed = runRecordSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.map(String).join('.');
    throw new BadRunRecordError(`it is no valid run record: ${path}: ${issue?.message ?? 'unknown'}`);
  }
  const record = parsed.data;
  const same =
    record.run === object.run.toISOString() &&
    record.attempt === object.attempt &&
    record.shard?.index === object.shard?.index &&
    record.shard?.count === object.shard?.count;
  if (!same) throw new BadRunRecordError('its content names another run, shard or attempt than its key');
  return record;
}

async function readText(reader: ArchiveReader, { key, storedBytes }: RunRecordObject): Promise<string> {
  if (storedBytes > maxRecordBytes)
    throw new BadRunRecordError(`it is too large to be a run record: ${storedBytes} bytes`);
  const opened = await reader.open(key);
  if (opened === undefined) throw new ArchiveReadError(`Reading ${key} failed: it was listed but is no longer there`);
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of opened.body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxRecordBytes) throw new BadRunRecordError('it is too large to be a run record');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    const damage = damageOf(error);
    if (damage !== undefined) throw new BadRunRecordError(damage, { cause: error });
    if (error instanceof BadRunRecordError) throw error;
    throw new ArchiveReadError(`Reading ${key} failed: ${(error as Error).message}`, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new BadRunRecordError('it is not JSON', { cause: error });
    throw error;
  }
}
