/**
 * The contract between the stack, which provides, and the functions, which read: names and types and nothing else, so that
 * a misspelt name does not compile. What is known when the stack is synthesised travels in the configuration file beside the code;
 * what CloudFormation alone knows travels in the environment.
 */

/**
 * Environment variables of the collector: name of the archive bucket; ARN of the stack's own secret, or name of an existing one;
 * what the option --stack takes.
 */
export const collectorVariables = ['ARCHIVE_BUCKET', 'API_KEY_SECRET', 'STACK'] as const;
export type CollectorEnvironment = Record<(typeof collectorVariables)[number], string>;

/** Of both, if a monitoring service outside is told: name of the secret with its address, and the stack as above. */
export const heartbeatVariables = ['HEARTBEAT_SECRET', 'STACK'] as const;
export type HeartbeatEnvironment = Record<(typeof heartbeatVariables)[number], string>;

/** Of the audit. Every mail goes to the first topic, and what pages to the second one as well, which may be the same. */
export const auditVariables = ['ARCHIVE_BUCKET', 'SIGNING_KEY_ARN', 'TOPIC_ARN', 'PAGE_TOPIC_ARN'] as const;
export type AuditEnvironment = Record<(typeof auditVariables)[number], string>;

/**
 * Of the function that reports failures: name of the stack; the topic that pages, and the one for what does not, which may be
 * the same; the share of the fleet from which a lost run pages, in percent.
 */
export const failureVariables = ['POWERTOOLS_SERVICE_NAME', 'TOPIC_ARN', 'RUN_TOPIC_ARN', 'PAGE_FROM_PERCENT'] as const;
export type FailureEnvironment = Record<(typeof failureVariables)[number], string>;

/** Name of the configuration file beside the function's bundle. */
export const configurationFile = 'configuration.json';

/** Name of the audit file beside the audit's bundle; holds an `AuditPlan` (archive/format/plan.ts). */
export const auditFile = 'audit.json';

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
  /** Logs with nothing new for audit.alarms.frozenAfterHours, or for 24 hours. */
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
  /** Share of the fleet, in percent, that a run of the schedule leaves missing for good; 100 where no record says. */
  missingPercent: 'MissingPercent',
  /** 1 if a run of the schedule ended for good with a list of clusters that was refused, 0 if it ended for good otherwise. */
  listRefused: 'ListRefused',
  /** Required clusters that are leaving the list from outside; 0 if they are less than three, or than a tenth. */
  manyLeaving: 'ManyLeaving',
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
  /** 1 for each complete run, and each seal, that the monitoring service outside did not hear of. */
  heartbeatsLost: 'HeartbeatsLost',
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
  /** One line per cluster x resource that a dry run found good. */
  wouldArchive: 'would archive',
  /** One line per request that is made again, with its number. */
  again: 'asked again',
  /** Nothing but probes is asked, because the service looks down. */
  paused: 'service looks down, asking probes only',
  /** After that: everything is asked again. */
  resumed: 'service answers again',
  /** The monitoring service outside did not hear of a complete run or of a seal. */
  heartbeat: 'heartbeat lost',
} as const;
