import { createHash } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { crc32, gzipSync } from 'node:zlib';
import { runRecordKey } from '../../archive/format/keys';
import { checksumText } from '../../archive/format/object-headers';
import { recordLines } from '../../archive/format/run-record-lines';
import { FolderArchiveReader } from '../../archive/read/folder-archive-reader';
import { readRunRecord } from '../../archive/read/read-run';
import { FolderStore } from '../../local/aws/store/folder-store';
import { newFolder } from '../support/new-folder';
import { type ArchiveFixture, keyOf } from './archive-fixture';
import { healthy, operatorArchive, operatorRuns, runAt } from './operator-archive';
import { SealFixture } from './seal-fixture';

const runsOfDay = 6;

export const recordOf = (at: number) => runRecordKey({ run: runAt(at), attempt: 1 });

/** The operator's archive, of ten clusters, with nine seals. */
export async function sealedOperatorArchive(): Promise<{ archive: ArchiveFixture; seals: SealFixture }> {
  const archive = await operatorArchive(10);
  const seals = new SealFixture(archive);
  for (let first = 0; first + runsOfDay < operatorRuns; first += runsOfDay) {
    const next = runAt(first + runsOfDay);
    await seals.seal({ at: new Date(next.getTime() - 3_600_000), runsBefore: next });
  }
  return { archive, seals };
}

/** A copy of a folder, to be changed. */
export async function copyOf(folder: string): Promise<string> {
  const copy = newFolder();
  await cp(folder, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

/** Replaces a manifest of a run, and the run record that has its hash if asked. */
export async function forgeRun(folder: string, at: number, withRecord: boolean): Promise<void> {
  const store = new FolderStore(folder);
  const content = Buffer.from('kind: forged\n');
  const sha256 = createHash('sha256').update(content).digest('hex');
  const key = keyOf('manifest', healthy, runAt(at));
  const put = async (name: string, body: Buffer, more: Record<string, string>) => {
    const before = await store.head(name);
    const checksums = { crc32: checksumText(crc32(body)) };
    await store.put(name, body, { ...before, userMetadata: { ...before?.userMetadata, ...more }, checksums });
  };
  const body = gzipSync(content);
  const forged = { sha256, bytes: content.length, storedBytes: body.length };
  await put(key, body, { sha256, length: String(content.length) });
  if (!withRecord) return;
  const name = { run: runAt(at), attempt: 1, key: recordOf(at) };
  const { record } = await readRunRecord(new FolderArchiveReader(folder), name);
  if (record === undefined) throw new Error('the record cannot be read');
  const outcomes = [...record.outcomes].map((one) => (one.key === key ? { ...one, ...forged } : one));
  await put(recordOf(at), Buffer.from([...recordLines({ ...record, outcomes })].join('')), {});
}
