import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../package.json';
import { createCompressor } from './body/compress';
import { ClusterApi } from './service/cluster-api';
import type { Collection } from './stack-contract';

/** Where bodies that outgrow memory are kept while they arrive. */
export const spoolDirectory = join(tmpdir(), 'cluster-log-collector');

/** Time limits of one request to the service that are not configured, in milliseconds. */
const timeLimits = { connectMs: 10_000, idleMs: 30_000 } as const;

/** The service for one run: its connections do not outlive it, because a frozen function would find them dead. */
export function openService({ service, limits, compression }: Collection): ClusterApi {
  const receiver = {
    spoolDirectory,
    compressor: createCompressor(compression),
    maxBytes: limits.maxBodyMiB * 1024 * 1024,
  };
  const requestLimits = { ...timeLimits, responseMs: limits.responseTimeoutSeconds * 1000 };
  return new ClusterApi(service, limits.concurrency, receiver, requestLimits, `cluster-log-collector/${version}`);
}
