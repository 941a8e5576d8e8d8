import { createHash } from 'node:crypto';
import type { Content, LogDescription } from './cluster-source';
import { jsonString } from './json-string';

export interface LogRecordParts extends LogDescription {
  readonly clusterUid: string;
  readonly log: Content;
  readonly projectUid: string | undefined;
  readonly requestId: string | undefined;
}

/**
 * The log-fetcher record (service contract, section 2.1) as JSON, piece by piece.
 * @throws InvalidTextError if the log's bytes are not UTF-8
 */
export async function* logRecordBody(parts: LogRecordParts): AsyncGenerator<string> {
  const { clusterUid, log, state, lastModified, projectUid, requestId } = parts;
  const metadata = {
    // The contract leaves both maps free and shows no effect of requestId and ProjectUid; the demo echoes them, so that
    // one sees that they arrived.
    annotations: requestId === undefined ? {} : { requestId },
    creationTimestamp: '2025-03-17T08:00:00.000Z',
    labels: projectUid === undefined ? {} : { projectUid },
    lastModifiedTimestamp: lastModified.toISOString(),
    name: `log-fetcher-${clusterUid}`,
    uid: uuidOf(clusterUid),
  };
  yield `{"metadata":${JSON.stringify(metadata)},"spec":{"clusterUid":${JSON.stringify(clusterUid)},"log":`;
  yield* jsonString(log);
  yield `},"status":{"state":${JSON.stringify(state)}}}`;
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
