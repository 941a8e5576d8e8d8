import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { objectKey } from '../../../lambda/archive/archive-layout';
import { objectMetadata } from '../../../lambda/archive/object-metadata';
import { LogTextCheck } from '../../../lambda/log/log-text-check';
import { resources } from '../../../lambda/resources';
import type { RunOutcome } from '../../../lambda/run/run-record';
import { MemoryBucket } from '../verify/history/memory-bucket';

const collectorVersion = '1.0.0';

export type LogOutcome = RunOutcome & { readonly key: string };

/** An archive that has nothing but logs, as the collector writes them. */
export class ArchivedLogs {
  readonly bucket = new MemoryBucket();
  /** Objects that were opened. */
  opened = 0;

  constructor() {
    const open = this.bucket.open.bind(this.bucket);
    this.bucket.open = (key) => {
      this.opened += 1;
      return open(key);
    };
  }

  /** Archives a log. @returns its outcome @param text undefined: the record has none */
  put(cluster: string, run: Date, text: string | undefined): LogOutcome {
    const record = Buffer.from(
      JSON.stringify({ spec: { clusterUid: cluster, log: text }, status: { state: 'Ready' } }),
    );
    const check = new LogTextCheck();
    check.write(record);
    const stored = gzipSync(record, { level: 1 });
    const sha256 = createHash('sha256').update(record).digest('hex');
    const facts = { state: 'Ready', ...check.end() };
    const key = objectKey({ resource: 'log', cluster, run, compression: 'gzip' });
    const known = { cluster, resource: 'log', sha256, mediaType: 'application/json' } as const;
    const metadata = objectMetadata({
      ...{ ...known, run, fetchedAt: run, length: record.length, version: collectorVersion },
      ...facts,
    });
    const { contentType } = resources.log;
    this.bucket.put({ key, content: stored, contentType, contentEncoding: 'gzip', metadata }, run);
    return {
      ...{ ...known, outcome: 'archived', key, bytes: record.length, storedBytes: stored.length },
      ...{ fetchedAt: run.toISOString(), attempt: 1, collectorVersion },
      ...facts,
    };
  }
}
