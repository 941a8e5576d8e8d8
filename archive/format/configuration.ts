import type { Resource } from './resources';

/** One configured cluster with what is asked of it. */
export interface ConfiguredCluster {
  readonly uid: string;
  /** Header `ProjectUid` (service contract, section 5); wins over the collection's. */
  readonly projectUid?: string;
  /** Query parameter `requestId` of the log call (section 4.1); its effect is not shown. */
  readonly requestId?: string;
  /** Written out by the configuration; left out in archives of earlier versions: {@link firstResources}. */
  readonly resources?: readonly Resource[];
  /** Whether a run is complete without this cluster. */
  readonly optional?: boolean;
}

/** Where a list of clusters lies that is read when a run begins, and what it is judged by. */
export interface ClusterListSource {
  /** `s3://bucket/key`. */
  readonly from: string;
  /** Share of the clusters that may leave within a day without consent, in percent. */
  readonly maxRemovedPercent: number;
  /** Age at which the list counts as forgotten, in hours; left out: it never does. */
  readonly maxAgeHours?: number | undefined;
  /** Clusters above which no run would finish. */
  readonly mostClusters: number;
}

/** What one function collects and how: the validated configuration as far as the function needs it, defaults filled in. */
export interface Collection {
  readonly service: {
    /** Origin and path prefix without a trailing slash; https, or http towards loopback. */
    readonly baseUrl: string;
    readonly projectUid?: string;
    /** Path segment of the service's cluster collection (section "Naming note"). */
    readonly collection: string;
    /** PEM text of the only certificate authorities trusted for the service; left out: the runtime's own. */
    readonly caCertificate?: string;
  };
  /** As the stack is deployed, it has none if there is a {@link clusterList}. */
  readonly clusters: readonly ConfiguredCluster[];
  /** Left out: the clusters are deployed with the function. */
  readonly clusterList?: ClusterListSource;
  readonly limits: {
    /** Bodies under way at once. */
    readonly concurrency: number;
    /** Requests started per second, over the whole invocation; left out: unlimited. */
    readonly requestsPerSecond?: number;
    /** Largest body that is accepted, in MiB of decoded content. */
    readonly maxBodyMiB: number;
    /** Longest wait for the first byte of an answer, in seconds. */
    readonly responseTimeoutSeconds: number;
  };
  /** When the schedule starts runs. The function only stores it, for those who verify the archive. */
  readonly schedule: {
    /** EventBridge Scheduler's cron expression. */
    readonly expression: string;
    /** IANA name. */
    readonly timeZone: string;
    readonly enabled: boolean;
  };
  /** Days after which the lifecycle removes objects; left out: never. The function only stores it. */
  readonly retentionDays?: number;
}
