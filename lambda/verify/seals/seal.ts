import * as z from 'zod/mini';
import { count, sha256, time } from '../../run/run-record';

/**
 * A seal: one line of JSON with the hashes of all run records since the seal before it, and that seal's hash. The line
 * behind it is its signature. Times are ISO 8601 in UTC with milliseconds, lengths are bytes, hashes lower-case hex.
 */
const positive = z.int().check(z.positive());
const schedule = z.object({ expression: z.string(), timeZone: z.string(), enabled: z.boolean() });
const hashed = z.object({ key: z.string(), sha256, bytes: count });

/** How far reading has come along the sealed run records: everything before this place was read. */
const positionSchema = z.object({
  /** Number of a seal. */
  seal: positive,
  /** Index in its `records`. */
  record: count,
  /** Index in the `outcomes` of that record. */
  outcome: count,
});

const failingSchema = z.object({
  cluster: z.string(),
  /** The first run since it was archived last. */
  since: time,
  /** Runs since then that did not archive all of it. */
  runs: count,
  /** The last of these runs. */
  last: time,
  /** The last run that archived all of it; null: none that is known. */
  lastArchived: z.nullable(time),
});

/** A number between a seal and the one before it: what lies under it is no right seal. */
const passedOverSchema = z.object({
  number: positive,
  /** Of the file; null: it could not be read. */
  sha256: z.nullable(sha256),
  why: z.string(),
});

const openSchema = z.object({
  kind: z.string(),
  key: z.string(),
  problem: z.string(),
  /** Time of the audit that found it first. */
  since: time,
});

/** Members in this order: what has a hash begins with its key, and only that (docs/proof.md searches for it). */
const acknowledgedSchema = z.object({ kind: z.string(), key: z.string(), why: z.string() });

/** What people are told of the runs with new records: with it, a mail can be told from its seal alone. */
const newsSchema = z.object({
  /** How many of them are complete. */
  complete: count,
  incomplete: count,
  /** The last run that has a record; null: there is none. */
  lastRun: z.nullable(time),
  /** What they archived, uncompressed and stored. */
  objects: count,
  bytes: count,
  storedBytes: count,
  /** Clusters with another manifest than in the run before: how many, and the first of them. */
  changed: z.object({ count, clusters: z.array(z.string()) }),
  /** What was archived with a doubt: how much, and the first of it. */
  doubts: z.object({ count, first: z.array(z.string()) }),
  /** What was open in the seal before and is so no more: how much, and the first of it. */
  repaired: z.object({ count, first: z.array(z.string()) }),
  /** Why clusters fail, the most frequent reason first. */
  reasons: z.array(z.object({ reason: z.string(), count, clusters: z.array(z.string()) })),
  /**
   * Clusters that fail now and then in these runs: how many, and the worst. `runs`: how many of these runs cover it.
   * Absent in seals of earlier versions.
   */
  flapping: z.optional(
    z.object({ count, first: z.array(z.object({ cluster: z.string(), failed: count, runs: count })) }),
  ),
});

/** How the new logs follow those before them of their clusters. */
const logsSchema = z.object({
  /** How many logs followed the one before in which way. */
  seams: z.object({ unchanged: count, continues: count, older: count, gap: count, unknown: count }),
  /** Where lines may be lost, since the last audit that told people: between the logs of which two runs. */
  gaps: z.array(z.object({ cluster: z.string(), from: time, to: time, reachMinutes: z.optional(count) })),
  gapsMore: count,
  /** The log of which the greatest part was new: the nearest to a gap. */
  newShare: z.nullable(z.object({ cluster: z.string(), run: time, percent: count })),
  /** Logs with nothing new since a run, up to the last run that has one, the longest first. `isTold`: by an earlier seal. */
  frozen: z.array(z.object({ cluster: z.string(), since: time, last: time, isTold: z.boolean() })),
  /** Clusters whose last logs share nothing with those before, and how many in a row. */
  onlyGaps: z.array(z.object({ cluster: z.string(), gaps: count, isTold: z.boolean() })),
  /** Whether people got a mail of this seal. */
  isTold: z.boolean(),
});

