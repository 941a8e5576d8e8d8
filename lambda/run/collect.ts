import { isNativeError } from 'node:util/types';
import { objectKey } from '../archive/archive-layout';
import type { ArchiveObject } from '../archive/archive-object';
import { objectMetadata } from '../archive/object-metadata';
import { InvalidBodyError, NotDecodableError } from '../body/body-check';
import { type Resource, resources } from '../resources';
import { type FetchContext, fetchResource, type RequestCount } from '../service/fetch-resource';
import type { Compression } from '../stack-contract';
import { RunStopped } from '../stop';
import type { Outcome } from './run-record';

/** One cluster x resource to work on. */
export interface Task {
  readonly cluster: string;
  readonly resource: Resource;
  readonly projectUid?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Where objects go: whole, once, never over an existing one. */
export interface ObjectSink {
  put(object: ArchiveObject, signal: AbortSignal): Promise<'archived' | 'already-archived'>;
}

export interface CollectContext extends FetchContext {
  readonly run: Date;
  readonly dryRun: boolean;
  readonly concurrency: number;
  readonly compression: Compression;
  readonly sink: ObjectSink;
  /** Version of the collector, for the objects' metadata. */
  readonly version: string;
  /** Whether an error means that no other task can succeed either. */
  readonly endsRun: (error: unknown) => boolean;
  /** Called once per task, as soon as its outcome stands. */
  readonly onOutcome: (outcome: Outcome) => void;
}

/**
 * Works on every task, a bounded number at once; one that fails stops no other.
 * @returns one outcome per task, in the tasks' order; never rejects for a task's failure
 */
export async function collect(tasks: readonly Task[], context: CollectContext): Promise<Outcome[]> {
  const outcomes: Outcome[] = new Array(tasks.length);
  const queue = tasks.entries();
  const worker = async () => {
    for (const [index, task] of queue) {
      const outcome = await attempt(task, context);
      outcomes[index] = outcome;
      context.onOutcome(outcome);
    }
  };
  const workers = Math.min(context.concurrency, tasks.length);
  await Promise.all(Array.from({ length: workers }, worker));
  return outcomes;
}

async function attempt(task: Task, context: CollectContext): Promise<Outcome> {
  const { clock, stop } = context;
  const { cluster, resource } = task;
  const count: RequestCount = { requests: 0 };
  const startedMs = clock.monotonicMs();
  const effort = () => ({ attempts: count.requests, durationMs: Math.round(clock.monotonicMs() - startedMs) });
  try {
    return { cluster, resource, ...(await fetchAndArchive(task, count, context)), ...effort() };
  } catch (error) {
    if (context.endsRun(error)) stop.startNothing(new RunStopped(messageOf(error), { cause: error }));
    if (count.requests === 0) return { cluster, resource, outcome: 'not-attempted', error: messageOf(error) };
    const reason = error instanceof RunStopped ? `cancelled: ${error.message}` : messageOf(error);
    return { cluster, resource, outcome: 'failed', ...statusOf(error), error: reason, ...effort() };
  }
}

type Result = Omit<Outcome, 'cluster' | 'resource' | 'attempts' | 'durationMs'>;

async function fetchAndArchive(task: Task, count: RequestCount, context: CollectContext): Promise<Result> {
  const { run, compression, clock, sink, stop, version, dryRun } = context;
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
      version,
      ...facts,
    });
    const { contentType } = resources[resource];
    const object = { key, content: body.content, contentType, contentEncoding: compression, metadata };
    const outcome = await sink.put(object, stop.working);
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
