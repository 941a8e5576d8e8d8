import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  configurationKey,
  parseObjectKey,
  parseRunRecordKey,
  parseSealKey,
  sealKey,
} from '../../../archive/format/keys';
import type { RunRecord } from '../../../archive/format/run-record';
import { emptyState } from '../../../archive/format/seal-state';
import { between, pick, type Random } from '../../../local/demo-service/seeded-random';
import { recordText } from '../../support/record-text';
import { readRecord } from './attack-tools';
import { TestKey } from './invoke-audit';
import { collection, plant, putState, type SealedWorld, signed } from './sealed-world';

const hourMs = 3_600_000;

/** What an attacker does who may write and delete everything at a time, and cannot sign. */
export type UnsignedAttack = (world: SealedWorld, random: Random, now: Date) => unknown;

/** Stores a configuration, as a run does that uses it. @returns its hash */
function storeConfiguration({ bucket }: SealedWorld, changes: object, now: Date): string {
  const content = Buffer.from(JSON.stringify({ ...collection, ...changes }));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
  bucket.put({ key: configurationKey(sha256), content: gzipSync(content), ...headers }, now);
  return sha256;
}

/** A run that the collector's own code makes at a time, and S3 writes now. @returns the keys that it left */
async function plantRun(world: SealedWorld, time: Date, now: Date, run = time): Promise<string[]> {
  const { bucket } = world;
  const before = new Set(bucket.keys(''));
  await world.collect(time.toISOString(), [], { scheduledTime: run.toISOString() });
  const planted = bucket.keys('').filter((key) => !before.has(key));
  for (const key of planted) bucket.rewrite(key, { writtenAt: now });
  return planted;
}

/** The same, with a record that says something else. */
async function plantRecord(world: SealedWorld, random: Random, now: Date, change: (one: RunRecord) => RunRecord) {
  const run = new Date(now.getTime() - between(random, 1, 50) * 60_000);
  const key = (await plantRun(world, run, now)).find((one) => parseRunRecordKey(one) !== undefined);
  if (key === undefined) return;
  world.bucket.rewrite(key, { body: Buffer.from(recordText(change(readRecord(world.bucket, key)))) });
}

const seals = ({ bucket }: SealedWorld) =>
  bucket.keys('seals/0').filter((key) => bucket.objects.get(key)?.body.toString() !== 'junk');

/** One of them; empty if there is none. */
function pickOf(keys: readonly string[], random: Random): string {
  const [first, ...others] = keys;
  return first === undefined ? '' : pick(random, [first, ...others]);
}

const attackersKey = new TestKey();

/** The file of a seal by which everything is read, has expired and was not due, signed with a key of the attacker's. */
async function lie(world: SealedWorld, random: Random, now: Date, number: number): Promise<Buffer> {
  const { sha256, ...seal } = world.seal(parseSealKey(seals(world).at(-1) ?? '') ?? 0);
  const late = pick(random, [now.toISOString(), '2099-01-01T00:00:00.000Z']);
  const claims = {
    ...seal,
    number,
    previous: { key: sealKey(seal.number), sha256 },
    seal: late,
    listedFrom: late,
    records: [],
    plan: { ...seal.plan, retentionDays: 1 },
    state: putState(world.bucket, emptyState, now),
  };
  return signed(claims, attackersKey);
}

/** Writes a file under the next number, if none lies there. */
async function plantNext(world: SealedWorld, now: Date, file: (number: number) => Buffer | Promise<Buffer>) {
  const last = seals(world).at(-1);
  const number = (last === undefined ? 0 : (parseSealKey(last) ?? 0)) + 1;
  if (number > 1 && !world.bucket.objects.has(sealKey(number))) plant(world.bucket, number, await file(number), now);
}

const disabled = { ...collection.schedule, enabled: false };

const daysBefore = (time: string, days: number) => new Date(Date.parse(time) - days * 24 * hourMs).toISOString();

