import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { countOutcomes, isComplete } from '../../../archive/format/completeness';
import { parseObjectKey, parseRunRecordKey, sealKey } from '../../../archive/format/keys';
import type { Outcome, RunRecord } from '../../../archive/format/run-record';
import type { MemoryBucket } from '../../archive/prove/history/memory-bucket';
import { recordOf, recordText } from '../../support/record-text';
import type { TestKey } from './invoke-audit';
import { rewriteSeal, type SealedWorld } from './sealed-world';

/** When the attacker writes: S3 itself notes the time of a writing. */
export const attackedAt = new Date('2026-11-23T10:00:00Z');

export function remove(bucket: MemoryBucket, keys: readonly string[]): void {
  for (const key of keys) if (!bucket.objects.delete(key)) throw new Error(`there is no ${key}`);
}

export function exchange(bucket: MemoryBucket, one: string, other: string): void {
  const [first, second] = [bucket.objects.get(one), bucket.objects.get(other)];
  if (first === undefined || second === undefined) throw new Error('there are no two seals');
  bucket.rewrite(one, second);
  bucket.rewrite(other, first);
}

export function ofRun(bucket: MemoryBucket, stamp: string): string[] {
  const isOf = (key: string) => (parseObjectKey(key) ?? parseRunRecordKey(key)) !== undefined && key.includes(stamp);
  return bucket.keys('').filter(isOf);
}

export function readRecord(bucket: MemoryBucket, key: string): RunRecord {
  return recordOf(bucket.objects.get(key)?.body ?? '');
}

export function archivedIn(bucket: MemoryBucket, key: string): string[] {
  return readRecord(bucket, key).outcomes.flatMap((one) => (one.outcome === 'archived' ? (one.key ?? []) : []));
}

function writeRecord(bucket: MemoryBucket, key: string, outcomes: readonly Outcome[]): void {
  const counts = countOutcomes(outcomes);
  const status = isComplete(counts) ? 'complete' : 'incomplete';
  const body = Buffer.from(recordText({ ...readRecord(bucket, key), counts, status, outcomes }));
  bucket.rewrite(key, { body, writtenAt: attackedAt });
}

/** Changes the first archived outcome of a record and removes its object. */
export function alterOutcome(
  bucket: MemoryBucket,
  key: string,
  alter: (outcome: Outcome) => Outcome | undefined,
): void {
  const { outcomes } = readRecord(bucket, key);
  const chosen = outcomes.find(({ outcome }) => outcome === 'archived');
  if (chosen?.key === undefined) throw new Error(`${key} archived nothing`);
  remove(bucket, [chosen.key]);
  writeRecord(
    bucket,
    key,
    outcomes.flatMap((one) => (one === chosen ? (alter(one) ?? []) : one)),
  );
}

/** Replaces an object so that it agrees with itself. Returns what a record has to say of it then. */
export function replaceObject(bucket: MemoryBucket, key: string): Pick<Outcome, 'sha256' | 'bytes' | 'storedBytes'> {
  const object = bucket.objects.get(key);
  if (object === undefined) throw new Error(`there is no ${key}`);
  const content = Buffer.concat([gunzipSync(object.body), Buffer.from('forged')]);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const body = gzipSync(content);
  const metadata = { ...object.metadata, sha256, length: String(content.length) };
  bucket.rewrite(key, { body, metadata, writtenAt: attackedAt });
  return { sha256, bytes: content.length, storedBytes: body.length };
}

/** Replaces all objects of a run, and its record, so that they agree. Returns the key of the record. */
export async function forgeRun(bucket: MemoryBucket, stamp: string): Promise<string> {
  const key = ofRun(bucket, stamp).find((one) => one.startsWith('runs/')) ?? '';
  const outcomes = readRecord(bucket, key).outcomes.map((outcome) =>
    outcome.key === undefined ? outcome : { ...outcome, ...replaceObject(bucket, outcome.key) },
  );
  writeRecord(bucket, key, outcomes);
  return key;
}

/** Makes the seals from number 2 on say what a forged record is, each with the hash of the one before. */
export async function rewriteChain(world: SealedWorld, forged: string, key?: TestKey): Promise<void> {
  const { bucket } = world;
  const body = bucket.objects.get(forged)?.body ?? Buffer.alloc(0);
  const file = { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
  let before = world.seal(1).sha256;
  for (const number of [2, 3]) {
    const seal = world.seal(number);
    const records = seal.records.map((one) => (one.key === forged ? { key: forged, ...file } : one));
    before = await rewriteSeal(
      bucket,
      { ...seal, records, previous: { key: sealKey(number - 1), sha256: before } },
      key,
    );
  }
}