export const sealSchema = z.object({
  /** Version of this format. */
  version: z.literal(1),
  /** Counts from 1. */
  number: positive,
  /** Name of the bucket. */
  archive: z.string(),
  /** The audit's time: the schedule's, or that of a manual start. */
  seal: time,
  /** The seal before it, with the hash of its first line; null: this is the first, and nothing earlier is attested. */
  previous: z.nullable(z.object({ key: z.string(), sha256 })),
  /** The numbers between the seal before it and its own: the first of them, and how many more. */
  passedOver: z.array(passedOverSchema),
  passedOverMore: count,
  /** The time by S3's own clock when the audit began to list the archive. */
  listedFrom: time,
  /** Run records that no earlier seal has, with the hash of the stored file. */
  records: z.array(hashed),
  /** Objects that no run record has a hash for, with hash and length of the uncompressed content. */
  objects: z.array(hashed),
  /** What the audit itself was deployed with. */
  plan: z.object({
    clusters: count,
    schedule,
    /** When audits start. */
    auditSchedule: schedule,
    retentionDays: z.optional(positive),
    shards: z.optional(positive),
    /** Damage that somebody knows of. */
    acknowledged: z.optional(z.array(acknowledgedSchema)),
  }),
  /** Configurations that the run records of this seal name, as the archive has them. */
  configurations: z.array(
    z.object({ sha256, clusters: count, schedule, retentionDays: z.optional(positive), from: time }),
  ),
  /** Runs that were due by the audit's own plan since the seal before, and those of them that left no record. */
  due: z.object({ runs: count, absent: z.array(time) }),
  /** What this audit read, old content again included, and what it had no time for. */
  verified: z.object({ objects: count, bytes: count, carriedOver: count, carriedOverRecords: count }),
  /** What this audit found, found before or not: counts by kind, and the first of it. Equal kinds of one key count once. */
  found: z.record(z.string(), count),
  findings: z.array(z.object({ kind: z.string(), key: z.string(), problem: z.string() })),
  /**
   * What is damaged or could not be read, by this audit or one before it, and does not count as repaired; what was checked
   * longest ago first. And how much there was no room for: it stays until all of the archive was read again.
   */
  open: z.array(openSchema),
  openMore: count,
  news: newsSchema,
  /** Absent in seals of earlier versions. */
  logs: z.optional(logsSchema),
  /** Clusters that the last run did not archive whole; optional ones are left out. */
  failing: z.array(failingSchema),
  cursor: z.object({
    /** The last key of a run record that this audit looked at; null: it looked at all. */
    records: z.nullable(z.string()),
    /** Objects of sealed run records before this place were read. */
    verified: positionSchema,
    /** Runs up to this time were searched for objects that no run record has; null: none yet. */
    searchedTo: z.nullable(time),
    /** The reading of old content again: where it is (null: at its end), and when this pass began. */
    reread: z.optional(z.object({ position: z.nullable(positionSchema), since: time })),
  }),
  /** The KMS key that signs it. */
  keyArn: z.string(),
  collectorVersion: z.string(),
});

export type Seal = z.infer<typeof sealSchema>;
export type Hashed = z.infer<typeof hashed>;
export type Position = z.infer<typeof positionSchema>;
export type Failing = z.infer<typeof failingSchema>;
export type PassedOver = z.infer<typeof passedOverSchema>;
export type OpenFinding = z.infer<typeof openSchema>;
export type Acknowledged = z.infer<typeof acknowledgedSchema>;
export type SealedLogs = z.infer<typeof logsSchema>;
export type News = z.infer<typeof newsSchema>;

export const signatureSchema = z.object({
  /** Of the seal's line without its newline. What is signed are these 64 characters, without a newline. */
  sha256,
  algorithm: z.literal('ECDSA_SHA_256'),
  /** SPKI in DER, base64. It proves nothing by itself: whoever can replace the seal can replace it too. */
  publicKey: z.string(),
  /** In DER, base64. */
  signature: z.string(),
});

export type Signature = z.infer<typeof signatureSchema>;

/** Largest file of a seal that is read or written, in bytes: about 400,000 run records. */
export const largestSealBytes = 64 * 1024 * 1024;

/** Findings that a seal lists; it counts all. */
export const mostFindings = 100;

/** Gaps of logs that a seal lists; it counts all. */
export const mostLogGaps = 1000;

/** Frozen logs, and clusters whose logs share nothing, that a seal carries for the next audit. */
export const mostLogs = 50_000;

/** Findings that a seal carries for the next audit, and how long they may be together, in characters of JSON. */
export const mostOpen = 50_000;
export const mostOpenCharacters = 16 * 1024 * 1024;

/** Numbers in `passedOver`; a seal counts all. */
export const mostPassedOver = 1000;
