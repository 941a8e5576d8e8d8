import { createHash, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  configurationKey,
  parseObjectKey,
  parseRunRecordKey,
  runRecordKey,
} from '../../../lambda/archive/archive-layout';
import { countOutcomes, isComplete, type Outcome, type RunRecord } from '../../../lambda/run/run-record';
import type { MemoryBucket } from '../verify/history/memory-bucket';
import { TestKey } from './invoke-audit';
import { collection, damageIn, look, rewriteSeal, SealedWorld, sealFile, signatureFile } from './sealed-world';

/** When the attacker writes: S3 itself notes the time of a writing. */
const attackedAt = new Date('2026-11-23T10:00:00Z');

const run = '20261121T060000.000Z';
const recordKey = `runs/date=2026-11-21/${run}.attempt-1.json`;
const retriedKey = 'runs/date=2026-11-21/20261121T150000.000Z.attempt-2.json';
const manualKey = 'runs/date=2026-11-21/20261121T160000.000Z.attempt-1.json';

let world: SealedWorld;
let newest: string;

/**
 * Three days with an audit each. On the second day a run takes two attempts, somebody starts one for one cluster, and an
 * attempt is killed.
 */
beforeEach(async () => {
  world = new SealedWorld();
  await world.live(20);
  const retried = '2026-11-21T15:00:00.000Z';
  await world.collect(retried, ['b']);
  await world.collect('2026-11-21T15:02:00.000Z', [], { scheduledTime: retried });
  const byHand = '2026-11-21T16:00:00.000Z';
  await world.collect(byHand, [], { scheduledTime: byHand, clusters: ['a'] });
  await world.collectAfterKill('2026-11-21T17:00:00.000Z');
  await world.live(21, 22);
  newest = world.seal(3).sha256;
});

interface Attack {
  readonly does: (bucket: MemoryBucket) => unknown;
  /** Damage that verify finds in the archive alone, with the kept public key, and with the hash from the newest mail. */
  readonly alone: readonly string[];
  readonly withKey: readonly string[];
  readonly withHead: readonly string[];
  /** Damage that the next audit finds. */
  readonly nextAudit: readonly string[];
}

const everywhere = (...kinds: string[]) => ({ alone: kinds, withKey: kinds, withHead: kinds, nextAudit: kinds });

