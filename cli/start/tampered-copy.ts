import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { checksumText } from '../../archive/format/object-headers';
import { resources } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import { FolderArchiveReader, type Run } from '../../archive/read';
import { FolderStore } from '../../local/aws/store/folder-store';
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
 * @throws Error if there is no run, or it has archived no manifest
 */
export async function tamperedCopy(archive: string, run: Run | undefined): Promise<TamperedCopy> {
  const manifest = run?.outcomes.find((outcome) => isStored(outcome) && !resources[outcome.resource].holdsLog);
  const key = manifest?.key;
  if (run === undefined || key === undefined)
    throw new Error('Forging a copy of the archive failed: the run has archived no manifest.');
  const folder = await mkdtemp(join(tmpdir(), 'tampered-archive-'));
  await cp(archive, folder, { recursive: true });
  const content = Buffer.from(`${(await readText(new FolderArchiveReader(archive), key, 'manifest')).text}${addition}`);
  const body = gzipSync(content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  await replace(folder, key, body, { sha256, length: String(content.length) });
  const changes = { sha256, bytes: content.length, storedBytes: body.length };
  const replaced = [key];
  for (const recordKey of run.records) {
    const before = await readFile(join(archive, recordKey), 'utf8');
    const after = before.replace(/^.+$/gm, (line) => {
      const outcome = JSON.parse(line);
      return outcome.key === key ? JSON.stringify({ ...outcome, ...changes }) : line;
    });
    if (after === before) continue;
    await replace(folder, recordKey, Buffer.from(after), {});
    replaced.push(recordKey);
  }
  return { folder, replaced };
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
  const checksums = { crc32: checksumText(crc32(body)) };
  await store.put(key, body, { ...before, userMetadata: { ...before.userMetadata, ...metadata }, checksums });
}
