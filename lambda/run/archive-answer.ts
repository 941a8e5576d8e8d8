import { objectKey } from '../archive/archive-layout';
import { objectMetadata } from '../archive/object-metadata';
import type { S3Archive } from '../archive/s3-archive';
import type { Clock } from '../clock';
import { resources } from '../resources';
import type { ResourceRequest, ServiceAnswer } from '../service/resource-request';
import type { Collection } from '../stack-contract';
import type { Stop } from '../stop';
import type { Outcome, Provenance } from './run-record';

/** What answers are archived with. */
export interface ArchivingContext {
  readonly collection: Pick<Collection, 'compression'>;
  readonly archive: Pick<S3Archive, 'put'>;
  /** For the objects' metadata. */
  readonly provenance: Pick<Provenance, 'collectorVersion'>;
  readonly stop: Stop;
  readonly clock: Clock;
}

/** Which run answers are archived for. */
export interface ArchivingRequest {
  /** Names the objects. */
  readonly run: Date;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
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
  { run, dryRun }: ArchivingRequest,
  { collection, archive, provenance, stop, clock }: ArchivingContext,
): Promise<ArchivedOutcome> {
  try {
    const fetchedAt = clock.now();
    const { facts, sha256, length, receivedLength, storedLength, encodedBy } = body;
    const lengths = { bytes: length, receivedBytes: receivedLength, storedBytes: storedLength };
    const content = { ...lengths, sha256, fetchedAt: fetchedAt.toISOString(), mediaType };
    if (dryRun) return { outcome: 'would-archive', httpStatus: status, ...content, ...facts };
    const { compression } = collection;
    const key = objectKey({ resource, cluster, run, compression });
    const metadata = objectMetadata({
      cluster,
      resource,
      run,
      fetchedAt,
      mediaType,
      sha256,
      length,
      encodedBy,
      version: provenance.collectorVersion,
      ...facts,
    });
    const { contentType } = resources[resource];
    const object = { key, content: body.content, contentType, contentEncoding: compression, metadata };
    const outcome = await archive.put(object, stop.working);
    // What was archived earlier may differ from what the service says now: no hash, no length, no facts.
    if (outcome === 'already-archived') return { outcome, key, httpStatus: status };
    return { outcome, key, httpStatus: status, ...content, ...facts };
  } finally {
    await body.release();
  }
}
