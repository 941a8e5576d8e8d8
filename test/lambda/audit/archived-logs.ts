import { objectKey } from '../../../archive/format/keys';
import { objectMetadata } from '../../../archive/format/object-metadata';
import { resources } from '../../../archive/format/resources';
import type { RunOutcome } from '../../../archive/format/run-record';
import { MemoryBucket } from '../../archive/prove/history/memory-bucket';
import { collectorVersion, storedLog } from './made-up-archive';

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
    const { body, facts } = storedLog({ spec: { clusterUid: cluster, log: text }, status: { state: 'Available' } });
    const key = objectKey({ resource: 'log', cluster, run });
    const { contentType } = resources.log;
    const known = { cluster, resource: 'log', mediaType: contentType } as const;
    const metadata = objectMetadata({ ...known, run, fetchedAt: run, version: collectorVersion, ...facts });
    this.bucket.put({ key, content: body, contentType, contentEncoding: 'gzip', metadata }, run);
    const { length: bytes, ...said } = facts;
    const stored = { key, bytes, storedBytes: body.length, fetchedAt: run.toISOString() };
    return { ...known, ...said, ...stored, outcome: 'archived', attempt: 1, collectorVersion };
  }
}
