import type { Configuration, ConfiguredCluster } from '../../../../archive/format/configuration';
import { dateOf } from '../../../../archive/format/keys';
import { pick, type Random } from '../../../../local/demo-service/seeded-random';

const schedules: readonly [Configuration['schedule'], ...Configuration['schedule'][]] = [
  { expression: 'cron(0 0/6 * * ? *)', timeZone: 'Etc/UTC', enabled: true },
  { expression: 'cron(0 0/3 * * ? *)', timeZone: 'Etc/UTC', enabled: true },
  { expression: 'cron(30 2,14 * * ? *)', timeZone: 'Europe/Berlin', enabled: true },
  { expression: 'cron(0 1-4 * * ? *)', timeZone: 'Europe/Berlin', enabled: true },
  { expression: 'cron(0 6 ? * MON-FRI *)', timeZone: 'America/New_York', enabled: true },
  { expression: 'cron(0 0/6 * * ? *)', timeZone: 'Etc/UTC', enabled: false },
];

/** A stack as it is deployed from one time on. */
export interface Deployment {
  readonly from: Date;
  readonly collection: Configuration;
  readonly shards: number;
}

/** @param expires whether it may have a retention */
export function randomDeployment(random: Random, from: Date, expires: boolean): Deployment {
  const uids = ['a', 'b', 'c c', 'd/1', 'e'].filter(() => random() < 0.7);
  const clusters = (uids.length === 0 ? ['a'] : uids).map(
    (uid): ConfiguredCluster => ({
      uid,
      ...(random() < 0.2 && { optional: random() < 0.5 || { until: dateOf(from) } }),
      ...(random() < 0.2 && { resources: ['log'] as const }),
    }),
  );
  const collection: Configuration = {
    service: { baseUrl: 'http://127.0.0.1:9', collection: 'c' },
    clusters,
    limits: { concurrency: 3, maxBodyMiB: 1, responseTimeoutSeconds: 1 },
    schedule: pick(random, schedules),
    ...(expires && random() < 0.7 && { retentionDays: pick(random, [3, 5, 10]) }),
  };
  return { from, collection, shards: pick(random, [1, 1, 2, 3]) };
}
