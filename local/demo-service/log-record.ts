import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

/** What a cluster's log call answers with. */
export interface ClusterLog {
  /** `spec.log`: text, or its bytes. */
  readonly log: string | Buffer;
  /** `status.state` */
  readonly state: string;
  /** `metadata.lastModifiedTimestamp` */
  readonly lastModified: Date;
}

/** What was asked for. */
export interface LogRequest {
  readonly clusterUid: string;
  readonly projectUid: string | undefined;
  readonly requestId: string | undefined;
}

/** The content is no text, and JSON carries text only. */
export class InvalidTextError extends Error {
  override readonly name = 'InvalidTextError';
}

/**
 * The log-fetcher record (service contract, section 2.1).
 * @throws InvalidTextError if the log's bytes are not UTF-8
 */
export function logRecord(
  { log, state, lastModified }: ClusterLog,
  { clusterUid, projectUid, requestId }: LogRequest,
): object {
  return {
    metadata: {
      // The contract leaves both maps free, and shows no effect of requestId and ProjectUid. The demo answers with what
      // it received, so that one sees that they arrive.
      annotations: requestId === undefined ? {} : { requestId },
      creationTimestamp: '2025-03-17T08:00:00.000Z',
      labels: projectUid === undefined ? {} : { projectUid },
      lastModifiedTimestamp: lastModified.toISOString(),
      name: `log-fetcher-${clusterUid}`,
      uid: uuidOf(clusterUid),
    },
    spec: { clusterUid, log: textOf(log) },
    status: { state },
  };
}

/** @throws InvalidTextError for bytes that are not UTF-8 */
export function textOf(content: string | Buffer): string {
  if (typeof content === 'string') return content;
  if (!isUtf8(content))
    throw new InvalidTextError('the bytes are not valid UTF-8, and a JSON string carries nothing else');
  return content.toString();
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}
