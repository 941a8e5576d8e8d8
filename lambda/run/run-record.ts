import * as z from 'zod/mini';
import { resourceNames } from '../resources';

/**
 * The stored document that lists every outcome of one attempt: one line of JSON. Times are ISO 8601 in UTC with
 * milliseconds, lengths are bytes, durations milliseconds, hashes lower-case hex.
 */
const time = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'expected ISO 8601 in UTC'));
const count = z.int().check(z.nonnegative());
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits'));

/**
 * What became of one cluster x resource in an attempt. `already-archived` carries a hash only where an earlier record of
 * the run has it: what the service says now may differ from what was archived then.
 */
export const outcomeNames = ['archived', 'already-archived', 'failed', 'not-attempted', 'would-archive'] as const;

export type OutcomeName = (typeof outcomeNames)[number];

const outcomeSchema = z.object({
  cluster: z.string(),
  resource: z.enum(resourceNames),
  outcome: z.enum(outcomeNames),
  /** Key of the object; only where it is archived. */
  key: z.optional(z.string()),
  /** Length of the uncompressed content. */
  bytes: z.optional(count),
  /** Length of the object. */
  storedBytes: z.optional(count),
  /** Of the uncompressed content. */
  sha256: z.optional(sha256),
  /** Status of the last answer. */
  httpStatus: z.optional(z.int()),
  /** Requests made to the service. */
  attempts: z.optional(count),
  durationMs: z.optional(count),
  /** When the content was received: the time at which it was true. */
  fetchedAt: z.optional(time),
  /** Media type of the answer, as the service gave it. */
  mediaType: z.optional(z.string()),
  /** `status.state` of the log record, whole. */
  state: z.optional(z.string()),
  /** `metadata.uid` of the log record. */
  recordUid: z.optional(z.string()),
  /** `metadata.lastModifiedTimestamp` of the log record, as received. */
  lastModified: z.optional(z.string()),
  /** Length of `spec.log` in bytes of UTF-8. */
  logLength: z.optional(count),
  /** Why it was not archived. */
  error: z.optional(z.string()),
});

const shardSchema = z.object({ index: count, count: z.int().check(z.positive()) });

export const countsSchema = z.object({
  archived: count,
  alreadyArchived: count,
  failed: count,
  notAttempted: count,
  /** Only in the summary of a dry run, which leaves no record. */
  wouldArchive: z.optional(count),
});

export const runRecordSchema = z.object({
  /** Version of this format. */
  version: z.literal(1),
  run: time,
  /** Counts from 1. */
  attempt: z.int().check(z.positive()),
  shard: z.optional(shardSchema),
  startedAt: time,
  finishedAt: time,
  /** Version of the collector, and of the deployed function where it is known. */
  collectorVersion: z.string(),
  functionVersion: z.string(),
  /** Lambda's request id: the same for the retries of one event. */
  invocation: z.string(),
  /** SHA-256 of the collection file: which configuration this attempt worked with. */
  configuration: sha256,
  /** `complete` only if everything the attempt covers is archived. */
  status: z.enum(['complete', 'incomplete']),
  /** Why the attempt ended before everything was attempted. */
  stopped: z.optional(z.string()),
  counts: countsSchema,
  outcomes: z.array(outcomeSchema),
});

export type RunRecord = z.infer<typeof runRecordSchema>;
export type Outcome = z.infer<typeof outcomeSchema>;
export type Counts = z.infer<typeof countsSchema>;

/** What a caller of the function gets. */
export interface RunSummary {
  readonly run: string;
  /** Absent for a run that is not divided. */
  readonly shard?: RunRecord['shard'];
  /** Absent for a dry run. */
  readonly attempt?: number;
  readonly status: RunRecord['status'];
  readonly dryRun: boolean;
  readonly counts: Counts;
  /** Where the run record lies: `s3://bucket/key`. Absent for a dry run. */
  readonly record?: string;
  readonly stopped?: string | undefined;
  readonly durationMs: number;
}

export function countOutcomes(outcomes: readonly Outcome[]): Counts {
  const number = (name: OutcomeName) => outcomes.filter(({ outcome }) => outcome === name).length;
  const wouldArchive = number('would-archive');
  return {
    archived: number('archived'),
    alreadyArchived: number('already-archived'),
    failed: number('failed'),
    notAttempted: number('not-attempted'),
    ...(wouldArchive === 0 ? {} : { wouldArchive }),
  };
}

/** Whether everything an attempt covers is archived, or would be. */
export function isComplete({ failed, notAttempted }: Counts): boolean {
  return failed === 0 && notAttempted === 0;
}
