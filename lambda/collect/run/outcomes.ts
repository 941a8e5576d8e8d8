import { isNativeError } from 'node:util/types';
import { objectKey } from '../../../archive/format/keys';
import { objectMetadata } from '../../../archive/format/object-metadata';
import { resources } from '../../../archive/format/resources';
import type { Outcome, Provenance } from '../../../archive/format/run-record';
import type { Clock } from '../../clock';
import { RunStopped, type Stop } from '../../stop';
import { InvalidBodyError, NotDecodableError } from '../body/body-check';
import type { Archive } from '../put/s3-archive';
import type { ResourceRequest, ServiceAnswer } from '../service/resource-request';
import { lastFailure, type ServiceError } from '../service/service-error';

/** What answers are archived with. */
export interface ArchivingContext {
  readonly archive: Pick<Archive, 'put'>;
  /** For the objects' metadata. */
  readonly provenance: Pick<Provenance, 'collectorVersion'>;
  readonly stop: Stop;
  readonly clock: Clock;
}

/** What an outcome says beside the name of its task. */
export type TaskOutcome = Omit<Outcome, 'cluster' | 'resource'>;

/**
 * Archives a good answer, and releases its body in every outcome.
 * @throws ArchiveError; the signal's reason when it aborts
 */
export async function archiveAnswer(
  { cluster, resource }: ResourceRequest,
  { body, mediaType }: ServiceAnswer,
  run: Date,
  { archive, provenance, stop, clock }: ArchivingContext,
): Promise<TaskOutcome> {
  try {
    const fetchedAt = clock.now();
    const { facts, sha256, length, receivedLength, encodedBy } = body;
    const lengths = { bytes: length, receivedBytes: receivedLength, storedBytes: body.content.length };
    const content = { ...lengths, sha256, fetchedAt: fetchedAt.toISOString(), mediaType };
    const { collectorVersion: version } = provenance;
    const name = { resource, cluster, run };
    const key = objectKey(name);
    const metadata = objectMetadata({ ...name, ...facts, fetchedAt, mediaType, sha256, length, encodedBy, version });
    const { contentType } = resources[resource];
    const object = { key, content: body.content, contentType, contentEncoding: 'gzip', metadata };
    const result = await archive.put(object, stop.working);
    const said = { httpStatus: 200, ...content, ...facts };
    if (result === 'would-archive') return { outcome: result, ...said };
    if (result === 'archived') return { outcome: result, key, ...said };
    // What was archived earlier may differ from what the service says now: no hash, no length, no facts. A doubt stays
    // where this very answer may have been archived.
    const doubt = result === 'answer-lost' && facts.doubt !== undefined && { doubt: facts.doubt };
    return { outcome: 'already-archived', key, httpStatus: 200, ...doubt };
  } finally {
    await body.release();
  }
}

/** How an outcome names its task. */
export function identityOf({ cluster, resource, optional, leaving }: ResourceRequest) {
  return { cluster, resource, ...(optional && { optional }), ...(leaving && { leaving }) };
}

/** What is recorded of a task that was attempted and is not archived. */
export function failedOutcome(error: unknown): TaskOutcome {
  const reason = error instanceof RunStopped ? `cancelled: ${error.message}` : messageOf(error);
  return { outcome: 'failed', ...statusOf(error), error: reason };
}

/** What is recorded of a task that is left when the attempt ends early. @param last its last failure */
export function leftOutcome(
  { requests, last }: { readonly requests: number; readonly last?: ServiceError | undefined },
  reason: string,
): TaskOutcome {
  if (requests === 0) return { outcome: 'not-attempted', error: reason };
  if (last === undefined) return { outcome: 'failed', error: reason };
  return failedOutcome(lastFailure(last, `no further request: ${reason}`));
}

export function messageOf(error: unknown): string {
  return isNativeError(error) ? error.message : String(error);
}

function statusOf(error: unknown): { httpStatus?: number } {
  // Only the body of a 200 is checked.
  if (error instanceof InvalidBodyError || error instanceof NotDecodableError) return { httpStatus: 200 };
  const status = isNativeError(error) && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? { httpStatus: status } : {};
}