/** Those of issue 33, section 4. */
export const unsignedAttacks: Readonly<Record<string, UnsignedAttack>> = {
  'a configuration of one day stored, and a sealed object deleted': (world, random, now) => {
    storeConfiguration(world, { retentionDays: 1 }, now);
    world.bucket.objects.delete(pickOf(world.bucket.keys('logs/'), random));
  },
  'a run planted that says it was fetched 500 days ago': (world, random, now) =>
    plantRun(world, new Date(now.getTime() - 500 * 24 * hourMs - between(random, 0, 99) * hourMs), now),
  'such a run, and its objects deleted': async (world, random, now) => {
    const planted = await plantRun(world, new Date(now.getTime() - (500 * 24 + between(random, 0, 99)) * hourMs), now);
    for (const key of planted) if (parseObjectKey(key) !== undefined) world.bucket.objects.delete(key);
  },
  'a record that finished after S3 wrote it': (world, random, now) => {
    const ahead = new Date(now.getTime() + between(random, 3, 40) * hourMs);
    return plantRun(world, ahead, now, new Date(now.getTime() - between(random, 1, 50) * 60_000));
  },
  'a record whose attempt took 400 days': (world, random, now) =>
    plantRecord(world, random, now, (one) => ({ ...one, startedAt: daysBefore(one.startedAt, 400) })),
  'a record of what was fetched before it began': (world, random, now) =>
    plantRecord(world, random, now, ({ outcomes, ...one }) => ({
      ...one,
      outcomes: outcomes.map((outcome) => ({ ...outcome, fetchedAt: daysBefore(outcome.fetchedAt ?? one.run, 400) })),
    })),
  'a later record that gives another time': (world, random, now) =>
    plantRecord(world, random, now, (one) => {
      const fetchedAt = daysBefore(one.run, 400);
      const outcomes = one.outcomes.map((outcome) => ({
        ...outcome,
        outcome: 'already-archived' as const,
        ...(outcome.fetchedAt && { fetchedAt }),
      }));
      const counts = { ...one.counts, archived: 0, alreadyArchived: one.counts.archived };
      const content = Buffer.from(recordText({ ...one, attempt: 2, counts, outcomes }));
      const key = world.bucket.keys('runs/').at(-1)?.replace('attempt-1', 'attempt-2') ?? '';
      world.bucket.put({ key, content, contentType: 'application/x-ndjson' }, now);
      return one;
    }),
  'a record that names a disabled schedule': (world, random, now) => {
    const configuration = storeConfiguration(world, { schedule: disabled }, now);
    return plantRecord(world, random, now, (one) => ({ ...one, configuration }));
  },
  'a record of the year 9999 that names a disabled schedule': (world, random, now) => {
    const configuration = storeConfiguration(world, { schedule: disabled }, now);
    const time = '9999-12-31T00:00:00.000Z';
    return plantRecord(world, random, now, (one) => ({ ...one, configuration, startedAt: time, finishedAt: time }));
  },
  'the newest seal cut off': (world) => {
    const last = seals(world).at(-1);
    if (last !== undefined) world.bucket.objects.delete(last);
  },
  'junk under a high number of a seal': (world, random, now) =>
    plant(world.bucket, between(random, 10_000, 99_999_999), Buffer.from('junk'), now),
  'a second line of a seal with more members': (world, random) => {
    const key = pickOf(seals(world), random);
    const text = world.bucket.objects.get(key)?.body.toString();
    if (text === undefined) return;
    world.bucket.rewrite(key, { body: Buffer.from(text.replace(/\}\n$/, ',"records":[]}\n')) });
  },
  'a lie behind the newest seal': (world, random, now) =>
    plantNext(world, now, (number) => lie(world, random, now, number)),
  'an old right seal under the next number': (world, random, now) =>
    plantNext(world, now, () => world.bucket.objects.get(pickOf(seals(world), random))?.body ?? Buffer.alloc(0)),
  'a seal replaced by a lie': async (world, random, now) => {
    const key = pickOf(seals(world), random);
    const number = parseSealKey(key);
    if (number !== undefined) world.bucket.rewrite(key, { body: await lie(world, random, now, number) });
  },
  'an object replaced with its metadata': (world, random, now) => {
    const key = pickOf(world.bucket.keys('logs/'), random);
    const object = world.bucket.objects.get(key);
    if (object === undefined) return;
    try {
      const content = Buffer.concat([gunzipSync(object.body), Buffer.from('more')]);
      const sha256 = createHash('sha256').update(content).digest('hex');
      const metadata = { ...object.metadata, sha256, length: String(content.length) };
      world.bucket.rewrite(key, { body: gzipSync(content), metadata, writtenAt: now });
    } catch {
      // It was damaged before.
    }
  },
  'a run record and its objects deleted': (world, random) => {
    const records = world.bucket.keys('runs/').filter((key) => parseRunRecordKey(key) !== undefined);
    const stamp = /\d{8}T\d{6}\.\d{3}Z/.exec(pickOf(records, random))?.[0];
    if (stamp === undefined) return;
    for (const key of world.bucket.keys('')) if (key.includes(stamp)) world.bucket.objects.delete(key);
  },
};
