import { functionTimeoutSeconds } from '../archive/format/clocks';
import {
  asynchronousAttempts,
  deadlineReserveSeconds,
  longestSeconds,
  mostConcurrentShards,
} from '../lambda/time-limits';
import { hoursText } from './alarm-windows';

interface Limits {
  /** Bodies under way at once. */
  readonly concurrency: number;
  /** Largest body that is accepted, in MiB. */
  readonly maxBodyMiB: number;
}

/** What decides whether runs overlap. */
interface Paced {
  readonly schedule: { readonly enabled: boolean };
  readonly limits: { readonly oneRunAtATime: boolean };
  readonly shards: number;
}

/**
 * That two runs may be under way at once, in words; undefined: they cannot, or one waits for the other. They would ask the
 * service for twice as much, and just when it is slow.
 * @param shortestHours from one firing of the schedule to the next
 */
export function describeOverlap(config: Paced, shortestHours: number): string | undefined {
  const longestHours = longestSeconds(config) / 3600;
  if (!config.schedule.enabled || config.limits.oneRunAtATime || shortestHours >= longestHours) return undefined;
  return (
    `The schedule fires again after ${hoursText(shortestHours)}, and a run with its retries may last ` +
    `${hoursText(longestHours)}: runs may overlap, each at the full rate`
  );
}

/** Most temporary storage a function can have, in MiB: Lambda's own maximum. */
export const largestTemporaryStorageMiB = 10_240;

/**
 * Temporary storage beside the spilled bodies, in MiB: for the file system, and for bodies that compression makes larger.
 * It is what every function has at least, without costs.
 */
export const storageMarginMiB = 512;

/**
 * Temporary storage in MiB that holds all bodies under way at once, each of the largest size and incompressible. The
 * configuration's check keeps it within Lambda's maximum.
 */
export function temporaryStorageMiB({ concurrency, maxBodyMiB }: Limits): number {
  return concurrency * maxBodyMiB + storageMarginMiB;
}

/** Memory in MiB at which Lambda gives a function one whole processor. */
export const oneProcessorMiB = 1769;

/** Memory in MiB for the code, the runtime and the outcomes of 50,000 clusters, without any body. */
const baseMemoryMiB = 512;

/**
 * Memory in MiB for one body under way: its buffered part, its compressor, its connections, and buffers that are not yet
 * collected. Measured: 1 for logs of 100 KB, 2 for logs of 20 MB (docs/performance.md).
 */
const memoryPerBodyMiB = 8;

/**
 * Share of the memory that V8's young generation may take: three spaces of 5 % each. Lambda's runtime starts Node with
 * these options (read in its start script for Node 14 and 18; not documented).
 */
const youngGenerationPart = 0.15;

/**
 * Memory of the function in MiB. It follows the concurrency and not the size of bodies, because bodies spill to temporary
 * storage. It is at least what gives one whole processor, because an invocation spends its time on hashing and
 * compressing. It does not buy a second processor: only compression could use it, and shards double everything for the
 * same money.
 */
export function memoryMiB({ concurrency }: Pick<Limits, 'concurrency'>): number {
  return Math.max(oneProcessorMiB, Math.ceil(workingMemoryMiB({ concurrency }) / (1 - youngGenerationPart)));
}

/** Most bodies under way at once: a new account may give a function 3,008 MiB (Lambda developer guide, quotas). */
export const mostConcurrency = 255;

/** Memory in MiB that an attempt needs at most, without V8's young generation. */
export function workingMemoryMiB({ concurrency }: Pick<Limits, 'concurrency'>): number {
  return baseMemoryMiB + concurrency * memoryPerBodyMiB;
}

/**
 * Most shards: the history of an execution still fits into Step Functions' quota of 25,000 events if every one of them uses
 * all its retries (test/infra/fan-out.test.ts counts them).
 */
export const mostShards = 500;

/** Most shards with `oneRunAtATime`, which adds retries, for the same reason. */
export const mostShardsInTurn = 95;

/** Processor time of one small cluster, in seconds: measured, docs/large-fleets.md, "A million clusters". */
const secondsPerCluster = 0.005;

interface Fleet {
  readonly shards: number;
  readonly limits: { readonly requestsPerSecond?: number | undefined };
}

/** Clusters above which no run can finish, however often it is tried: each asks the service at least once. */
export function mostClusters({ shards, limits }: Fleet): number {
  const seconds = asynchronousAttempts * (functionTimeoutSeconds - deadlineReserveSeconds);
  const turns = Math.ceil(shards / mostConcurrentShards);
  const byRate = (limits.requestsPerSecond ?? Number.POSITIVE_INFINITY) * turns * seconds;
  return Math.floor(Math.min((shards * seconds) / secondsPerCluster, byRate));
}

/** Longest time that Lambda keeps an event, in seconds: its own maximum. */
const longestEventAgeSeconds = 6 * 60 * 60;

/**
 * Retries of a shard that another run holds back, with `oneRunAtATime`: for as long as Lambda's own queue holds back an
 * event. Not with jitter: its mean would be half as long.
 */
export const heldBackRetry = { times: longestEventAgeSeconds / 300, firstWaitSeconds: 300, backoffRate: 1 } as const;

/** Shards under way at once. */
export function concurrentShards(shards: number): number {
  return Math.min(shards, mostConcurrentShards);
}

/**
 * Age at which Lambda gives up an event, in seconds. It is more than the longest run with all its attempts takes, or Lambda
 * would skip the last attempts. The rest is room for throttling in a busy account.
 */
const busyEventAgeSeconds = 2 * 60 * 60;

/** @param waits whether an event waits for the runs before it */
export function eventAgeSeconds(waits: boolean): number {
  return waits ? longestEventAgeSeconds : busyEventAgeSeconds;
}

/** How long EventBridge Scheduler tries to start a run, in seconds, before it sends the event to the dead-letter queue. */
export const deliveryAgeSeconds = 60 * 60;

/** Longest wait for the first byte of an answer, in seconds: what answers later has mostly given up itself. */
export const responseTimeoutSeconds = 60;
