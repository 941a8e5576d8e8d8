import { NotDecodableError } from '../body/body-check';
import type { ResourceRequest } from '../service/resource-request';
import { lastFailure, ServiceError, type ServiceFailure } from '../service/service-error';
import { type Rank, ranks, type Task } from './task';

/** The retry policy of requests to the service: what is retried, how often, and after which delay. */

/**
 * Requests per cluster x resource in one attempt of a run. The run's own retries come on top; so do a request on a connection
 * of its own, one for a body kept as received, and probes while the service is down.
 */
export const maxRequests = 5;

/** First delay's upper bound and the bound of all delays that the service does not name, in milliseconds. */
const backoff = { firstMs: 500, longestMs: 20_000 } as const;

/**
 * Longest pause that one answer imposes on others, in milliseconds: its own task waits as long as the service asks for,
 * but an absurd Retry-After must not stop everybody.
 */
export const longestSharedPauseMs = 60_000;

const retriedFailures: ReadonlySet<ServiceFailure> = new Set(['connection', 'timeout', 'cut', 'coding']);

/** When a task is asked for again, as the queue takes it. */
interface Retry {
  readonly rank: Rank;
  readonly dueMs: number;
  readonly notBeforeMs: number;
}

/** What reading the key again after a rejection has shown; an error if that failed. */
export type KeyReading = 'changed' | 'same' | Error;

/** What the next request of a task depends on. */
interface Circumstances {
  readonly nowMs: number;
  /** How long the next request has to wait. */
  readonly delayMs: number;
  /** Time that the attempt has left. */
  readonly leftMs: number;
  /** Of the key, if it was rejected. */
  readonly reading: KeyReading | undefined;
}

/** Without a delay: with a new key, on a connection of its own, or to keep a body as received. */
const again: Retry = { rank: ranks.retry, dueMs: 0, notBeforeMs: 0 };

/** Decides how a task goes on after a failure, and keeps in the task what the failure teaches. */
export function afterFailure(
  task: Task,
  error: unknown,
  { nowMs, delayMs, leftMs, reading }: Circumstances,
): Retry | { readonly failed: unknown } {
  const taught = lessonOf(error, task.request);
  if (taught !== undefined) {
    task.request = taught;
    return again;
  }
  if (!(error instanceof ServiceError)) return { failed: error };
  if (reading === 'changed' && task.counted < maxRequests) return again;
  if (reading instanceof Error)
    return { failed: lastFailure(error, `the key could not be read again: ${reading.message}`) };
  if (!isRetried(error.failure, error.status)) return { failed: error };
  if (task.counted >= maxRequests) return { failed: lastFailure(error, `gave up after ${task.requests} requests`) };
  if (delayMs >= leftMs) {
    const due = `the next request would be due in ${Math.ceil(delayMs / 1000)} s, after this attempt's time`;
    return { failed: lastFailure(error, due) };
  }
  if (error.failure === 'timeout') task.isSlow = true;
  if (error.failure === 'coding') task.request = { ...task.request, uncoded: true };
  const dueMs = nowMs + delayMs;
  const notBeforeMs = error.retryAfterMs === undefined ? 0 : dueMs;
  return { rank: task.isSlow ? ranks.slow : ranks.retry, dueMs, notBeforeMs };
}

/** How to ask again without a delay after an answer that does not count; undefined: that would not help. */
function lessonOf(error: unknown, request: ResourceRequest): ResourceRequest | undefined {
  if (error instanceof NotDecodableError) return request.asReceived ? undefined : { ...request, asReceived: true };
  if (error instanceof ServiceError && error.failure === 'used-connection') return { ...request, alone: true };
  return undefined;
}

/** Whether the same request may succeed later. */
function isRetried(failure: ServiceFailure, status: number | undefined): boolean {
  if (failure !== 'status') return retriedFailures.has(failure);
  return status === 408 || status === 429 || (status !== undefined && status >= 500);
}

/**
 * Delay before the next request, in milliseconds: what Retry-After asks for, otherwise exponential backoff with full
 * jitter, so that clients that failed together do not come back together.
 * @param requests requests made so far, counts from 1
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(requests: number, retryAfterMs: number | undefined, random: () => number): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return random() * Math.min(backoff.longestMs, backoff.firstMs * 2 ** (requests - 1));
}
