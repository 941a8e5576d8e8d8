import { objectKey } from '../archive/archive-layout';
import type { ArchiveObject } from '../archive/archive-object';
import { objectMetadata } from '../archive/object-metadata';
import type { Clock } from '../clock';
import { resources } from '../resources';
import type { ResourceRequest, ServiceAnswer } from '../service/resource-request';
import type { Compression } from '../stack-contract';
import type { Outcome } from './run-record';

/** Where objects go: whole, once, never over an existing one. */
export interface ObjectSink {
  put(object: ArchiveObject, signal: AbortSignal): Promise<'archived' | 'already-archived'>;
}

export interface ArchivingContext {
  readonly run: Date;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly archive: ObjectSink;
  readonly compression: Compression;
  readonly collectorVersion: string;
  readonly signal: AbortSignal;
}

/** What an outcome says of the object and its content. */
export type ArchivedOutcome = Pick<Outcome, 'outcome' | 'key' | 'httpStatus'> & Partial<Outcome>;

/**
 * Archives a good answer, and releases its body in every outcome.
 * @throws ArchiveError; the signal's reason when it aborts
 */
export async function archiveAnswer(
  { cluster, resource }: ResourceRequest,
  { body, status, mediaType }: ServiceAnswer,
  { run, dryRun, clock, archive, compression, collectorVersion, signal }: ArchivingContext,
): Promise<ArchivedOutcome> {
  try {
    const fetchedAt = clock.now();
    const { facts, sha256, length, receivedLength, storedLength, encodedBy } = body;
    const lengths = { bytes: length, receivedBytes: receivedLength, storedBytes: storedLength };
    const content = { ...lengths, sha256, fetchedAt: fetchedAt.toISOString(), mediaType };
    if (dryRun) return { outcome: 'would-archive', httpStatus: status, ...content, ...facts };
    const key = objectKey({ resource, cluster, run, compression });
    const version = collectorVersion;
    const metadata = objectMetadata({
      cluster,
      resource,
      run,
      fetchedAt,
      mediaType,
      sha256,
      length,
      encodedBy,
      version,
      ...facts,
    });
    const { contentType } = resources[resource];
    const object = { key, content: body.content, contentType, contentEncoding: compression, metadata };
    const outcome = await archive.put(object, signal);
    // What was archived earlier may differ from what the service says now: no hash, no length, no facts.
    if (outcome === 'already-archived') return { outcome, key, httpStatus: status };
    return { outcome, key, httpStatus: status, ...content, ...facts };
  } finally {
    await body.release();
  }
}
