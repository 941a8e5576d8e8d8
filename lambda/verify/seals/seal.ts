import * as z from 'zod/mini';

/**
 * A seal: one line of JSON with the hashes of all run records since the seal before it, and that seal's hash. Times are
 * ISO 8601 in UTC with milliseconds, lengths are bytes, hashes lower-case hex.
 */
const time = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'expected ISO 8601 in UTC'));
const count = z.int().check(z.nonnegative());
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits'));
const days = z.optional(z.int().check(z.positive()));
const schedule = z.object({ expression: z.string(), timeZone: z.string(), enabled: z.boolean() });
const hashed = z.object({ key: z.string(), sha256, bytes: count });

/** How far reading has come along the sealed run records: everything before this place was read. */
const positionSchema = z.object({
  /** Number of a seal. */
  seal: z.int().check(z.positive()),
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

export const sealSchema = z.object({
  /** Version of this format. */
  version: z.literal(1),
  /** Counts from 1, without a gap. */
  number: z.int().check(z.positive()),
  /** Name of the bucket. */
  archive: z.string(),
  /** The audit's time: the schedule's, or that of a manual start. */
  seal: time,
  /** The seal before it; null: this is the first, and nothing earlier is attested. */
  previous: z.nullable(z.object({ key: z.string(), sha256 })),
  /** The time by S3's own clock when the audit began to list the archive. */
  listedFrom: time,
  /** Run records that no earlier seal has, with the hash of the stored file. */
  records: z.array(hashed),
  /** Objects that no run record has a hash for, with hash and length of the uncompressed content. */
  objects: z.array(hashed),
  /** What the audit itself was deployed with. */
  plan: z.object({ clusters: count, schedule, retentionDays: days, shards: z.optional(z.int().check(z.positive())) }),
  /** Configurations that the run records of this seal name, as the archive has them. */
  configurations: z.array(z.object({ sha256, clusters: count, schedule, retentionDays: days, from: time })),
  /** Runs that were due by the audit's own plan since the seal before, and those of them that left no record. */
  due: z.object({ runs: count, absent: z.array(time) }),
  /** What this audit read, old content again included, and what it had no time for. */
  verified: z.object({ objects: count, bytes: count, carriedOver: count, carriedOverRecords: count }),
  /** Counts of findings by kind, and the first of them. */
  found: z.record(z.string(), count),
  findings: z.array(z.object({ kind: z.string(), key: z.string(), problem: z.string() })),
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
  collectorVersion: z.string(),
});

export type Seal = z.infer<typeof sealSchema>;
export type Hashed = z.infer<typeof hashed>;
export type Position = z.infer<typeof positionSchema>;
export type Failing = z.infer<typeof failingSchema>;

export const signatureSchema = z.object({
  /** Of the seal's file. What is signed are these 64 characters, without a newline. */
  sha256,
  algorithm: z.literal('ECDSA_SHA_256'),
  /** Of the KMS key. */
  keyArn: z.string(),
  /** SPKI in DER, base64. It proves nothing by itself: whoever can replace the seal can replace it too. */
  publicKey: z.string(),
  /** In DER, base64. */
  signature: z.string(),
});

export type Signature = z.infer<typeof signatureSchema>;

/** Largest seal that is read or written, in bytes: about 400,000 run records. */
export const largestSealBytes = 64 * 1024 * 1024;

/** Largest signature file that is read, in bytes. */
export const largestSignatureBytes = 64 * 1024;

/** Findings that a seal lists; it counts all. */
export const mostFindings = 100;

/** How a seal and a signature are stored. */
export function sealText(content: Seal | Signature): Buffer {
  return Buffer.from(`${JSON.stringify(content)}\n`);
}
