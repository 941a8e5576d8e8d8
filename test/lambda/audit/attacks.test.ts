import { createHash, createPublicKey } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parseObjectKey, parseRunRecordKey } from '../../../lambda/archive/archive-layout';
import { countOutcomes, isComplete, type Outcome, type RunRecord } from '../../../lambda/run/run-record';
import type { MemoryBucket } from '../verify/history/memory-bucket';
import { TestKey } from './invoke-audit';
import { damageIn, look, rewriteSeal, SealedWorld, sealFile, signatureFile } from './sealed-world';

/** When the attacker writes: S3 itself notes the time of a writing. */
const attackedAt = new Date('2026-11-23T10:00:00Z');

const run = '20261121T060000.000Z';
const recordKey = `runs/date=2026-11-21/${run}.attempt-1.json`;
const retriedKey = 'runs/date=2026-11-21/20261121T150000.000Z.attempt-2.json';
const manualKey = 'runs/date=2026-11-21/20261121T160000.000Z.attempt-1.json';

let world: SealedWorld;
let newest: string;

/** Three days with an audit each. On the second day a run takes two attempts, and somebody starts one for one cluster. */
beforeEach(async () => {
  world = new SealedWorld();
  await world.live(20);
  const retried = '2026-11-21T15:00:00.000Z';
  await world.collect(retried, ['b']);
  await world.collect('2026-11-21T15:02:00.000Z', [], { scheduledTime: retried });
  const byHand = '2026-11-21T16:00:00.000Z';
  await world.collect(byHand, [], { scheduledTime: byHand, clusters: ['a'] });
  await world.live(21, 22);
  newest = world.seal(3).sha256;
});

interface Attack {
  readonly does: (bucket: MemoryBucket) => unknown;
  /** Damage that verify finds in the archive alone, with the hash from the newest mail, and with the kept public key. */
  readonly alone: readonly string[];
  readonly withHead: readonly string[];
  readonly withKey: readonly string[];
  /** Damage that the next audit finds. */
  readonly nextAudit: readonly string[];
}

const everywhere = (...kinds: string[]) => ({ alone: kinds, withHead: kinds, withKey: kinds, nextAudit: kinds });

const attacks: Readonly<Record<string, Attack>> = {
  'a record and its objects replaced consistently': { does: forgeRun, ...everywhere('forged') },
  'a whole run removed': { does: (bucket) => remove(bucket, ofRun(bucket, run)), ...everywhere('missing') },
  'the last attempt of a run removed, with its objects': {
    does: (bucket) => remove(bucket, [retriedKey, ...archivedIn(bucket, retriedKey)]),
    ...everywhere('missing'),
  },
  'archived turned into failed, and its object removed': {
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
  'an outcome dropped, and its object removed': {
    does: (bucket) => alterOutcome(bucket, manualKey, () => undefined),
    ...everywhere('forged'),
  },
  'a seal removed': {
    does: (bucket) => remove(bucket, [sealFile(2), signatureFile(2)]),
    ...everywhere('seal-broken', 'unsealed'),
  },
  'two seals exchanged': {
    does: (bucket) => {
      for (const file of [sealFile, signatureFile]) exchange(bucket, file(2), file(3));
    },
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point, without the key': {
    does: async (bucket) => rewriteChain(bucket, await forgeRun(bucket)),
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point, unsigned': {
    does: async (bucket) => {
      await rewriteChain(bucket, await forgeRun(bucket));
      remove(bucket, [signatureFile(2), signatureFile(3)]);
    },
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point, with the attacker’s own key': {
    does: async (bucket) => rewriteChain(bucket, await forgeRun(bucket), new TestKey()),
    ...everywhere('seal-broken'),
  },
  'the whole chain rewritten, with the attacker’s own key': {
    does: async (bucket) => {
      const own = new TestKey();
      await rewriteSeal(bucket, world.seal(1), own);
      await rewriteChain(bucket, await forgeRun(bucket), own);
    },
    // Only what somebody kept outside the archive shows it, or the key of the audit itself.
    alone: [],
    withHead: ['seal-broken'],
    withKey: ['seal-broken'],
    nextAudit: ['seal-broken'],
  },
  'the newest seal cut off, and a run that it sealed replaced': {
    does: async (bucket) => {
      remove(bucket, [sealFile(3), signatureFile(3)]);
      await forgeRun(bucket, '20261122T060000.000Z');
    },
    // The alarm about a missing audit does not see it either: the audit was there.
    alone: [],
    withHead: ['seal-broken'],
    withKey: [],
    nextAudit: [],
  },
  'a second chain that leaves the first': {
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

/** Replaces all objects of a run, and its record, so that they agree. Returns the key of the record. */
async function forgeRun(bucket: MemoryBucket, stamp = run): Promise<string> {
  const key = ofRun(bucket, stamp).find((one) => one.startsWith('runs/')) ?? '';
  const outcomes = readRecord(bucket, key).outcomes.map((outcome) => {
    const object = bucket.objects.get(outcome.key ?? '');
    if (object === undefined || outcome.key === undefined) return outcome;
    const content = Buffer.concat([gunzipSync(object.body), Buffer.from('forged')]);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const body = gzipSync(content);
    const metadata = { ...object.metadata, sha256, length: String(content.length) };
    bucket.rewrite(outcome.key, { body, metadata, writtenAt: attackedAt });
    return { ...outcome, sha256, bytes: content.length, storedBytes: body.length };
  });
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
