import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { configurationSchema } from '../../../archive/format/configuration';
import { DamagedObjectError } from '../../../archive/format/damage';
import { configurationKey, parseRunRecordKey, type RunRecordName, runRecordKey } from '../../../archive/format/keys';
import type { PastRecords } from '../../../archive/format/past-lists';
import { runSchema } from '../../../archive/format/run-record';
import { longestLineBytes } from '../../../archive/format/run-record-lines';
import { type ArchiveReader, readWhole } from '../../../archive/read/s3-archive-reader';
import { largestListBytes } from './read-list';

/** All that is needed of a configuration here. */
const clustersSchema = z.pick(configurationSchema, { clusters: true });

/** Reads them from an archive, as the collector may. Every method throws ArchiveReadError, or the reason of the reader's signal. */
export function recordsIn(reader: ArchiveReader): PastRecords {
  return {
    names: async (prefix) => {
      const names: RunRecordName[] = [];
      for await (const { key } of reader.list(prefix)) {
        const name = parseRunRecordKey(key);
        if (name !== undefined) names.push(name);
      }
      return names;
    },
    head: async (name) => {
      const line = await firstLine(reader, runRecordKey(name));
      return unlessDamaged(() => {
        const head = runSchema.parse(JSON.parse(line));
        return head.run === name.run.toISOString() && head.attempt === name.attempt ? head : undefined;
      });
    },
    clusters: async (sha256) => {
      const stored = await readWhole(reader, configurationKey(sha256), largestListBytes).catch((error: unknown) => {
        if (!(error instanceof DamagedObjectError)) throw error;
      });
      if (stored === undefined) return undefined;
      return unlessDamaged(() => {
        const text = gunzipSync(stored.bytes, { maxOutputLength: 4 * largestListBytes });
        const isOwn = createHash('sha256').update(text).digest('hex') === sha256;
        return isOwn ? clustersSchema.parse(JSON.parse(text.toString())).clusters : undefined;
      });
    },
  };
}

/** The first line of an object, however long the rest is; empty if there is none. */
async function firstLine(reader: ArchiveReader, key: string): Promise<string> {
  const opened = await reader.open(key).catch((error: unknown) => {
    if (!(error instanceof DamagedObjectError)) throw error;
  });
  let line = Buffer.alloc(0);
  for await (const chunk of (opened?.body ?? []) as AsyncIterable<Buffer> | Iterable<Buffer>) {
    line = Buffer.concat([line, chunk.subarray(0, longestLineBytes + 1)]);
    if (line.includes('\n') || line.length > longestLineBytes) break;
  }
  return line.toString('utf8', 0, Math.max(0, line.indexOf('\n')));
}

/** What is damaged is as if it were absent: the list before it is in force. */
function unlessDamaged<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
