import type { CollectorConfig } from './config-schema';

type Limits = Pick<CollectorConfig['limits'], 'concurrency' | 'maxBodyMiB'>;

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

/** Memory in MiB that code, runtime and a large fleet's list of outcomes take before the first body is under way. */
const baseMemoryMiB = 512;

/** Memory in MiB one body under way takes at most: its buffered part, compressor and connection. */
const memoryPerBodyMiB = 24;

/**
 * Memory in MiB. Bodies spill to temporary storage, so memory follows the concurrency and not the size of bodies. One
 * whole processor is the least, because hashing and compressing are what an invocation spends its time on, and Lambda
 * gives processor by memory.
 */
export function memoryMiB({ concurrency }: Pick<Limits, 'concurrency'>): number {
  return Math.max(oneProcessorMiB, baseMemoryMiB + concurrency * memoryPerBodyMiB);
}
