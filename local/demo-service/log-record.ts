import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ContractTarget } from './contract-path';

/** What a cluster's log call answers with. */
export interface ClusterLog {
  /** `spec.log`: text, or its bytes. */
  readonly log: string | Buffer;
  /** `status.state` */
  readonly state: string;
  /** `metadata.lastModifiedTimestamp` */
  readonly lastModified: Date;
}

/** The log-fetcher record (service contract, section 2.1). */
export function logRecord(
  { log, state, lastModified }: ClusterLog,
  { uid, requestId }: ContractTarget,
  projectUid: string | undefined,
): object {
  return {
    metadata: {
      // The contract leaves both maps free, and shows no effect of requestId and ProjectUid. The demo answers with what
      // it received, so that one sees that they arrive.
      annotations: requestId === undefined ? {} : { requestId },
      creationTimestamp: '2025-03-17T08:00:00.000Z',
      labels: projectUid === undefined ? {} : { projectUid },
      lastModifiedTimestamp: lastModified.toISOString(),
      name: `log-fetcher-${uid}`,
      uid: uuidOf(uid),
    },
    spec: { clusterUid: uid, log: textOf(log) },
    status: { state },
  };
}

/** @throws Error for bytes that are not UTF-8 */
export function textOf(content: string | Buffer): string {
  if (typeof content === 'string') return content;
  if (!isUtf8(content)) throw new Error('the bytes are not valid UTF-8, and a JSON string carries nothing else');
  return content.toString();
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}
