import { asynchronousAttempts, functionTimeoutSeconds } from '../lambda/stack-contract';

interface Limits {
  /** Bodies under way at once. */
  readonly concurrency: number;
  /** Largest body that is accepted, in MiB. */
  readonly maxBodyMiB: number;
}

/** Most temporary storage a function can have, in MiB: Lambda's own maximum. */
export const largestTemporaryStorageMiB = 10_240;

/** Least temporary storage a function has, in MiB; it costs nothing. */
const leastTemporaryStorageMiB = 512;

/** Temporary storage beside the spilled bodies, in MiB: what compression adds to incompressible bodies, and the file system. */
export const storageMarginMiB = 512;

/**
 * Temporary storage in MiB that holds every body under way at once, each of the largest size and incompressible.
 * The configuration's own check keeps it within Lambda's maximum.
 */
export function temporaryStorageMiB({ concurrency, maxBodyMiB }: Limits): number {
  const wanted = concurrency * maxBodyMiB + storageMarginMiB;
  return Math.min(largestTemporaryStorageMiB, Math.max(leastTemporaryStorageMiB, wanted));
}

/** Memory in MiB with which Lambda gives one whole processor. */
const oneProcessorMiB = 1769;

/** Memory in MiB that code, runtime and the outcomes of 50,000 clusters take before the first body is under way. */
const baseMemoryMiB = 512;

/**
 * Memory in MiB for one body under way: its buffered part, its compressor, its connections, and buffers that wait for the
 * garbage collector. Measured at 1 for logs of 100 KB and at 2 for logs of 20 MB (docs/performance.md).
 */
const memoryPerBodyMiB = 8;

/**
 * Part of the memory that may be V8's young generation: three spaces of 5 % each, because that is how Lambda's runtime
 * starts Node (read in its start script for Node 14 and 18; not documented).
 */
const youngGenerationPart = 0.15;

/**
 * Memory in MiB. Bodies spill to temporary storage, so memory follows the concurrency and not the size of bodies. One
 * whole processor is the least, because hashing and compressing are what an invocation spends its time on, and Lambda
 * gives processor by memory. More than one is not bought: only compression would use it, and shards double everything for
 * the same money.
 */
export function memoryMiB({ concurrency }: Pick<Limits, 'concurrency'>): number {
  return Math.max(oneProcessorMiB, Math.ceil(workingMemoryMiB({ concurrency }) / (1 - youngGenerationPart)));
}

/** Memory in MiB that an attempt takes at most, apart from V8's young generation. */
export function workingMemoryMiB({ concurrency }: Pick<Limits, 'concurrency'>): number {
  return baseMemoryMiB + concurrency * memoryPerBodyMiB;
}

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

/**
 * How old an event may become before Lambda gives it up, in seconds. More than the longest run with all its attempts, or
 * Lambda would skip the last ones; the rest is room for throttling in a busy account. Lambda's own maximum is six hours.
 */
export const eventAgeSeconds = 2 * 60 * 60;

/** How long EventBridge Scheduler tries to hand a run to Lambda, in seconds, before the dead-letter queue gets it. */
export const deliveryAgeSeconds = 60 * 60;
