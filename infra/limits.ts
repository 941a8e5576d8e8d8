import type { CollectorConfig } from './config/config-schema';

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

/** Memory in MiB that code, runtime and the outcomes of 50,000 clusters take before the first body is under way. */
const baseMemoryMiB = 512;

/**
 * Memory in MiB for one body under way: its buffered part, its compressor, its connections, and buffers that wait for the
 * garbage collector. Measured at 1 for logs of 100 KB and at 2 for logs of 20 MB (`npm run bench -- --scenario concurrency`).
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
