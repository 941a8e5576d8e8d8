import { asynchronousAttempts, functionTimeoutSeconds } from '../lambda/stack-contract';

/** Shards that are worked on at once: what Step Functions promises for an inline map. More of them take turns. */
export const mostConcurrentShards = 40;

/** Events that one execution may leave in its history, before Step Functions ends it: its own quota. */
export const historyEvents = 25_000;

/** How long one invocation may take until it counts as lost, in seconds: the function's limit and room for a cold start. */
export const invocationTimeoutSeconds = functionTimeoutSeconds + 60;

/** Retries of a shard whose attempt failed: as often, and after the same waits, as Lambda would retry an event. */
export const incompleteRetry = { times: asynchronousAttempts - 1, firstWaitSeconds: 60, backoffRate: 2 } as const;

/**
 * Retries of an invocation that did not reach the function: a throttled account above all. Twice as long as a shard
 * takes, so that in an account with little concurrency the shards can take turns.
 */
export const unreachedRetry = { times: 10, firstWaitSeconds: 10, backoffRate: 2, longestWaitSeconds: 300 } as const;

/** Events that one shard leaves in the history at most. */
export const eventsPerShard =
  // An iteration begins and ends, and two states are entered and left.
  6 +
  // Each try is scheduled, begins and ends.
  3 * (1 + incompleteRetry.times + unreachedRetry.times);

/** Most shards whose history fits, every one of them retried to the last. */
export const mostShards = 500;

/** Shards under way at once. */
export function concurrentShards(shards: number): number {
  return Math.min(shards, mostConcurrentShards);
}

/** Longest time in seconds that one shard takes, with all retries. */
export const longestShardSeconds =
  (1 + incompleteRetry.times) * invocationTimeoutSeconds + waits(incompleteRetry) + waits(unreachedRetry);

/** Longest time in seconds from the start of an execution to its end. */
export function longestExecutionSeconds(shards: number): number {
  const turns = Math.ceil(shards / mostConcurrentShards);
  const marginSeconds = 300;
  return turns * longestShardSeconds + marginSeconds;
}

interface Waits {
  readonly times: number;
  readonly firstWaitSeconds: number;
  readonly backoffRate: number;
  readonly longestWaitSeconds?: number;
}

/** All waits of a retry together, in seconds. */
export function waits({ times, firstWaitSeconds, backoffRate, longestWaitSeconds = Number.POSITIVE_INFINITY }: Waits) {
  return Array.from({ length: times }, (_, retry) =>
    Math.min(longestWaitSeconds, firstWaitSeconds * backoffRate ** retry),
  ).reduce((sum, seconds) => sum + seconds, 0);
}
