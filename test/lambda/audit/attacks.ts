import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { configurationKey, runRecordKey } from '../../../lambda/archive/archive-layout';
import { jsonLinesType } from '../../../lambda/archive/archive-object';
import { countOutcomes } from '../../../lambda/run/run-record';
import { sealText } from '../../../lambda/verify/seals/seal';
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
import { collection, rewriteSeal, SealedWorld, sealFile, signatureFile } from './sealed-world';

const run = '20261121T060000.000Z';
const recordKey = `runs/date=2026-11-21/${run}.attempt-1.jsonl`;
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

/** What somebody does to an archive who may write and delete everything in it, and what finds it. */
export interface Attack {
  readonly does: (world: SealedWorld) => unknown;
  /** Damage that verify finds in the archive alone, with the kept public key, and with the hash from the newest mail. */
  readonly alone: readonly string[];
  readonly withKey: readonly string[];
  readonly withHead: readonly string[];
  /** Damage that the next audit finds. */
  readonly nextAudit: readonly string[];
}

const everywhere = (...kinds: string[]) => ({ alone: kinds, withKey: kinds, withHead: kinds, nextAudit: kinds });

/** By the words of the table in docs/proof.md. */
export const attacks: Readonly<Record<string, Attack>> = {
  'a run record and all its objects replaced, consistently': {
    does: ({ bucket }) => forgeRun(bucket, run),
    ...everywhere('forged'),
  },
  'a whole run removed': { does: ({ bucket }) => remove(bucket, ofRun(bucket, run)), ...everywhere('missing') },
  'the last attempt of a run removed, with what it archived': {
    does: ({ bucket }) => remove(bucket, [retriedKey, ...archivedIn(bucket, retriedKey)]),
    ...everywhere('missing'),
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
    ...everywhere('forged'),
  },
  'an outcome left out, and its object removed': {
    does: ({ bucket }) => alterOutcome(bucket, manualKey, () => undefined),
    ...everywhere('forged'),
  },
  'an object of a killed attempt replaced, with its metadata': {
    does: (world) => replaceObject(world.bucket, world.seal(2).objects[0]?.key ?? ''),
    ...everywhere('forged'),
    // It was read when it was sealed. With rereadDays it is read again.
    nextAudit: [],
  },
  'a sealed run removed, and a configuration added by which it has expired': {
    does: ({ bucket }) => {
      remove(bucket, ofRun(bucket, run));
      const content = Buffer.from(JSON.stringify({ ...collection, retentionDays: 1 }));
      const digest = createHash('sha256').update(content).digest('hex');
      const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
      bucket.put({ key: configurationKey(digest), content: gzipSync(content), ...headers }, attackedAt);
    },
    ...everywhere('missing'),
  },
  'a run record added that says it is old': {
    does: ({ bucket }) => {
      const time = '2026-11-21T03:00:00.000Z';
      const record = { ...readRecord(bucket, manualKey), run: time, startedAt: time, finishedAt: time, outcomes: [] };
      const content = Buffer.from(recordText({ ...record, counts: countOutcomes([]) }));
      const key = runRecordKey({ run: new Date(time), attempt: 1 });
      bucket.put({ key, content, contentType: jsonLinesType }, attackedAt);
    },
    ...everywhere('unsealed'),
  },
  'a seal removed': {
    does: ({ bucket }) => remove(bucket, [sealFile(2), signatureFile(2)]),
    ...everywhere('seal-broken', 'unsealed'),
  },
  'a seal added without a signature, by which a removed run has expired': {
    does: (world) => {
      const { sha256, ...seal } = world.seal(3);
      const forged = {
        ...seal,
        number: 4,
        // The next audit would have this name.
        seal: '2026-11-23T23:30:00.000Z',
        previous: { key: sealFile(3), sha256 },
        listedFrom: attackedAt.toISOString(),
        records: [],
        objects: [],
        plan: { ...seal.plan, retentionDays: 1 },
      };
      world.bucket.put({ key: sealFile(4), content: sealText(forged), contentType: 'application/json' }, attackedAt);
      remove(world.bucket, ofRun(world.bucket, run));
    },
    ...everywhere('missing'),
    nextAudit: ['missing', 'seal-broken'],
  },
  'a seal changed': {
    does: (world) => rewriteSeal(world.bucket, { ...world.seal(2), findings: [], collectorVersion: '1.0.1' }),
    ...everywhere('seal-broken'),
  },
  'two seals exchanged': {
    does: ({ bucket }) => {
      for (const file of [sealFile, signatureFile]) exchange(bucket, file(2), file(3));
    },
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point on, without a signature of it': {
    does: async (world) => rewriteChain(world, await forgeRun(world.bucket, run)),
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point on, and its signatures removed': {
    does: async (world) => {
      await rewriteChain(world, await forgeRun(world.bucket, run));
      remove(world.bucket, [signatureFile(2), signatureFile(3)]);
    },
    ...everywhere('seal-broken'),
  },
  'the chain rewritten from a point on with another key': {
    does: async (world) => rewriteChain(world, await forgeRun(world.bucket, run), new TestKey()),
    ...everywhere('seal-broken'),
  },
  'the whole chain rewritten with another key': {
    does: async (world) => {
      const own = new TestKey();
      await rewriteSeal(world.bucket, world.seal(1), own);
      await rewriteChain(world, await forgeRun(world.bucket, run), own);
    },
    // Only what somebody kept outside the archive shows it, or the key of the audit itself.
    alone: [],
    withKey: ['seal-broken'],
    withHead: ['seal-broken'],
    nextAudit: ['seal-broken'],
  },
  'the chain rewritten from a point on with the signing key itself': {
    does: async (world) => rewriteChain(world, await forgeRun(world.bucket, run), world.key),
    alone: [],
    withKey: [],
    withHead: ['seal-broken'],
    nextAudit: [],
  },
  'all seals removed': {
    does: ({ bucket }) => remove(bucket, bucket.keys('seals/')),
    alone: [],
    withKey: ['seal-broken'],
    withHead: ['seal-broken'],
    // Its mail says that it is the first seal.
    nextAudit: [],
  },
  'the newest seal cut off, and a run that it sealed replaced': {
    does: async ({ bucket }) => {
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
    does: (world) =>
      rewriteSeal(
        world.bucket,
        { ...world.seal(3), previous: { key: sealFile(1), sha256: world.seal(1).sha256 } },
        world.key,
      ),
    ...everywhere('seal-broken'),
  },
  'a seal signed with another key': {
    does: (world) => rewriteSeal(world.bucket, world.seal(2), new TestKey()),
    ...everywhere('seal-broken'),
  },
};
