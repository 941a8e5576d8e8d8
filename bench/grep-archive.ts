import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { objectKey, runRecordKey } from '../lambda/archive/archive-layout';
import { checksumText } from '../lambda/archive/checksum';
import { objectMetadata } from '../lambda/archive/object-metadata';
import type { Outcome, RunRecord } from '../lambda/run/run-record';
import { FolderStore } from '../local/aws/store/folder-store';
import { logLines } from './servers/log-lines';

/** Length of each log, in bytes. */
export const logBytes = 100_000;

/** One log in so many has the line that is looked for. */
const every = 7;

/**
 * Writes an archive of one run, and beside it the texts of the same logs as gzip files.
 * @returns how many lines are to be found
 */
export async function writeLogs(folder: string, objects: number): Promise<number> {
  const texts = join(folder, 'texts');
  mkdirSync(texts);
  const store = new FolderStore(join(folder, 'archive'));
  const runTime = new Date('2026-11-20T10:00:00Z');
  const { text, starts } = logLines(4 * logBytes);
  const outcomes: Outcome[] = [];
  let expected = 0;
  for (let index = 0; index < objects; index += 1) {
    const begin = starts[index % (starts.length >> 1)] ?? 0;
    const end = starts.find((start) => start > begin + logBytes) ?? text.length;
    const found = index % every === 0 ? 'INFO kubelet OOMKilled\\n' : '';
    expected += found === '' ? 0 : 1;
    const escaped = `${text.subarray(begin, end)}${found}`;
    const cluster = `cluster-${String(index).padStart(6, '0')}`;
    const record = Buffer.from(
      `{"spec":{"clusterUid":"${cluster}","log":"${escaped}"},"status":{"state":"Available"}}`,
    );
    outcomes.push(await storeLog(store, runTime, cluster, record));
    writeFileSync(join(texts, `${cluster}.log.gz`), gzipSync(JSON.parse(`"${escaped}"`), { level: 1 }));
  }
  await store.put(
    runRecordKey({ run: runTime, attempt: 1 }),
    Buffer.from(`${JSON.stringify(recordOf(runTime, outcomes))}\n`),
    {},
  );
  return expected;
}

async function storeLog(store: FolderStore, runTime: Date, cluster: string, record: Buffer): Promise<Outcome> {
  const key = objectKey({ resource: 'log', cluster, run: runTime, compression: 'gzip' });
  const body = gzipSync(record, { level: 1 });
  const sha256 = createHash('sha256').update(record).digest('hex');
  const facts = {
    cluster,
    resource: 'log',
    run: runTime,
    fetchedAt: runTime,
    sha256,
    length: record.length,
    version: '1.0.0',
  } as const;
  await store.put(key, body, {
    userMetadata: objectMetadata(facts),
    checksums: { crc32: checksumText(crc32(body)) },
  });
  return {
    cluster,
    resource: 'log',
    outcome: 'archived',
    key,
    bytes: record.length,
    storedBytes: body.length,
    sha256,
    fetchedAt: runTime.toISOString(),
  };
}

function recordOf(runTime: Date, outcomes: Outcome[]): RunRecord {
  const time = runTime.toISOString();
  return {
    version: 1,
    run: time,
    attempt: 1,
    trigger: 'schedule',
    startedAt: time,
    finishedAt: time,
    collectorVersion: '1.0.0',
    functionVersion: '1',
    invocation: 'bench',
    configuration: '0'.repeat(64),
    status: 'complete',
    counts: { archived: outcomes.length, alreadyArchived: 0, failed: 0, notAttempted: 0 },
    outcomes,
  };
}
