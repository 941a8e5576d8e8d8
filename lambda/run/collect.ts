import { isNativeError } from 'node:util/types';
import { objectKey } from '../archive/archive-layout';
import type { ArchiveObject } from '../archive/archive-object';
import { objectMetadata } from '../archive/object-metadata';
import { InvalidBodyError, NotDecodableError } from '../body/body-check';
import { resources } from '../resources';
import { type FetchContext, fetchResource, type RequestCount } from '../service/fetch-resource';
import { ApiKeyError } from '../service/key-source';
import type { ResourceRequest } from '../service/resource-request';
import type { Collection } from '../stack-contract';
import { RunStopped } from '../stop';
import type { Reporter } from './report';
import type { Outcome, Provenance } from './run-record';

/** Where objects go: whole, once, never over an existing one. */
export interface ObjectSink {
  put(object: ArchiveObject, signal: AbortSignal): Promise<'archived' | 'already-archived'>;
}

export interface CollectContext extends FetchContext {
  readonly collection: Pick<Collection, 'compression' | 'limits'>;
  readonly archive: ObjectSink;
  /** For the objects' metadata. */
  readonly provenance: Pick<Provenance, 'collectorVersion'>;
  readonly reporter: Reporter;
}

/** What is collected: the run that names the objects, and whether they are written. */
export interface CollectRequest {
  readonly run: Date;
  readonly dryRun: boolean;
}

/**
 * Works on every task, a bounded number at once; one that fails stops no other.
 * @returns one outcome per task, in the tasks' order; never rejects for a task's failure
 */
export async function collect(
  tasks: readonly ResourceRequest[],
  request: CollectRequest,
  context: CollectContext,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = new Array(tasks.length);
  const queue = tasks.entries();
  const worker = async () => {
    for (const [index, task] of queue) {
      const outcome = await collectOne(task, request, context);
      outcomes[index] = outcome;
      context.reporter.outcome(outcome);
    }
  };
  const workers = Math.min(context.collection.limits.concurrency, tasks.length);
  await Promise.all(Array.from({ length: workers }, worker));
  return outcomes;
}

async function collectOne(task: ResourceRequest, request: CollectRequest, context: CollectContext): Promise<Outcome> {
  const { clock, stop } = context;
  const name = nameOf(task);
  const count: RequestCount = { requests: 0 };
  const startedMs = clock.monotonicMs();
  const effort = () => ({ requests: count.requests, durationMs: Math.round(clock.monotonicMs() - startedMs) });
  try {
    return { ...name, ...(await fetchAndArchive(task, count, request, context)), ...effort() };
  } catch (error) {
    // Without a key no other task can succeed either.
    if (error instanceof ApiKeyError) stop.startNothing(new RunStopped(messageOf(error), { cause: error }));
    if (count.requests === 0) return { ...name, outcome: 'not-attempted', error: messageOf(error) };
    const reason = error instanceof RunStopped ? `cancelled: ${error.message}` : messageOf(error);
    return { ...name, outcome: 'failed', ...statusOf(error), error: reason, ...effort() };
  }
}

/** How an outcome names its task. */
export function nameOf({
  cluster,
  resource,
  optional,
}: ResourceRequest): Pick<Outcome, 'cluster' | 'resource' | 'optional'> {
  return { cluster, resource, ...(optional && { optional }) };
}

type Result = Omit<Outcome, 'cluster' | 'resource' | 'requests' | 'durationMs'>;

async function fetchAndArchive(
  task: ResourceRequest,
  count: RequestCount,
  { run, dryRun }: CollectRequest,
  context: CollectContext,
): Promise<Result> {
  const { clock, archive, stop } = context;
  const { compression } = context.collection;
  const { cluster, resource } = task;
  const { body, status, mediaType } = await fetchResource(task, count, context);
  try {
    const fetchedAt = clock.now();
    const { facts, sha256, length, storedLength } = body;
    const content = { bytes: length, storedBytes: storedLength, sha256, fetchedAt: fetchedAt.toISOString(), mediaType };
    if (dryRun) return { outcome: 'would-archive', httpStatus: status, ...content, ...facts };
    const key = objectKey({ resource, cluster, run, compression });
    const metadata = objectMetadata({
      cluster,
      resource,
      run,
      fetchedAt,
      mediaType,
      sha256,
      length,
      version: context.provenance.collectorVersion,
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

function statusOf(error: unknown): { httpStatus?: number } {
  // Only the body of a 200 is checked.
  if (error instanceof InvalidBodyError || error instanceof NotDecodableError) return { httpStatus: 200 };
  const status = isNativeError(error) && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? { httpStatus: status } : {};
}

function messageOf(error: unknown): string {
  return isNativeError(error) ? error.message : String(error);
}
