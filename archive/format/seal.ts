import * as z from 'zod/mini';
import { countedSchema } from './counted';
import { planSchema } from './plan';
import { count, sha256, time } from './run-record';
import { scheduleSchema } from './schedule/schedule';

/**
 * A seal: one line of JSON with the hashes of all run records since the seal before it, and that seal's hash. It attests;
 * what the next audit and the mail need besides is its state (seal-state.ts). The line behind it is its signature. Times are
 * ISO 8601 in UTC with milliseconds, lengths are bytes, hashes lower-case hex.
 */
const positive = z.int().check(z.positive());
const hashed = z.object({ key: z.string(), sha256, bytes: count });

/** A number between a seal and the one before it: the file under it is not a right seal. */
const passedOverSchema = z.object({
  number: positive,
  /** Of the file; null: it could not be read. */
  sha256: z.nullable(sha256),
  why: z.string(),
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
  /** The numbers between the seal before it and its own. */
  passedOver: countedSchema(passedOverSchema),
  /** The time by S3's own clock when the audit began to list the archive. */
  listedFrom: time,
  /** Run records that no earlier seal has, with the hash of the stored file. */
  records: z.array(hashed),
  /** Objects that no run record has a hash for, with hash and length of the uncompressed content. */
  objects: z.array(hashed),
  /** Stamps of earlier seals that no seal before this one names, with the hash of the stored file. */
  stamps: z.array(hashed),
  /** Run records that are in no seal yet although they were there. */
  unread: z.object({
    /** The audit had no time for the records behind this key; null: it looked at all. */
    behind: z.nullable(z.string()),
    /** Records that could not be read: the first of them. */
    keys: z.array(z.string()),
  }),
  /** What the audit itself was deployed with. */
  plan: planSchema,
  /** Configurations that the run records of this seal name, as the archive has them. */
  configurations: z.array(
    z.object({ sha256, clusters: count, schedule: scheduleSchema, retentionDays: z.optional(positive), from: time }),
  ),
  /** Runs that were due by the audit's own plan since the seal before, and those of them that left no record. */
  due: z.object({
    runs: count,
    absent: z.array(time),
    /** Where a schedule is disabled, and nobody can tell; null: nowhere. */
    notJudged: z.nullable(z.object({ from: time, to: time })),
  }),
  verified: z.object({
    /** Objects that this audit read, and how many of them were read before. */
    objects: count,
    old: count,
    bytes: count,
    /** Objects and run records that it had no time for. */
    carriedOver: count,
    carriedOverRecords: count,
    /** What is new to this audit and gone, and the lifecycle may have removed. */
    expired: count,
    /** When all of the archive was read last; null: it never was since the first seal. */
    all: z.nullable(z.object({ from: time, to: time })),
    /** Where old content is not read again: since when it was not; null: it is. */
    notReadSince: z.nullable(time),
  }),
  /** What this audit found, found before or not: counts by kind. Equal kinds of one key count once. */
  found: z.record(z.string(), count),
  /** How much is open: damage that alarms, damage that is acknowledged, and what could not be read. */
  open: z.object({ damage: count, acknowledged: count, unreadable: count }),
  /** SHA-256 of its state. */
  state: sha256,
  /** The KMS key that signs it. */
  keyArn: z.string(),
  collectorVersion: z.string(),
});

export type Seal = z.infer<typeof sealSchema>;
export type Hashed = z.infer<typeof hashed>;
export type PassedOver = z.infer<typeof passedOverSchema>;

const base64 = z.string().check(z.refine((text) => Buffer.from(text, 'base64').toString('base64') === text));

/** The SPKI of any key of the curve P-256, DER in base64. */
const publicKey = /^MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9+/]{85}[AQgw]==$/;

/** Exactly these members, in this order: whatever else a second line has, nobody has signed. */
export const signatureSchema = z.strictObject({
  /** Of the seal's line without its newline. What is signed are these 64 characters, without a newline. */
  sha256,
  algorithm: z.literal('ECDSA_SHA_256'),
  /** SPKI in DER, base64. It proves nothing by itself: whoever can replace the seal can replace it too. */
  publicKey: z.string().check(z.regex(publicKey)),
  /** In DER, base64. */
  signature: base64,
});

export type Signature = z.infer<typeof signatureSchema>;

/** Largest file of a seal that is read or written, in bytes: about 400,000 run records. */
export const largestSealBytes = 64 * 1024 * 1024;

/** Numbers in `passedOver`, and keys in `unread`. */
export const mostNamed = 1000;
