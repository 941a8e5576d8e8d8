import * as z from 'zod/mini';
import { readTime } from './object-metadata';
import { type Resource, resourceNames } from './resources';

/**
 * The stored document that lists every outcome of one attempt. It is JSON Lines: the first line is the run, each line behind
 * it one outcome. Times are ISO 8601 in UTC with milliseconds, lengths are bytes, durations milliseconds, hashes lower-case
 * hex.
 */
export const time = z.string().check(z.refine((text) => readTime(text) !== undefined, 'expected ISO 8601 in UTC'));
export const count = z.int().check(z.nonnegative());
export const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits'));

/**
 * What became of one cluster x resource in an attempt. `already-archived` carries a hash only where an earlier record of
 * the run has it: what the service says now may differ from what was archived then.
 */
const outcomeNames = ['archived', 'already-archived', 'failed', 'not-attempted', 'would-archive'] as const;

export const outcomeSchema = z.object({
  cluster: z.string(),
  resource: z.enum(resourceNames),
  outcome: z.enum(outcomeNames),
  /** The cluster is configured as optional: without it the run is complete all the same. */
  optional: z.optional(z.literal(true)),
  /** The cluster is not on the list from outside any more. It is optional too, however it was configured. */
  leaving: z.optional(z.literal(true)),
  /** Key of the object; only where it is archived. */
  key: z.optional(z.string()),
  /** Length of the uncompressed content. */
  bytes: z.optional(count),
  /** Length of the answer's body as it came, compressed or not. */
  receivedBytes: z.optional(count),
  /** Length of the object. */
  storedBytes: z.optional(count),
  /** Of the uncompressed content. */
  sha256: z.optional(sha256),
  /** Status of the last answer. */
  httpStatus: z.optional(count),
  /** Requests made to the service. */
  requests: z.optional(count),
  durationMs: z.optional(count),
  /** When the content was received: the time at which it was true. */
  fetchedAt: z.optional(time),
  /** Media type of the answer, as the service gave it. */
  mediaType: z.optional(z.string()),
  /** `status.state` of the log record. As the next two, it has the first 4,096 characters and `…` if there are more. */
  state: z.optional(z.string()),
  /** `metadata.uid` of the log record. */
  recordUid: z.optional(z.string()),
  /** `metadata.lastModifiedTimestamp` of the log record, as received. */
  lastModified: z.optional(z.string()),
  /** Length of `spec.log` in bytes of UTF-8. */
  logLength: z.optional(count),
  /** Lines of `spec.log`; a last one without LF counts. */
  logLines: z.optional(count),
  /** Of the bytes between the quotes of `spec.log` as received; absent: they are too many. */
  logSha256: z.optional(sha256),
  /** Why it is not certain that what was archived is right. No failure. */
  doubt: z.optional(z.string()),
  /** Why it was not archived. */
  error: z.optional(z.string()),
});

const shardSchema = z.object({ index: count, count: z.int().check(z.positive()) });

const countsSchema = z.object({
  archived: count,
  alreadyArchived: count,
  failed: count,
  notAttempted: count,
  /** Optional ones that are not archived; `failed` and `notAttempted` leave them out. */
  optionalMissing: z.optional(count),
  /** Outcomes with a doubt; the other counts have them too. */
  doubts: z.optional(count),
  /** Only in the summary of a dry run, which leaves no record. */
  wouldArchive: z.optional(count),
});

/** The first of some clusters; their configurations have them all. */
const namedSchema = z.object({ count, uids: z.array(z.string()) });

/** What an attempt read of a list of clusters from outside. The configuration says what it collected. */
const clusterListSchema = z.object({
  /** `s3://bucket/key`. */
  from: z.string(),
  /** Of the object, byte for byte; absent: it could not be read. */
  sha256: z.optional(sha256),
  versionId: z.optional(z.string()),
  modifiedAt: z.optional(time),
  /** Whether the attempt collected all that the object says; false: `problem` says why not. */
  isInForce: z.boolean(),
  /** The run record that the list came after, and its configuration; absent: nothing was collected before. */
  follows: z.optional(z.object({ record: z.string(), configuration: sha256 })),
  /** Who was not collected before. */
  joined: z.optional(namedSchema),
  /** Who is not on the list any more and is collected on, as the configuration has it. */
  leaving: z.optional(z.object({ count, clusters: z.array(z.object({ uid: z.string(), since: time, dates: count })) })),
  /** Who was leaving for long enough, and is not collected any more. */
  left: z.optional(namedSchema),
  /** Who is not collected any more because the configuration excludes it. */
  excluded: z.optional(namedSchema),
  /** Who became optional, or is so for longer, or lost a resource. */
  lessened: z.optional(namedSchema),
  /** Who could not join. */
  waiting: z.optional(namedSchema),
  /** Why the attempt failed over the list, whatever its status is. */
  problem: z.optional(z.string()),
  /** The time since which every attempt had a problem with the list. */
  since: z.optional(time),
});

