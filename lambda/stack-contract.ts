/**
 * The contract between the stack, which provides, and the functions, which read: names and types and nothing else, so that
 * a misspelt name does not compile. What is known when the stack is synthesised travels in the collection file beside the code;
 * what CloudFormation alone knows travels in the environment.
 */
import type { Resource } from './resources';

/** Environment variables of the collector: name of the archive bucket; ARN of the stack's own secret, or name of an existing one. */
export const collectorVariables = ['ARCHIVE_BUCKET', 'API_KEY_SECRET'] as const;
export type CollectorEnvironment = Record<(typeof collectorVariables)[number], string>;

/** Of the audit. Every mail goes to the first topic, and what pages to the second one as well, which may be the same. */
export const auditVariables = ['ARCHIVE_BUCKET', 'SIGNING_KEY_ARN', 'TOPIC_ARN', 'PAGE_TOPIC_ARN'] as const;
export type AuditEnvironment = Record<(typeof auditVariables)[number], string>;

/** Of the function that reports failures: name of the stack; the topic of messages, and that of incomplete runs, which may be the same. */
export const failureVariables = ['POWERTOOLS_SERVICE_NAME', 'TOPIC_ARN', 'RUN_TOPIC_ARN'] as const;
export type FailureEnvironment = Record<(typeof failureVariables)[number], string>;

/** Name of the collection file beside the function's bundle. */
export const collectionFile = 'collection.json';

/** Name of the audit file beside the audit's bundle; holds an {@link AuditPlan}. */
export const auditFile = 'audit.json';

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

/** What the audit judges the archive by: the validated configuration as far as the audit needs it. */
export interface AuditPlan {
  readonly clusters: Collection['clusters'];
  /** When the schedule starts the collector's runs. */
  readonly schedule: Collection['schedule'];
  /** When the schedule starts audits. */
  readonly auditSchedule: Collection['schedule'];
  /** Days after which the lifecycle removes logs, manifests and run records; left out: never. */
  readonly retentionDays?: number;
  /** Where the clusters come from; left out: they are deployed. As the audit is deployed, `clusters` is empty then. */
  readonly clusterList?: Pick<ClusterListSource, 'from' | 'maxRemovedPercent'> & { readonly configuration?: string };
  /** Parts into which the fleet is divided; left out: 1. */
  readonly shards?: number;
  /**
   * Days within which every old object is read again; left out: `audit.rereadDays` is false, and what was read once is not
   * read again. Its default is filled in when the stack is synthesised.
   */
  readonly rereadDays?: number;
  /** Hours without anything new in a log after which it counts as frozen; left out: 24, and no alarm. */
  readonly frozenAfterHours?: number;
  /** Damage that somebody knows of: every audit reports it, and it raises no alarm. */
  readonly acknowledged?: readonly { readonly kind: string; readonly key: string; readonly why: string }[];
  /** Clusters whose objects were deleted on request: what is `missing` of them is reported as erased, and raises no alarm. */
  readonly erased?: readonly ErasedCluster[];
  /** Retentions, shorter than the ones before them, that somebody means. */
  readonly shorterRetentions?: readonly { readonly retentionDays: number; readonly why: string }[];
  /** Who is asked for a time stamp (RFC 3161) of each seal; left out: nobody. */
  readonly timestamps?: readonly PlannedAuthority[];
  /** Public keys that signed the seals before the audit's own key did: SPKI in DER, base64. */
  readonly formerPublicKeys?: readonly string[];
}

/** An authority of time stamps. */
export interface PlannedAuthority {
  /** Names its stamps: `seals/00000042.<name>.tsr`. */
  readonly name: string;
  readonly url: string;
  /** The certificate that theirs have to lead to: DER in base64. */
  readonly root: string;
}

/** An erasure that somebody asked for. It excuses the kind `missing` alone, of objects of runs between the two times. */
export interface ErasedCluster {
  readonly cluster: string;
  /** Time of the first run, ISO 8601 in UTC; left out: from the beginning. */
  readonly from?: string;
  /** Time of the last run; left out: the time of the first seal whose plan has this entry. */
  readonly to?: string;
  readonly why: string;
}

/** Where CloudWatch keeps the metrics that alarms and dashboard read. The dimension `service` is the stack's name. */
export const metricNamespace = 'ClusterLogCollector';

/** Metrics of an audit. */
export const auditMetricNames = {
  /** Hours since the cluster that was archived longest ago was archived. */
  stalestHours: 'StalestHours',
  /** Damage that is open: found by this audit or one before it, neither repaired nor acknowledged. */
  auditFindings: 'AuditFindings',
  /** 1 per seal that is stored and signed: what shows that the audit is alive. */
  sealsWritten: 'SealsWritten',
  /** What is left for the next audit: objects, run records, passes that are late, authorities that gave no stamp for three days. */
  auditCarriedOver: 'AuditCarriedOver',
  /** Places where lines of logs may be lost between two runs, except those that an earlier mail named. */
  logGaps: 'LogGaps',
  /** Logs with nothing new for audit.frozenAfterHours, or for 24 hours. */
  frozenLogs: 'FrozenLogs',
  /** 1 for each audit whose mail a topic refused. */
  mailsLost: 'MailsLost',
} as const;

/** Metrics of a run, and with an audit those of the audit too. */
export const metricNames = {
  archived: 'Archived',
  failed: 'Failed',
  /**
   * By how much the attempt changed the number of what is missing of the run; negative where it completed some. The sum
   * over all attempts and shards of a run is what is missing of it now. `failed` counts each attempt anew, and the sum of
   * `archived` is right too.
   */
  missing: 'Missing',
  /** Share of the fleet, in percent, that the last attempt of a run of the schedule leaves missing; no other attempt has it. */
  missingPercent: 'MissingPercent',
  /** Uncompressed bytes archived. */
  bytes: 'Bytes',
  /** Bytes of what was archived, as they came from the service. */
  receivedBytes: 'ReceivedBytes',
  /** Compressed bytes archived. */
  storedBytes: 'StoredBytes',
  /** What was archived although it is not certain that it is right. */
  doubts: 'Doubts',
  /** Answers of the service that ask for fewer requests: 429, or 503 with a Retry-After. */
  throttled: 'Throttled',
  /**
   * 1 if the attempt wrote the record of a run of the schedule, 0 for one started by hand: what shows that the schedule
   * is alive. 0 for a shard too: the state machine counts the run, once all its shards have written theirs.
   */
  scheduled: 'ScheduledRun',
  ...auditMetricNames,
} as const;

/** Messages of the structured log lines that alarms, dashboard and README query by. */
export const logMessages = {
  /** One line per attempt. */
  run: 'run finished',
  /** One line per cluster x resource that was not archived although it was attempted. */
  failure: 'not archived',
  /** One line per cluster x resource that was archived with a doubt. */
  doubt: 'archived with a doubt',
  /** One line per request that is made again, with its number. */
  again: 'asked again',
  /** Nothing but probes is asked, because the service looks down. */
  paused: 'service looks down, asking probes only',
  /** After that: everything is asked again. */
  resumed: 'service answers again',
} as const;
