import type { ClusterListSource, Configuration } from '../archive/format/configuration';
import type { CollectorConfig } from './config/config';
import type { OutsideList } from './config/service-members';
import { concurrentShards, mostClusters, responseTimeoutSeconds } from './limits';

/** The part of the configuration that the collector needs. The request rate is of the whole fleet; each shard gets a share. */
export function configurationOf(config: CollectorConfig): Configuration {
  const { service, clusters, clusterList, limits, archive, shards, schedule } = config;
  const { requestsPerSecond } = limits;
  return {
    service,
    clusters,
    clusterList: clusterList && sourceOf(clusterList, config),
    limits: {
      ...limits,
      responseTimeoutSeconds,
      requestsPerSecond: requestsPerSecond && requestsPerSecond / concurrentShards(shards),
    },
    schedule,
    retentionDays: archive.retentionDays,
  };
}

function sourceOf({ kmsKeyArn, ...list }: OutsideList, config: CollectorConfig): ClusterListSource {
  return { ...list, mostClusters: mostClusters(config) };
}