/** Most outcomes of one run record. So many have more than {@link largestRecordBytes}, unless somebody made them up. */
const mostOutcomes = 1_000_000;

/** The first line of a run record. */
export const runSchema = z.object({
  /** Version of this format. */
  version: z.literal(1),
  run: time,
  /** Counts from 1. */
  attempt: z.int().check(z.positive()),
  shard: z.optional(shardSchema),
  /** Who started this attempt: the schedule, retries included, or a person. */
  trigger: z.enum(['schedule', 'manual']),
  startedAt: time,
  finishedAt: time,
  /** Version of the collector, and of the deployed function where it is known. */
  collectorVersion: z.string(),
  functionVersion: z.string(),
  /** Lambda's request id: the same for the retries of one event. */
  invocation: z.string(),
  /** SHA-256 of the configuration file: which configuration this attempt worked with. */
  configuration: sha256,
  /** Left out: the clusters were deployed with the function, or a run was completed late, which reads no list. */
  clusterList: z.optional(clusterListSchema),
  /** `complete` only if everything the attempt covers is archived. */
  status: z.enum(['complete', 'incomplete']),
  /** Why the attempt ended before everything was attempted. */
  stopped: z.optional(z.string()),
  counts: countsSchema,
  /** How many lines follow. Each is one outcome, in the order of the configuration. */
  outcomes: z.int().check(z.nonnegative(), z.maximum(mostOutcomes)),
});

const shared = z.pick(runSchema, { run: true, shard: true, status: true, counts: true, stopped: true });

/** What a caller of the function gets. */
export const summarySchema = z.extend(shared, {
  /** Absent for a dry run. */
  attempt: z.optional(z.int()),
  dryRun: z.boolean(),
  /** Where the run record lies: `s3://bucket/key`. Absent for a dry run. */
  record: z.optional(z.string()),
  durationMs: count,
});

export type RunSummary = z.infer<typeof summarySchema>;
export type ClusterList = z.infer<typeof clusterListSchema>;
export type Outcome = z.infer<typeof outcomeSchema>;
/** What the first line of a run record says, beside the number of lines that follow. */
export type RecordHead = Omit<z.infer<typeof runSchema>, 'outcomes'>;

/** A run record before it is stored. */
export interface RunRecord extends RecordHead {
  readonly outcomes: readonly Outcome[];
}

/** A run record that was read back. */
export interface StoredRecord extends RecordHead {
  readonly outcomes: StoredOutcomes;
}

/** Outcomes that can be read again and again, in their order. */
export interface StoredOutcomes extends Iterable<Outcome> {
  /** Undefined if there is none of this index. */
  at(index: number): Outcome | undefined;
  /** Whether some have members that nobody knows, which are left out. To look for them takes as long as parsing. */
  readonly hasOthers?: boolean;
}

/** What became of one cluster x resource in a run, over all its attempts. */
export interface RunOutcome extends Outcome {
  /** The attempt whose record says so. */
  readonly attempt: number;
  /** Version of the collector that wrote that record. */
  readonly collectorVersion: string;
}

/** Which code and which configuration are behind a run record. */
export type Provenance = Pick<RunRecord, 'collectorVersion' | 'functionVersion' | 'invocation' | 'configuration'>;
export type Counts = z.infer<typeof countsSchema>;

/** Whether the outcome says that the object is in the archive. */
export function isStored({ outcome }: { readonly outcome: string }): boolean {
  return outcome === 'archived' || outcome === 'already-archived';
}

/** One name per cluster x resource, for maps and sets. */
export function taskName({ cluster, resource }: { readonly cluster: string; readonly resource: Resource }): string {
  return `${resource}/${cluster}`;
}

/** Largest run record that is read back, in bytes: about 500,000 outcomes. The collector writes none that is larger. */
export const largestRecordBytes = 256 * 1024 * 1024;

/** What lies under a run record's key is not that run record, or it could not be read or written. */
export class RunRecordError extends Error {
  override readonly name = 'RunRecordError';
}
