import { createHash } from 'node:crypto';
import { crc32, gzipSync } from 'node:zlib';
import { configurationKey, objectKey, runRecordKey } from '../../archive/format/keys';
import { LogTextCheck } from '../../archive/format/log-text';
import { checksumText, jsonLinesType } from '../../archive/format/object-headers';
import { objectMetadata } from '../../archive/format/object-metadata';
import { firstResources, resources } from '../../archive/format/resources';
import type { Outcome } from '../../archive/format/run-record';
import { recordLines } from '../../archive/format/run-record-lines';
import type { ObjectHeaders } from '../../archive/read';
import { FolderStore } from '../../local/aws/store/folder-store';
import type { ArchiveShape } from '../workload';
import { logBody, manifestBody } from './contents';

const firstRun = Date.UTC(2026, 10, 20);
const hourMs = 3_600_000;
const version = '1.0.0';

/** Stores an archive as the collector would have written it. The content of a cluster is the same in each run. */
export async function makeArchive(folder: string, shape: ArchiveShape): Promise<void> {
  const store = new FolderStore(folder);
  const put = (key: string, body: Buffer, headers: ObjectHeaders) =>
    store.put(key, body, { ...headers, checksums: { crc32: checksumText(crc32(body)) } });
  const clusters = Array.from({ length: shape.clusters }, (_, index) => `cluster-${String(index).padStart(6, '0')}`);
  const collection = {
    clusters: clusters.map((uid) => ({ uid })),
    schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
  };
  const configuration = Buffer.from(JSON.stringify(collection));
  const hash = sha256(configuration);
  const contentEncoding = 'gzip';
  await put(configurationKey(hash), gzipSync(configuration), { contentType: 'application/json', contentEncoding });
  const contents = clusters.map((cluster, index) => contentsOf(cluster, index, shape));
  for (let nth = 0; nth < shape.runs; nth += 1) {
    const run = new Date(firstRun + nth * hourMs);
    const fetchedAt = new Date(run.getTime() + 5000);
    const outcomes: Outcome[] = [];
    for (const [index, cluster] of clusters.entries())
      for (const resource of firstResources) {
        const content = contents[index]?.[resource];
        if (content === undefined) continue;
        const { stored, facts } = content;
        const key = objectKey({ resource, cluster, run });
        const { contentType } = resources[resource];
        const userMetadata = objectMetadata({ ...facts, cluster, resource, run, fetchedAt, version });
        await put(key, stored, { contentType, contentEncoding, userMetadata });
        const { length: bytes, ...said } = facts;
        const sizes = { bytes, storedBytes: stored.length, receivedBytes: bytes };
        const asked = { httpStatus: 200, requests: 1, durationMs: 50, fetchedAt: fetchedAt.toISOString() };
        outcomes.push({ cluster, resource, outcome: 'archived', key, ...sizes, ...asked, ...said });
      }
    const record = {
      ...({ version: 1, attempt: 1, trigger: 'schedule', status: 'complete' } as const),
      run: run.toISOString(),
      startedAt: run.toISOString(),
      finishedAt: new Date(run.getTime() + 10_000).toISOString(),
      ...{ collectorVersion: version, functionVersion: '1', invocation: `bench-${nth}`, configuration: hash },
      counts: { archived: outcomes.length, alreadyArchived: 0, failed: 0, notAttempted: 0 },
      outcomes,
    };
    const body = Buffer.from([...recordLines(record)].join(''));
    await put(runRecordKey({ run, attempt: 1 }), body, { contentType: jsonLinesType });
  }
}

/** The contents of a cluster in gzip, and what its objects say of them. */
function contentsOf(cluster: string, index: number, { logBytes, manifestBytes }: ArchiveShape) {
  const log = Buffer.concat(logBody(index, cluster, logBytes));
  const manifest = Buffer.from(JSON.parse(manifestBody(index % 16, manifestBytes).toString()) as string);
  const check = new LogTextCheck();
  check.write(log);
  const describe = (content: Buffer, mediaType: string) => ({
    stored: gzipSync(content),
    facts: { sha256: sha256(content), length: content.length, mediaType },
  });
  const ofLog = describe(log, 'application/json');
  return {
    log: { stored: ofLog.stored, facts: { ...ofLog.facts, state: 'Ready', ...check.end() } },
    manifest: describe(manifest, 'text/plain'),
  };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
