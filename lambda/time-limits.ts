/** How long things may take, and how often they are tried again: where the stack, the functions and their readers agree. */

/** Days for which the bucket keeps what expired, or was overwritten or deleted: time to notice a mistake. */
export const formerVersionDays = 30;

/** The function's time limit, in seconds: Lambda's own maximum. */
export const functionTimeoutSeconds = 900;

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

export const hourMs = 3_600_000;

export const dayMs = 24 * hourMs;

/** How much the clocks of the function, of S3 and of the reader may differ, and by how much one may be set back. */
export const clockSlackMs = 2 * hourMs;

/** The longest that an attempt can have taken by clocks that differ. */
export const longestAttemptMs = functionTimeoutSeconds * 1000 + clockSlackMs;

/**
 * How long after a firing, or after it wrote an object, an invocation can still write its run record: an hour until it is
 * delivered, six hours in Lambda's queue with its retries, which is how long a run may wait for the one before it, the last
 * attempt itself, and room for clocks that differ.
 */
export const underWayMs = 9 * hourMs;

/** What was due or written up to this time, before another, does not change any more. */
export function settled(time: Date): Date {
  return new Date(time.getTime() - underWayMs);
}

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
