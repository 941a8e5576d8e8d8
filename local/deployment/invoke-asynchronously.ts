import { randomUUID } from 'node:crypto';
import type { InvocationResult } from './local-function';

/** What became of one event that Lambda took over to work through on its own. */
export interface AsynchronousResult {
  readonly requestId: string;
  /** All attempts, oldest first. */
  readonly attempts: readonly InvocationResult[];
  /** Why Lambda gave up; undefined: the last attempt succeeded. */
  readonly condition?: 'RetriesExhausted' | 'EventAgeExceeded';
}

export interface AsynchronousLimits {
  /** Retries after the first attempt: 0, 1 or 2. */
  readonly maximumRetryAttempts: number;
  readonly maximumEventAgeSeconds: number;
}

/** Time as Lambda's queue of events sees it. */
export interface QueueClock {
  /** Milliseconds since the epoch. */
  now(): number;
  wait(seconds: number): Promise<void>;
}

/** Lambda waits this long before the first and the second retry. */
const retryWaitSeconds = [60, 120];

/** Attempts an event as Lambda does after an asynchronous invocation: every attempt has the same request id. */
export async function invokeAsynchronously(
  invoke: (requestId: string) => Promise<InvocationResult>,
  { maximumRetryAttempts, maximumEventAgeSeconds }: AsynchronousLimits,
  clock: QueueClock,
): Promise<AsynchronousResult> {
  const requestId = randomUUID();
  const queuedAt = clock.now();
  const attempts = [await invoke(requestId)];
  for (const wait of retryWaitSeconds.slice(0, maximumRetryAttempts)) {
    if (attempts.at(-1)?.error === undefined) break;
    await clock.wait(wait);
    if (clock.now() - queuedAt > maximumEventAgeSeconds * 1000)
      return { requestId, attempts, condition: 'EventAgeExceeded' };
    attempts.push(await invoke(requestId));
  }
  if (attempts.at(-1)?.error === undefined) return { requestId, attempts };
  return { requestId, attempts, condition: 'RetriesExhausted' };
}
