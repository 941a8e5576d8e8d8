import { functionTimeoutSeconds } from '../archive/format/clocks';

/** How long things may take, and how often they are tried again: where the stack, the functions and their readers agree. */

/**
 * How long before the time limit the collector stops, in seconds: long enough to cancel what runs and to write the run
 * record under the worst case of the archive's own time limits.
 */
export const deadlineReserveSeconds = 45;

/** How long writing the run record may take, in seconds, all retries included; less than the reserve. */
export const recordWriteSeconds = 30;

/** How long Lambda waits before each retry of an asynchronous invocation that failed, in seconds. */
export const asynchronousRetryWaits = [60, 120] as const;

/** Attempts of one run that Lambda makes on its own after an asynchronous invocation: the first and its retries. */
export const asynchronousAttempts = 1 + asynchronousRetryWaits.length;

/** Most shards at work at once: what Step Functions guarantees for an inline map. The others wait for their turn. */
export const mostConcurrentShards = 40;

/** Time after which one invocation counts as lost, in seconds: the function's limit, and room for a cold start. */
export const invocationTimeoutSeconds = functionTimeoutSeconds + 60;

const [firstWaitSeconds, secondWaitSeconds] = asynchronousRetryWaits;

/** Retries of a shard whose attempt failed: as many as Lambda makes of an event, after the same waits. */
export const incompleteRetry = {
  times: asynchronousRetryWaits.length,
  firstWaitSeconds,
  backoffRate: secondWaitSeconds / firstWaitSeconds,
} as const;

/** Longest time from a firing of the schedule until its last attempt has ended, in seconds. */
export const longestRunSeconds = asynchronousAttempts * functionTimeoutSeconds + waits(incompleteRetry);

/**
 * Retries of an invocation that did not reach the function, mostly because the account is throttled. They last twice as
 * long as a shard takes, so that the shards can take turns in an account with little concurrency.
 */
export const unreachedRetry = { times: 10, firstWaitSeconds: 10, backoffRate: 2, longestWaitSeconds: 300 } as const;

/** Longest time in seconds that one shard takes, with all retries. */
const longestShardSeconds =
  (1 + incompleteRetry.times) * invocationTimeoutSeconds + waits(incompleteRetry) + waits(unreachedRetry);

/**
 * Longest time in seconds from the start of an execution to its end.
 * @param heldBackSeconds how long another run may hold back a shard
 */
export function longestExecutionSeconds(shards: number, heldBackSeconds = 0): number {
  const turns = Math.ceil(shards / mostConcurrentShards);
  const marginSeconds = 300;
  return turns * (longestShardSeconds + heldBackSeconds) + marginSeconds;
}

/** Longest time in seconds that the last step of an execution takes, which tells the monitoring service outside. */
export const longestTellingSeconds = invocationTimeoutSeconds + waits(unreachedRetry);

export interface Waits {
  readonly times: number;
  readonly firstWaitSeconds: number;
  readonly backoffRate: number;
  readonly longestWaitSeconds?: number;
}

/** Sum of all waits of a retry, in seconds. */
export function waits({ times, firstWaitSeconds, backoffRate, longestWaitSeconds = Number.POSITIVE_INFINITY }: Waits) {
  return Array.from({ length: times }, (_, retry) =>
    Math.min(longestWaitSeconds, firstWaitSeconds * backoffRate ** retry),
  ).reduce((sum, seconds) => sum + seconds, 0);
}

/** Longest time from a firing of the schedule until its run has ended, in seconds, if no other run holds it back. */
export function longestSeconds({ shards }: { readonly shards: number }): number {
  return shards > 1 ? longestExecutionSeconds(shards) : longestRunSeconds;
}

/**
 * How long after the longest gap of the schedule a run counts as missing, in whole hours. With `oneRunAtATime` one run may
 * have to end before it. More may, but each of them counts when it ends.
 */
export function runMarginHours(shards: number, oneRunAtATime: boolean): number {
  const runs = oneRunAtATime ? 2 : 1;
  return Math.floor((runs * longestSeconds({ shards })) / 3600) + 1;
}
