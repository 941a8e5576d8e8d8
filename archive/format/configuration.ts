import * as z from 'zod/mini';
import { dateOf } from './keys';
import { resourceNames } from './resources';
import { count, time } from './run-record';
import { scheduleSchema } from './schedule/schedule';

/** `2026-11-20`, UTC. */
const date = z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/));

/**
 * What runs were told to collect: the validated `collector.json` as far as the function needs it, defaults filled in. It is
 * stored under its hash, which run records name. What comes back is untrusted, so that it is parsed; what the function finds
 * beside its own code is not.
 */
const clusterSchema = z.object({
  uid: z.string(),
  /** Header `ProjectUid` (service contract, section 5); wins over the configuration's. */
  projectUid: z.optional(z.string()),
  /** Query parameter `requestId` of the log call (section 4.1); its effect is not shown. */
  requestId: z.optional(z.string()),
  /** Written out by the configuration; left out in archives of earlier versions: `firstResources`. */
  resources: z.optional(z.readonly(z.array(z.enum(resourceNames)))),
  /** Whether a run is complete without this cluster; with `until`, up to and including this date. See {@link isOptional}. */
  optional: z.optional(z.union([z.boolean(), z.readonly(z.object({ until: date }))])),
  /** Of a cluster that is not on the list from outside any more: it is collected on for some days, and no run fails over it. */
  leaving: z.optional(
    z.readonly(
      z.object({
        /** When a run began that did not find it on the list: the first of those in a row. */
        since: time,
        /** UTC dates on which a run of all clusters named it as leaving. */
        dates: count,
        /** The newest of them. */
        last: z.optional(date),
      }),
    ),
  ),
});

const clusterListSchema = z.object({
  /** `s3://bucket/key`. */
  from: z.string(),
  /** Dates on which a cluster is named as leaving before it is gone. 0: earlier versions had another rule, nothing is judged. */
  leaveAfterDays: z._default(count, 0),
  /** Uids that are not collected, whatever the list says. */
  exclude: z.optional(z.readonly(z.array(z.string()))),
  /** Age at which the list counts as forgotten, in hours; left out: it never does. */
  maxAgeHours: z.optional(z.number()),
  /** Clusters above which no run would finish. */
  mostClusters: z.number(),
});

export const configurationSchema = z.object({
  service: z.object({
    /** Origin and path prefix without a trailing slash; https, or http towards loopback. */
    baseUrl: z.string(),
    projectUid: z.optional(z.string()),
    /** Path segment of the service's cluster collection (section "Naming note"). */
    collection: z.string(),
    /** PEM text of the only certificate authorities trusted for the service; left out: the runtime's own. */
    caCertificate: z.optional(z.string()),
  }),
  /** As the stack is deployed, it has none if there is a `clusterList`. */
  clusters: z.readonly(z.array(z.readonly(clusterSchema))),
  /** Where a list of clusters lies that is read when a run begins, and what it is judged by; left out: they are deployed. */
  clusterList: z.optional(z.readonly(clusterListSchema)),
  limits: z.object({
    /** Bodies under way at once. */
    concurrency: z.number(),
    /** Requests started per second, over the whole invocation; left out: unlimited. */
    requestsPerSecond: z.optional(z.number()),
    /** Largest body that is accepted, in MiB of decoded content. */
    maxBodyMiB: z.number(),
    /** Longest wait for the first byte of an answer, in seconds. */
    responseTimeoutSeconds: z.number(),
  }),
  /** When the schedule starts runs. The function only stores it, for those who judge the archive. */
  schedule: scheduleSchema,
  /** Days after which the lifecycle removes objects; left out: never. The function only stores it. */
  retentionDays: z.optional(z.int().check(z.positive())),
});

export type Configuration = Readonly<z.infer<typeof configurationSchema>>;

/** One configured cluster with what is asked of it. */
export type ConfiguredCluster = Configuration['clusters'][number];

/**
 * Whether a run is complete without a cluster, by what is configured for it. One that is leaving is optional too.
 * @param run the run's time, whoever judges it and when
 */
export function isOptional({ optional = false }: Pick<ConfiguredCluster, 'optional'>, run: Date): boolean {
  return typeof optional === 'object' ? dateOf(run) <= optional.until : optional;
}

/** The last UTC date of the runs that are complete without a cluster, to be compared as text; empty: there is none. */
export function lastOptionalDate({ optional = false }: Pick<ConfiguredCluster, 'optional'>): string {
  if (typeof optional === 'object') return optional.until;
  return optional ? 'always' : '';
}

export type ClusterListSource = NonNullable<Configuration['clusterList']>;

/** The part of a configuration that the archive is judged by. */
export const judgedConfigurationSchema = z.pick(configurationSchema, {
  clusters: true,
  clusterList: true,
  schedule: true,
  retentionDays: true,
});
