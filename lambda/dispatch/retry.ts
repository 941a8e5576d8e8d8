import type { ServiceFailure } from '../service/service-error';

/** The retry policy of requests to the service, pure: what is retried, how often, and after which delay. */

/**
 * Requests per cluster x resource in one attempt of a run. The run's own retries come on top; so do requests that a new
 * key or a body kept as received needs, and probes while the service is down.
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

/** Whether the same request may succeed later. */
export function isRetried(failure: ServiceFailure, status: number | undefined): boolean {
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