/** By the words of the table in docs/proof.md. */
const attacks: Readonly<Record<string, Attack>> = {
  'a run record and all its objects replaced, consistently': { does: forgeRun, ...everywhere('forged') },
  'a whole run removed': { does: (bucket) => remove(bucket, ofRun(bucket, run)), ...everywhere('missing') },
  'the last attempt of a run removed, with what it archived': {
    does: (bucket) => remove(bucket, [retriedKey, ...archivedIn(bucket, retriedKey)]),
    ...everywhere('missing'),
  },
  'an outcome changed from archived to failed, and its object removed': {
    does: (bucket) =>
      alterOutcome(bucket, recordKey, ({ cluster, resource }) => ({
        cluster,
        resource,
        outcome: 'failed',
        httpStatus: 404,
        error: 'GET failed: 404 Not Found',
        requests: 1,
        durationMs: 100,
      })),
    ...everywhere('forged'),
  },
  'an outcome left out, and its object removed': {
    does: (bucket) => alterOutcome(bucket, manualKey, () => undefined),
    ...everywhere('forged'),
  },
  'an object of a killed attempt replaced, with its metadata': {
    does: (bucket) => replaceObject(bucket, world.seal(2).objects[0]?.key ?? ''),
    ...everywhere('forged'),
    // It was read when it was sealed. With rereadDays it is read again.
    nextAudit: [],
  },
  'a sealed run removed, and a configuration added by which it has expired': {
    does: (bucket) => {
      remove(bucket, ofRun(bucket, run));
      const content = Buffer.from(JSON.stringify({ ...collection, retentionDays: 1 }));
      const digest = createHash('sha256').update(content).digest('hex');
      const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
      bucket.put({ key: configurationKey(digest), content: gzipSync(content), ...headers }, attackedAt);
    },
    ...everywhere('missing'),
  },
  'a run record added that says it is old': {
    does: (bucket) => {
      const time = '2026-11-21T03:00:00.000Z';
      const record = { ...readRecord(bucket, manualKey), run: time, startedAt: time, finishedAt: time, outcomes: [] };
      const content = Buffer.from(`${JSON.stringify({ ...record, counts: countOutcomes([]) })}\n`);
      const key = runRecordKey({ run: new Date(time), attempt: 1 });
      bucket.put({ key, content, contentType: 'application/json' }, attackedAt);
    },
    ...everywhere('unsealed'),
  },
  'a seal removed': {
    does: (bucket) => remove(bucket, [sealFile(2), signatureFile(2)]),
    ...everywhere('seal-broken', 'unsealed'),
  },
  'a seal changed': {
    does: (bucket) => rewriteSeal(bucket, { ...world.seal(2), findings: [], collectorVersion: '1.0.1' }),
    ...everywhere('seal-broken'),
  },
  'two seals exchanged': {
    does: (bucket) => {
      for (const file of [sealFile, signatureFile]) exchange(bucket, file(2), file(3));
    },
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point on, without a signature of it': {
    does: async (bucket) => rewriteChain(bucket, await forgeRun(bucket)),
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point on, and its signatures removed': {
    does: async (bucket) => {
      await rewriteChain(bucket, await forgeRun(bucket));
      remove(bucket, [signatureFile(2), signatureFile(3)]);
    },
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point on with another key': {
    does: async (bucket) => rewriteChain(bucket, await forgeRun(bucket), new TestKey()),
    ...everywhere('seal-broken'),
  },
  'the whole chain rewritten with another key': {
    does: async (bucket) => {
      const own = new TestKey();
      await rewriteSeal(bucket, world.seal(1), own);
      await rewriteChain(bucket, await forgeRun(bucket), own);
    },
    // Only what somebody kept outside the archive shows it, or the key of the audit itself.
    alone: [],
    withKey: ['seal-broken'],
    withHead: ['seal-broken'],
    nextAudit: ['seal-broken'],
  },
  'the chain rewritten from a point on with the signing key itself': {
    does: async (bucket) => rewriteChain(bucket, await forgeRun(bucket), world.key),
    alone: [],
    withKey: [],
    withHead: ['seal-broken'],
    nextAudit: [],
  },
  'all seals removed': {
    does: (bucket) => remove(bucket, bucket.keys('seals/')),
    alone: [],
    withKey: ['seal-broken'],
    withHead: ['seal-broken'],
    // Its mail says that it is the first seal.
    nextAudit: [],
  },
  'the newest seal cut off, and a run that it sealed replaced': {
    does: async (bucket) => {
      remove(bucket, [sealFile(3), signatureFile(3)]);
      await forgeRun(bucket, '20261122T060000.000Z');
    },
    // The alarm about a missing audit does not see it either: the audit was there.
    alone: [],
    withKey: [],
    withHead: ['seal-broken'],
    nextAudit: [],
  },
  'a second chain that leaves the first, signed with the key of the first': {
    does: (bucket) =>
      rewriteSeal(
        bucket,
        { ...world.seal(3), previous: { key: sealFile(1), sha256: world.seal(1).sha256 } },
        world.key,
      ),
    ...everywhere('seal-broken'),
  },
  'a seal signed with another key': {
    does: (bucket) => rewriteSeal(bucket, world.seal(2), new TestKey()),
    ...everywhere('seal-broken'),
  },
};

describe('an attack on a sealed archive', () => {
  it('is none as long as nobody attacks', async () => {
    const publicKeys = [createPublicKey(world.key.privateKey)];
    expect(damageIn(await look(world.bucket, { head: newest, publicKeys }))).toEqual([]);
    expect((await world.audit('2026-11-23T23:30:00.000Z')).result).toMatchObject({ number: 4, damage: 0 });
  });

  it.each(Object.entries(attacks))('is found: %s', async (_, { does, alone, withHead, withKey, nextAudit }) => {
    const publicKeys = [createPublicKey(world.key.privateKey)];
    const without = unsealed(world.bucket);
    await does(world.bucket);
    expect({
      alone: damageIn(await look(world.bucket)),
      withHead: damageIn(await look(world.bucket, { head: newest })),
      withKey: damageIn(await look(world.bucket, { publicKeys })),
    }).toEqual({ alone, withHead, withKey });
    const { result, mails } = await world.audit('2026-11-23T23:30:00.000Z');
    expect(damageIn(Object.keys(result?.found ?? {}).map((kind) => ({ kind })))).toEqual(nextAudit);
    expect(mails.at(-1)?.subject).toContain(nextAudit.length > 0 ? 'DAMAGE' : 'nothing is damaged');
    // Without seals nobody sees it.
    expect(damageIn(await look(without))).toEqual([]);
    expect(damageIn(await look(unsealed(world.bucket)))).toEqual([]);
  });
});

