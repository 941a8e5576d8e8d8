import { createHash } from 'node:crypto';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, gzipSync, zstdCompressSync } from 'node:zlib';
import { parseObjectKey, parseRunRecordKey } from '../../lambda/archive/archive-layout';
import { checksumText } from '../../lambda/archive/checksum';
import { isStored, type RunRecord } from '../../lambda/run/run-record';
import { recordLines } from '../../lambda/run/run-record-lines';
import { readRunRecord } from '../../lambda/verify/read-run';
import { FolderStore } from '../../local/aws/store/folder-store';
import { keysFolder } from '../../local/aws/store/key-path';
import { FolderArchiveReader } from '../archive/folder-archive-reader';
import { readText } from '../archive/read-text';

/** A copy of an archive in which somebody has replaced a manifest. */
export interface TamperedCopy {
  readonly folder: string;
  /** Keys of the manifest and of the run records that say something of it. */
  readonly replaced: readonly string[];
}

const addition = '# This line was added after the audit, by somebody who may write to the bucket.\n';

/**
 * Copies an archive, and replaces one manifest of a run in the copy together with what the run's records say of it. Object
 * and records agree again, so that only a seal shows it.
 * @param records keys of the run's records
 * @returns undefined if the run has archived no manifest
 */
export async function tamperedCopy(archive: string, records: readonly string[]): Promise<TamperedCopy | undefined> {
  const reader = new FolderArchiveReader(archive);
  const read = await Promise.all(records.map(async (key) => ({ key, record: await readRecord(reader, key) })));
  const manifest = read
    .flatMap(({ record }) => record.outcomes)
    .find((outcome) => isStored(outcome) && outcome.resource === 'manifest');
  const key = manifest?.key;
  if (key === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'tampered-archive-'));
  // Who writes to the bucket does not have the key that signs.
  const keys = join(archive, keysFolder);
  await cp(archive, folder, { recursive: true, filter: (path) => path !== keys });
  const content = Buffer.from(`${await readText(reader, key, 'manifest')}${addition}`);
  const isZstd = parseObjectKey(key)?.compression === 'zstd';
  const body = isZstd ? zstdCompressSync(content) : gzipSync(content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const length = content.length;
  await replace(folder, key, body, { sha256, length: String(length) });
  const changed = read.filter(({ record }) => record.outcomes.some((outcome) => outcome.key === key));
  for (const { key: recordKey, record } of changed) {
    const outcomes = record.outcomes.map((outcome) =>
      outcome.key === key ? { ...outcome, sha256, bytes: length, storedBytes: body.length } : outcome,
    );
    await replace(folder, recordKey, Buffer.from([...recordLines({ ...record, outcomes })].join('')), {});
  }
  return { folder, replaced: [key, ...changed.map((one) => one.key)] };
}

async function readRecord(reader: FolderArchiveReader, key: string): Promise<RunRecord> {
  const name = parseRunRecordKey(key);
  const { good } = name === undefined ? {} : await readRunRecord(reader, { ...name, key });
  if (good === undefined) throw new Error(`Reading the run record ${key} failed: it is gone or damaged.`);
  return { ...good.record, outcomes: [...good.record.outcomes] };
}

/** Writes an object over the one that is there, with its headers and with other metadata where they say so. */
async function replace(
  folder: string,
  key: string,
  body: Buffer,
  metadata: Readonly<Record<string, string>>,
): Promise<void> {
  const store = new FolderStore(folder);
  const before = await store.head(key);
  if (before === undefined) throw new Error(`Replacing ${key} failed: it is gone.`);
  const { contentType, contentEncoding, userMetadata } = before;
  await store.put(key, body, {
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
    userMetadata: { ...userMetadata, ...metadata },
    checksums: { crc32: checksumText(crc32(body)) },
  });
}
