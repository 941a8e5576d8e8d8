import type { Collection } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { concurrentShards } from './fan-out-limits';

/** The configuration as far as the function needs it. The request rate is the fleet's: each shard takes its part. */
export function collectionOf({ service, clusters, limits, archive, shards }: CollectorConfig): Collection {
  const { baseUrl, projectUid, collection, caCertificate } = service;
  const { requestsPerSecond } = limits;
  return {
    service: { baseUrl, projectUid, collection, caCertificate },
    clusters,
    limits: {
      ...limits,
      ...(requestsPerSecond !== undefined && { requestsPerSecond: requestsPerSecond / concurrentShards(shards) }),
    },
    compression: archive.compression,
  };
}