describe('the table of attacks in docs/proof.md', () => {
  const page = readFileSync(join(__dirname, '../../../docs/proof.md'), 'utf8');
  const kindsIn = (cell = '') => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, kind = '']) => kind);
  const rows = [...page.matchAll(/^\| (?!attack)(.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$/gm)].map(
    ([, name = '', alone, withKey, withHead, nextAudit]) => [
      name,
      { alone: kindsIn(alone), withKey: kindsIn(withKey), withHead: kindsIn(withHead), nextAudit: kindsIn(nextAudit) },
    ],
  );

  it('has every attack of this test, and no other, with what finds it', () => {
    const tested = Object.entries(attacks).map(([name, { does: _, ...found }]) => [name, found]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(tested));
  });
});

function unsealed(bucket: MemoryBucket): MemoryBucket {
  const copy = bucket.copy();
  remove(copy, copy.keys('seals/'));
  return copy;
}

function remove(bucket: MemoryBucket, keys: readonly string[]): void {
  for (const key of keys) if (!bucket.objects.delete(key)) throw new Error(`there is no ${key}`);
}

function exchange(bucket: MemoryBucket, one: string, other: string): void {
  const [first, second] = [bucket.objects.get(one), bucket.objects.get(other)];
  if (first === undefined || second === undefined) throw new Error('there are no two seals');
  bucket.rewrite(one, second);
  bucket.rewrite(other, first);
}

function ofRun(bucket: MemoryBucket, stamp: string): string[] {
  const isOf = (key: string) => (parseObjectKey(key) ?? parseRunRecordKey(key)) !== undefined && key.includes(stamp);
  return bucket.keys('').filter(isOf);
}

function readRecord(bucket: MemoryBucket, key: string): RunRecord {
  return JSON.parse(String(bucket.objects.get(key)?.body));
}

function archivedIn(bucket: MemoryBucket, key: string): string[] {
  return readRecord(bucket, key).outcomes.flatMap((one) => (one.outcome === 'archived' ? (one.key ?? []) : []));
}

function writeRecord(bucket: MemoryBucket, key: string, outcomes: readonly Outcome[]): void {
  const counts = countOutcomes(outcomes);
  const status = isComplete(counts) ? 'complete' : 'incomplete';
  const body = Buffer.from(`${JSON.stringify({ ...readRecord(bucket, key), counts, status, outcomes })}\n`);
  bucket.rewrite(key, { body, writtenAt: attackedAt });
}

/** Changes the first archived outcome of a record and removes its object. */
function alterOutcome(bucket: MemoryBucket, key: string, alter: (outcome: Outcome) => Outcome | undefined): void {
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
function replaceObject(bucket: MemoryBucket, key: string): Pick<Outcome, 'sha256' | 'bytes' | 'storedBytes'> {
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
async function forgeRun(bucket: MemoryBucket, stamp = run): Promise<string> {
  const key = ofRun(bucket, stamp).find((one) => one.startsWith('runs/')) ?? '';
  const outcomes = readRecord(bucket, key).outcomes.map((outcome) =>
    outcome.key === undefined ? outcome : { ...outcome, ...replaceObject(bucket, outcome.key) },
  );
  writeRecord(bucket, key, outcomes);
  return key;
}

/** Makes the seals from number 2 on say what a forged record is, each with the hash of the one before. */
async function rewriteChain(bucket: MemoryBucket, forged: string, key?: TestKey): Promise<void> {
  const body = bucket.objects.get(forged)?.body ?? Buffer.alloc(0);
  const file = { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
  let before = world.seal(1).sha256;
  for (const number of [2, 3]) {
    const seal = world.seal(number);
    const records = seal.records.map((one) => (one.key === forged ? { key: forged, ...file } : one));
    before = await rewriteSeal(
      bucket,
      { ...seal, records, previous: { key: sealFile(number - 1), sha256: before } },
      key,
    );
  }
}
