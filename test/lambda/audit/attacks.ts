import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { countOutcomes } from '../../../archive/format/completeness';
import { none } from '../../../archive/format/counted';
import {
  configurationKey,
  objectKey,
  runRecordKey,
  sealKey,
  sealStampKey,
  sealStateKey,
} from '../../../archive/format/keys';
import { jsonLinesType } from '../../../archive/format/object-headers';
import type { AuditPlan } from '../../../archive/format/plan';
import type { Seal } from '../../../archive/format/seal';
import { sealLine } from '../../../archive/format/seal-file';
import { recordText } from '../../support/record-text';
import {
  alterOutcome,
  archivedIn,
  attackedAt,
  exchange,
  forgeRun,
  ofRun,
  readRecord,
  remove,
  replaceObject,
  rewriteChain,
} from './attack-tools';
import { TestKey } from './invoke-audit';
import { collection, plant, putState, rewriteSeal, SealedWorld, signed } from './sealed-world';

export const run = '20261121T060000.000Z';
export const recordKey = `runs/date=2026-11-21/${run}.attempt-1.jsonl`;
const retried = '2026-11-21T15:00:00.000Z';
const byHand = '2026-11-21T16:00:00.000Z';
const retriedKey = 'runs/date=2026-11-21/20261121T150000.000Z.attempt-2.jsonl';
const manualKey = 'runs/date=2026-11-21/20261121T160000.000Z.attempt-1.jsonl';

/**
 * Three days with an audit each. On the second day a run takes two attempts, somebody starts one for one cluster, and an
 * attempt is killed.
 */
export async function attackedWorld(): Promise<SealedWorld> {
  const world = new SealedWorld();
  await world.live(20);
  await world.collect(retried, ['b']);
  await world.collect('2026-11-21T15:02:00.000Z', [], { scheduledTime: retried });
  await world.collect(byHand, [], { scheduledTime: byHand, clusters: ['a'] });
  await world.collectAfterKill('2026-11-21T17:00:00.000Z');
  await world.live(21, 22);
  return world;
}

/** What somebody does to an archive who may write and delete everything in it. What finds it, attacks.md says. */
export interface Attack {
  readonly does: (world: SealedWorld) => unknown;
  /** Damage that is found without seals; left out: none. */
  readonly unsealed?: readonly string[];
  /** Day of the next audit; left out: the 23rd. */
  readonly next?: number;
  /** What that audit is deployed with besides. */
  readonly plan?: Partial<AuditPlan>;
}

/** A seal behind one that is there, which lies in whatever the changes say. */
function behind(world: SealedWorld, number: number, changes: Partial<Seal> = {}): Seal {
  const { sha256, ...seal } = world.seal(number);
  const previous = { key: sealKey(number), sha256 };
  const listedFrom = attackedAt.toISOString();
  return { ...seal, number: number + 1, previous, seal: listedFrom, listedFrom, records: [], objects: [], ...changes };
}

/** Plants a seal with the name of the next audit, signed with a key of the attacker's. */
async function plantNext(world: SealedWorld, number: number, day: number): Promise<void> {
  const seal = behind(world, number, { seal: `2026-11-${day}T23:30:00.000Z` });
  plant(world.bucket, number + 1, signed(seal, attackersKey), attackedAt);
}

/** Removes a run, and excuses it by a seal that the signing key itself has signed. */
async function removeWithSeal(world: SealedWorld, changes: Partial<Seal> = {}): Promise<void> {
  const forged = behind(world, 3, { plan: { ...world.seal(3).plan, retentionDays: 1 }, ...changes });
  plant(world.bucket, 4, signed(forged, world.key), attackedAt);
  remove(world.bucket, ofRun(world.bucket, run));
}

const attackersKey = new TestKey();

