import type { AuditPlan, Collection } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { concurrentShards } from './limits';

type AuditConfig = NonNullable<CollectorConfig['audit']>;

/** The part of the configuration that the collector needs. The request rate is of the whole fleet; each shard gets a share. */
export function collectionOf({ service, clusters, limits, archive, shards, schedule }: CollectorConfig): Collection {
  const { baseUrl, projectUid, collection, caCertificate, acceptCompressed } = service;
  const { requestsPerSecond } = limits;
  return {
    service: { baseUrl, projectUid, collection, caCertificate, ...(!acceptCompressed && { acceptCompressed }) },
    clusters,
    limits: {
      ...limits,
      ...(requestsPerSecond !== undefined && { requestsPerSecond: requestsPerSecond / concurrentShards(shards) }),
    },
    compression: archive.compression,
    schedule,
    retentionDays: archive.retentionDays,
  };
}

/** The part of the configuration that the audit judges the archive by. */
export function auditPlanOf(
  { clusters, schedule, archive, shards }: CollectorConfig,
  { schedule: expression, timeZone = schedule.timeZone, alarmOnLogGaps: _, ...settings }: AuditConfig,
): AuditPlan {
  return {
    clusters: clusters.map(({ uid, resources, optional }) => ({ uid, resources, optional })),
    schedule,
    auditSchedule: { expression, timeZone, enabled: true },
    retentionDays: archive.retentionDays,
    shards,
    ...settings,
  };
}
