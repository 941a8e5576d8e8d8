import type { ClusterListSource, Collection } from './configuration';

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