/** By the words of the table in attacks.md, in its order. */
export const attacks: Readonly<Record<string, Attack>> = {
  'a run record and all its objects replaced, consistently': {
    does: ({ bucket }) => forgeRun(bucket, run),
  },
  'a whole run removed': { does: ({ bucket }) => remove(bucket, ofRun(bucket, run)) },
  'the last attempt of a run removed, with what it archived': {
    does: ({ bucket }) => remove(bucket, [retriedKey, ...archivedIn(bucket, retriedKey)]),
  },
  'an outcome changed from archived to failed, and its object removed': {
    does: ({ bucket }) =>
      alterOutcome(bucket, recordKey, ({ cluster, resource }) => ({
        cluster,
        resource,
        outcome: 'failed',
        httpStatus: 404,
        error: 'GET failed: 404 Not Found',
        requests: 1,
        durationMs: 100,
      })),
  },
  'an outcome left out, and its object removed': {
    does: ({ bucket }) => alterOutcome(bucket, manualKey, () => undefined),
  },
  'objects planted behind the last audit, of a configured cluster and of a new one; the next pass': {
    does: ({ bucket }) => {
      const of = (cluster: string) => objectKey({ resource: 'log', cluster, run: new Date(byHand) });
      const object = bucket.objects.get(of('a'));
      if (object === undefined) throw new Error('the run by hand left nothing');
      for (const cluster of ['b', 'zz']) {
        const metadata = { ...object.metadata, 'cluster-uid': cluster };
        bucket.objects.set(of(cluster), { ...object, metadata, writtenAt: new Date('2026-11-23T02:00:00Z') });
      }
    },
    unsealed: ['unrecorded'],
    plan: { rereadDays: 1 },
  },
  'an object of a killed attempt replaced, with its metadata': {
    does: (world) => replaceObject(world.bucket, world.seal(2).objects[0]?.key ?? ''),
  },
  'a sealed run removed, and a configuration added by which it has expired': {
    does: ({ bucket }) => {
      remove(bucket, ofRun(bucket, run));
      const content = Buffer.from(JSON.stringify({ ...collection, retentionDays: 1 }));
      const digest = createHash('sha256').update(content).digest('hex');
      const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
      bucket.put({ key: configurationKey(digest), content: gzipSync(content), ...headers }, attackedAt);
    },
  },
  'a run record added that says it is old': {
    does: ({ bucket }) => {
      const time = '2026-11-21T03:00:00.000Z';
      const record = { ...readRecord(bucket, manualKey), run: time, startedAt: time, finishedAt: time, outcomes: [] };
      const content = Buffer.from(recordText({ ...record, counts: countOutcomes([]) }));
      const key = runRecordKey({ run: new Date(time), attempt: 1 });
      bucket.put({ key, content, contentType: jsonLinesType }, attackedAt);
    },
  },
  'a sealed run record made unreadable for good': {
    does: ({ bucket }) => bucket.refused.add(recordKey),
  },
  'a middle seal deleted': {
    does: ({ bucket }) => remove(bucket, [sealKey(2)]),
  },
  'a seal added without a signature, by which a removed run has expired': {
    does: (world) => {
      const forged = behind(world, 3, { plan: { ...world.seal(3).plan, retentionDays: 1 } });
      plant(world.bucket, 4, Buffer.concat([sealLine(forged), Buffer.from('\n')]), attackedAt);
      remove(world.bucket, ofRun(world.bucket, run));
    },
  },
  'a seal planted with the name of the next audit': {
    does: (world) => plantNext(world, 3, 23),
  },
  'the same every day': {
    does: async (world) => {
      for (const [number, day] of [
        [3, 23],
        [5, 24],
      ] as const) {
        await plantNext(world, number, day);
        await world.audit(`2026-11-${day}T23:30:00.000Z`);
      }
      await plantNext(world, 7, 25);
    },
    next: 25,
  },
  'a seal planted with a state by which all is read, and a new object damaged': {
    does: async (world) => {
      await world.collect('2026-11-23T06:00:00.000Z');
      world.bucket.corrupt(ofRun(world.bucket, '20261123T060000.000Z')[0] ?? '', (body) => body.subarray(1));
      const late = '2099-01-01T00:00:00.000Z';
      const state = putState(world.bucket, { ...world.state(3), todo: [] }, attackedAt);
      plant(world.bucket, 4, signed(behind(world, 3, { state, listedFrom: late }), attackersKey), attackedAt);
    },
    unsealed: ['damaged'],
  },
  'one hundred keys of seals filled with junk': {
    does: ({ bucket }) => {
      const numbers = Array.from({ length: 98 }, (_, at) => (at < 50 ? 4 : 100_000) + at);
      for (const number of [...numbers, 10_000_000, 999_999_999_999])
        plant(bucket, number, Buffer.from('junk'), attackedAt);
    },
  },
  'an old right seal replayed under another number': {
    does: ({ bucket }) => plant(bucket, 4, bucket.objects.get(sealKey(2))?.body ?? Buffer.alloc(0), attackedAt),
  },
  'a seal of another archive, signed with the same key': {
    does: async (world) =>
      plant(world.bucket, 4, signed(behind(world, 3, { archive: 'another' }), world.key), attackedAt),
  },
  'a seal changed': {
    does: (world) => rewriteSeal(world.bucket, { ...world.seal(2), collectorVersion: '1.0.1' }),
  },
  'two seals exchanged': {
    does: ({ bucket }) => exchange(bucket, sealKey(2), sealKey(3)),
  },
  'the chain rewritten from a point on, without a signature of it': {
    does: async (world) => rewriteChain(world, await forgeRun(world.bucket, run)),
  },
  'the chain rewritten from a point on with another key': {
    does: async (world) => rewriteChain(world, await forgeRun(world.bucket, run), attackersKey),
  },
  'the whole chain rewritten with another key': {
    does: async (world) => {
      await rewriteSeal(world.bucket, world.seal(1), attackersKey);
      await rewriteChain(world, await forgeRun(world.bucket, run), attackersKey);
    },
  },
  'the chain rewritten from a point on with the signing key itself': {
    does: async (world) => rewriteChain(world, await forgeRun(world.bucket, run), world.key),
  },
  'a seal added with the signing key itself, by which a removed run has expired': {
    does: (world) => removeWithSeal(world),
  },
  'the same, and the next audit has gone on from that seal': {
    does: async (world) => {
      await removeWithSeal(world);
      await world.audit('2026-11-23T23:30:00.000Z');
    },
    next: 24,
  },
  'the same with the name of that audit': {
    does: async (world) => {
      await removeWithSeal(world, { seal: '2026-11-23T23:30:00.000Z' });
      await world.audit('2026-11-23T23:30:00.000Z');
    },
    next: 24,
  },
  'the state of the newest seal deleted': {
    does: (world) => remove(world.bucket, [sealStateKey(world.seal(3).state)]),
  },
  'the state of the newest seal replaced': {
    does: (world) => {
      const body = Buffer.from(JSON.stringify({ ...world.state(3), open: none }).replace('"open"', '"open" '));
      world.bucket.rewrite(sealStateKey(world.seal(3).state), { body });
    },
  },
  'all states of seals deleted': {
    does: ({ bucket }) => remove(bucket, bucket.keys('seals/states/')),
  },
  'all seals removed': {
    does: ({ bucket }) => remove(bucket, bucket.keys('seals/')),
  },
  'the newest seal cut off, and a run that it sealed replaced': {
    does: async ({ bucket }) => {
      remove(bucket, [sealKey(3)]);
      await forgeRun(bucket, '20261122T060000.000Z');
    },
  },
  'the same, and another seal made in its place': {
    does: async (world) => {
      remove(world.bucket, [sealKey(3)]);
      await forgeRun(world.bucket, '20261122T060000.000Z');
      await world.audit('2026-11-23T23:30:00.000Z');
    },
    next: 24,
  },
  'a second chain that leaves the first, signed with the key of the first': {
    does: (world) =>
      rewriteSeal(
        world.bucket,
        { ...world.seal(3), previous: { key: sealKey(1), sha256: world.seal(1).sha256 } },
        world.key,
      ),
  },
  'a seal signed with another key': {
    does: (world) => rewriteSeal(world.bucket, world.seal(2), attackersKey),
  },
  'junk under the key of the next time stamp': {
    does: ({ bucket }) => {
      const key = sealStampKey({ number: 4, authority: 'two' });
      bucket.put({ key, content: Buffer.from('junk'), contentType: 'application/timestamp-reply' }, attackedAt);
    },
  },
  'a time of listing far ahead in the newest seal, signed with the signing key itself': {
    does: (world) => rewriteSeal(world.bucket, { ...world.seal(3), listedFrom: '2099-01-01T00:00:00.000Z' }, world.key),
  },
};
