import * as z from 'zod/mini';
import type { Configuration } from './configuration';
import { count, sha256, time } from './run-record';
import { scheduleSchema } from './schedule/schedule';

/** Who is asked for a time stamp (RFC 3161) of each seal. */
const authoritySchema = z.object({
  /** Names its stamps: `seals/00000042.<name>.tsr`. */
  name: z.string(),
  /** May be http: the answer is signed. */
  url: z.string(),
  /** The certificate that theirs have to lead to: DER in base64. */
  root: z.string(),
});

export type StampAuthority = Readonly<z.infer<typeof authoritySchema>>;

/** Damage that somebody knows of. Members in this order: what has a hash begins with its key, and only that (docs/proof.md searches for it). */
const acknowledgedSchema = z.object({ kind: z.string(), key: z.string(), why: z.string() });

/**
 * A cluster whose objects were deleted on request: it excuses the kind `missing` alone, of objects of runs between the two
 * times. Without a first time, from the beginning.
 */
const erasedSchema = z.object({ cluster: z.string(), from: z.optional(time), to: time, why: z.string() });

const days = z.int().check(z.positive());

/** What an audit was deployed with, as its seal says it: the archive is judged by it. */
export const planSchema = z.object({
  clusters: count,
  /** When the schedule starts the collector's runs. */
  schedule: scheduleSchema,
  /** When audits start. */
  auditSchedule: scheduleSchema,
  /** Days after which the lifecycle removes logs, manifests and run records; left out: never. */
  retentionDays: z.optional(days),
  /** Days within which old content is read again; left out: what was read once is not read again. */
  rereadDays: z.optional(days),
  /** Parts into which the fleet is divided; left out: 1. */
  shards: z.optional(days),
  /** Where the clusters come from that are read when a run begins; left out: they are deployed. */
  clusterList: z.optional(
    z.object({
      from: z.string(),
      /** As in the configuration. */
      leaveAfterDays: z._default(count, 0),
      exclude: z.optional(z.readonly(z.array(z.string()))),
      /** Of the configuration with the list in force; left out: no run has collected one. */
      configuration: z.optional(sha256),
    }),
  ),
  timestamps: z.optional(z.array(authoritySchema)),
  acknowledged: z.optional(z.array(acknowledgedSchema)),
  erased: z.optional(z.array(erasedSchema)),
  /** Retentions, shorter than the ones before them, that somebody means. */
  shorterRetentions: z.optional(z.array(z.object({ retentionDays: days, why: z.string() }))),
});

/** A plan as seals have it. */
export type SealedPlan = z.infer<typeof planSchema>;

/** An erasure that somebody asked for. Without an end, it ends with the first seal whose plan has it. */
type Erasure = Readonly<Omit<z.infer<typeof erasedSchema>, 'to'>> & { readonly to?: string | undefined };

/** The plan as it is deployed with the audit: with the clusters themselves, and what no seal has. */
export type AuditPlan = Readonly<Omit<SealedPlan, 'clusters' | 'erased'>> & {
  /** None if there is a `clusterList`. */
  readonly clusters: Configuration['clusters'];
  /** Clusters whose objects were deleted on request: what is `missing` of them is reported as erased, and raises no alarm. */
  readonly erased?: readonly Erasure[];
  /** Hours without anything new in a log after which it counts as frozen; left out: 24, and no alarm. */
  readonly frozenAfterHours?: number | undefined;
  /** Public keys that signed the seals before the audit's own key did: SPKI in DER, base64. */
  readonly formerPublicKeys?: readonly string[] | undefined;
};
