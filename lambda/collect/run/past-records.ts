import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { configurationSchema } from '../../../archive/format/configuration';
import { configurationKey, parseRunRecordKey, runRecordKey } from '../../../archive/format/keys';
import type { PastRecords } from '../../../archive/format/past-lists';
import { runSchema } from '../../../archive/format/run-record';
import { longestLineBytes } from '../../../archive/format/run-record-lines';
import { largestListBytes } from './read-list';
import type { RecordBucket } from './record-store';

/** All that is needed of a configuration here. */
const clustersSchema = z.pick(configurationSchema, { clusters: true });

/** Reads them from a bucket, as the collector may. Every method throws ArchiveError. */
export function recordsIn(bucket: Pick<RecordBucket, 'open' | 'keys'>, signal: AbortSignal): PastRecords {
  return {
    names: async (prefix) => (await bucket.keys(prefix, signal)).flatMap((key) => parseRunRecordKey(key) ?? []),
    head: async (name) => {
      const stored = await bucket.open(runRecordKey(name), Number.MAX_SAFE_INTEGER, signal);
      let line = Buffer.alloc(0);
      for await (const chunk of stored?.body ?? []) {
        line = Buffer.concat([line, chunk]);
        if (line.includes('\n') || line.length > longestLineBytes) break;
      }
      return unlessDamaged(() => {
        const head = runSchema.parse(JSON.parse(line.toString('utf8', 0, line.indexOf('\n'))));
        return head.run === name.run.toISOString() && head.attempt === name.attempt ? head : undefined;
      });
    },
    clusters: async (sha256) => {
      const stored = await bucket.open(configurationKey(sha256), largestListBytes, signal);
      const bytes = stored && (await buffer(stored.body));
      if (bytes === undefined) return undefined;
      return unlessDamaged(() => {
        const text = gunzipSync(bytes, { maxOutputLength: 4 * largestListBytes });
        const isOwn = createHash('sha256').update(text).digest('hex') === sha256;
        return isOwn ? clustersSchema.parse(JSON.parse(text.toString())).clusters : undefined;
      });
    },
  };
}

/** What is damaged is as if it were absent: the list before it is in force. */
function unlessDamaged<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
