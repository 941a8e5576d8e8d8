import { createPublicKey, verify } from 'node:crypto';
import { parseRunRecordKey, sealKey } from '../../../archive/format/keys';
import { ArchiveReadError } from '../../../archive/read/archive-reader';
import { recordText } from '../../support/record-text';
import { steps } from '../../support/rounds';
import { readRecord } from './attack-tools';
import { type AuditOptions, TestKey } from './invoke-audit';
import { damageIn, look, plan, rewriteSeal, SealedWorld } from './sealed-world';

const morning = '2026-11-20T23:30:00.000Z';
const nextDay = '2026-11-21T23:30:00.000Z';

let untouched: SealedWorld;
let world: SealedWorld;

beforeAll(async () => {
  untouched = new SealedWorld();
  await untouched.collectDay(20);
});

/** An archive of one day, without a seal. */
beforeEach(() => {
  world = untouched.copy();
});

describe('an audit', () => {
  it('seals every run record with its hash, signs the seal, and tells people', async () => {
    const { result, mails, reported } = await world.audit(morning);
    const seal = world.seal(1);
    expect(result).toEqual({
      seal: morning,
      number: 1,
      key: `s3://archive/${sealKey(1)}`,
      sha256: seal.sha256,
      isNew: true,
      found: {},
      damage: 0,
      verified: {
        objects: 24,
        old: 0,
        bytes: seal.verified.bytes,
        carriedOver: 0,
        carriedOverRecords: 0,
        expired: 0,
        all: null,
        notReadSince: seal.seal,
      },
      stamps: [],
    });
    expect(seal).toMatchObject({ previous: null, archive: 'archive', listedFrom: morning });
    expect(seal.records.map(({ key }) => key)).toEqual(world.bucket.keys('runs/'));
    const [, signed = ''] = String(world.bucket.objects.get(sealKey(1))?.body).split('\n');
    const { signature } = JSON.parse(signed);
    const publicKey = createPublicKey(world.key.privateKey);
    // What is signed are the 64 characters of the hash.
    expect(verify('sha256', Buffer.from(seal.sha256), publicKey, Buffer.from(signature, 'base64'))).toBe(true);
    expect(reported).toEqual([{ result, stalestHours: 5.5, latePasses: 0, unstamped: 0, logGaps: 0, frozenLogs: 0 }]);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).toMatch(
      /^FIRST SEAL: nothing earlier is attested\.\nNothing is damaged in what was read: 24 new objects and 0 old ones\./,
    );
    expect(mails[0]?.text).toContain(`npm run collector -- verify --archive s3://archive --head ${seal.sha256}`);
    expect(damageIn(await look(world.bucket, { heads: [seal.sha256], publicKeys: [publicKey] }))).toEqual([]);
  });

  it('judges before the first seal as verify does after it: an attempt took no longer than the function may run', async () => {
    const [key = ''] = world.bucket.keys('runs/');
    const { outcomes, ...record } = readRecord(world.bucket, key);
    const finishedAt = new Date(Date.parse(record.startedAt) + 3 * 3_600_000).toISOString();
    const body = Buffer.from(recordText({ ...record, finishedAt, outcomes }));
    world.bucket.rewrite(key, { body });
    expect((await world.audit(morning)).result?.found).toMatchObject({ contradiction: 1 });
    expect(damageIn(await look(world.bucket))).toEqual(['contradiction']);
  });

  it('seals what came since, a late completion of a sealed run too, and reads nothing twice but the bases of logs', async () => {
    world = new SealedWorld();
    await world.collectDay(20, ['b']);
    await world.audit(morning);
    await world.collect('2026-11-21T00:00:00.000Z');
    await world.collect('2026-11-21T10:00:00.000Z', [], { run: '2026-11-20T06:00:00.000Z' });
    const { result, opened } = await world.audit(nextDay);
    const seal = world.seal(2);
    expect(seal.previous).toEqual({ key: sealKey(1), sha256: world.seal(1).sha256 });
    const runs = seal.records.map(({ key }) => parseRunRecordKey(key)?.run.toISOString());
    expect(runs).toEqual(['2026-11-20T06:00:00.000Z', '2026-11-21T00:00:00.000Z']);
    // Runs that were due one after the other are one finding.
    expect(result).toMatchObject({ found: { absent: 1 }, damage: 0, verified: { objects: 8 } });
    expect(opened.filter((key) => key.startsWith('manifests/'))).toHaveLength(4);
    // As a base, up to three older logs of each cluster: none of these has a text.
    expect(opened.filter((key) => key.startsWith('logs/'))).toHaveLength(4 + 2 * 3);
    expect(damageIn(await look(world.bucket))).toEqual([]);
  });

  it('of a time that has its seal tells it again, in the same words', async () => {
    world = new SealedWorld();
    await world.collectDay(20, ['b']);
    const first = await world.audit(morning);
    const again = await world.audit(morning);
    const told = { result: { ...first.result, isNew: false }, mails: first.mails };
    expect(again).toMatchObject({ ...told, reported: [{ stalestHours: first.reported[0]?.stalestHours }] });
    expect(first.mails[0]?.text).toContain('1 x 404');
    expect(world.bucket.keys('seals/0')).toEqual([sealKey(1)]);
  });

  it('says which of its firings no seal is of, once, and when they have had their time', async () => {
    await world.audit(morning);
    const absent = { kind: 'absent', key: 'seals/*' };
    const { result } = await world.audit('2026-11-23T23:30:00.000Z');
    const problem = '2 seals from 2026-11-21T23:30:00.000Z to 2026-11-22T23:30:00.000Z: never made, or removed';
    expect(world.state(2).findings).toContainEqual({ ...absent, problem });
    expect(result?.damage).toBe(0);
    await world.audit('2026-11-25T00:30:00.000Z');
    expect(world.state(3).findings).not.toContainEqual(expect.objectContaining(absent));
    await world.audit('2026-11-25T23:30:00.000Z');
    const one = 'seal of 2026-11-24T23:30:00.000Z: never made, or removed';
    expect(world.state(4).findings).toContainEqual({ ...absent, problem: one });
  });

  it('that is the first of an archive that should have one is an alarm', async () => {
    expect((await world.copy().audit('2026-11-21T01:59:00.000Z')).result?.damage).toBe(0);
    const { result, mails } = await world.audit('2026-11-21T02:01:00.000Z');
    expect(result).toMatchObject({ found: { 'seal-broken': 1 }, damage: 1 });
    expect(mails[0]?.text).toContain('FIRST SEAL, and run records are there since 2026-11-20T00:00:10');
  });

  it('that can read no seal begins no other chain', async () => {
    await world.audit(morning);
    world.bucket.refused.add(sealKey(1));
    await expect(world.audit(nextDay)).rejects.toThrow('none is right, and 1 cannot be read');
    expect(world.bucket.keys('seals/0')).toEqual([sealKey(1)]);
  });

  it('passes over a seal that cannot be read for good, and fails for one that cannot be read now', async () => {
    await world.audit(morning);
    await world.audit(nextDay);
    const late = '2026-11-22T23:30:00.000Z';
    const busy = world.copy();
    busy.bucket.open = async (key) => {
      if (key === sealKey(2)) throw new ArchiveReadError('503 SlowDown');
      return world.bucket.open(key);
    };
    await expect(busy.audit(late)).rejects.toThrow('503 SlowDown');
    world.bucket.refused.add(sealKey(2));
    expect((await world.audit(late)).result).toMatchObject({ number: 3, found: { 'seal-broken': 1 } });
    const why = `it cannot be read: Reading ${sealKey(2)} failed: 403 InvalidObjectState`;
    expect(world.seal(3)).toMatchObject({
      previous: { key: sealKey(1) },
      passedOver: { count: 1, first: [{ number: 2, sha256: null, why }] },
    });
  });

  it('fails if the archive cannot be listed', async () => {
    const list = world.bucket.list.bind(world.bucket);
    world.bucket.list = (prefix, after) => {
      if (prefix.startsWith('logs/')) throw new ArchiveReadError('Listing failed');
      return list(prefix, after);
    };
    await expect(world.audit(morning)).rejects.toThrow('Listing failed');
    expect(world.bucket.keys('seals/')).toEqual([]);
  });

  it('does not fail because of what it finds, nor because nobody can be told', async () => {
    const [key = ''] = world.bucket.keys('logs/');
    world.bucket.corrupt(key, (body) => body.subarray(1));
    const { result, notMailed, mails } = await world.audit(morning, { refusesMails: true });
    expect(result).toMatchObject({ found: { damaged: 1 }, damage: 1 });
    expect([mails.length, notMailed.length]).toEqual([0, 1]);
  });

  it('mails once a day, and after every audit that found damage', async () => {
    expect((await world.audit('2026-11-20T19:00:00.000Z')).mails).toHaveLength(1);
    expect((await world.audit('2026-11-20T20:00:00.000Z')).mails).toHaveLength(0);
    const [key = ''] = world.bucket.keys('runs/');
    world.bucket.objects.delete(key);
    const { mails } = await world.audit('2026-11-20T21:00:00.000Z');
    expect(mails[0]?.subject).toMatch(/^Audit: DAMAGE open since 2026-11-20: 1, new: 1, /);
    expect((await world.audit('2026-11-20T22:00:00.000Z')).mails).toHaveLength(1);
  });

  it('does not judge what was due while it has not read all run records; the next audit does', async () => {
    await world.audit(morning);
    await world.collectDay(21, [], ['00', '12', '18']);
    const { result } = await world.audit(nextDay, { outOfTimeAfter: 8 });
    expect(result?.verified.carriedOverRecords).toBeGreaterThan(0);
    expect(world.seal(2).due).toEqual({ runs: 0, absent: [], notJudged: null });
    await world.collectDay(22);
    await world.audit('2026-11-22T23:30:00.000Z');
    expect(world.seal(3).due).toEqual({ runs: 7, absent: ['2026-11-21T06:00:00.000Z'], notJudged: null });
  });

  it('knows since when a cluster is not archived, over several audits', async () => {
    await world.audit(morning);
    // The last run that archived it lies before those that are searched for objects again.
    await world.audit('2026-11-21T03:30:00.000Z');
    await world.collectDay(21, ['b'], ['06', '12', '18']);
    await world.audit(nextDay);
    // A run that comes again is no other run.
    await world.collect('2026-11-21T23:45:00.000Z', ['b'], { run: '2026-11-21T18:00:00.000Z' });
    await world.collectDay(22, ['b']);
    const { reported } = await world.audit('2026-11-22T23:30:00.000Z');
    // The second audit of a day sends no mail: nobody knows of it yet.
    const since = { since: '2026-11-21T06:00:00.000Z', lastArchived: '2026-11-20T18:00:00.000Z', runs: 7 };
    expect(world.state(4).failing).toEqual([
      { cluster: 'b', last: '2026-11-22T18:00:00.000Z', isMailed: false, ...since },
    ]);
    expect(reported[0]?.stalestHours).toBe(53.5);
    await world.collectDay(23);
    expect((await world.audit('2026-11-23T23:30:00.000Z')).reported[0]?.stalestHours).toBe(5.5);
    expect(world.state(5).failing).toEqual([]);
  });

  it('is stale without runs too, although none fails', async () => {
    await world.audit(morning);
    const { reported } = await world.audit('2026-11-24T23:30:00.000Z');
    expect(reported[0]?.stalestHours).toBe(101.5);
  });

  describe('with another key than the seals before', () => {
    const times = ['2026-11-22T23:30:00.000Z', '2026-11-23T23:30:00.000Z'];
    const key = new TestKey();
    /** Deployed with the former one. */
    let more: Partial<AuditOptions>;

    beforeEach(async () => {
      await world.audit(morning);
      await world.audit(nextDay);
      more = { key, plan: { ...plan, formerPublicKeys: [(await world.key.publicKey()).toString('base64')] } };
    });

    it('begins another chain, and says which seals that key signed, and what to do', async () => {
      for (const [at, time] of times.entries()) {
        const { result, mails } = await world.audit(time, { key });
        // The first of the two says that it is the first, where another should be: that stays so.
        expect(result).toMatchObject({ number: 3 + at, found: { 'seal-broken': 2 }, damage: 2 });
        expect(mails[0]?.text).toContain(
          `seal-broken ${sealKey(1)}\n    ${at === 0 ? 'new' : 'since 2026-11-22'}: it and those up to number 2 are signed with`,
        );
        expect(mails[0]?.text).toContain('audit.formerPublicKeys');
      }
      expect(world.seal(3)).toMatchObject({
        previous: null,
        passedOver: { count: 2, first: [{ number: 1 }, { number: 2 }] },
      });
    });

    it('and with the former one later, has two chains, which is one finding', async () => {
      await world.audit(times[0] ?? '', { key });
      const { result } = await world.audit(times[1] ?? '', more);
      expect(result).toMatchObject({ number: 4, found: { 'seal-broken': 1 } });
      const problem = expect.stringContaining('its signature and those up to number 2 are right, and no later seal');
      expect(world.state(4).findings).toContainEqual({ kind: 'seal-broken', key: sealKey(1), problem });
    });

    it('finds nothing if it was deployed with the former one', async () => {
      for (const time of times) expect((await world.audit(time, more)).result?.damage).toBe(0);
      const publicKeys = [world.key, key].map(({ privateKey }) => createPublicKey(privateKey));
      expect(damageIn(await look(world.bucket, { publicKeys }))).toEqual([]);
    });

    it('does not believe what a former key signs later', async () => {
      for (const time of times) await world.audit(time, more);
      await rewriteSeal(world.bucket, world.seal(4), world.key);
      const { result } = await world.audit('2026-11-24T23:30:00.000Z', more);
      const problem = 'it is signed with a former key, and seals before it with a later one';
      expect(world.state(5).findings).toContainEqual({ kind: 'seal-broken', key: sealKey(4), problem });
      expect(result?.damage).toBe(1);
      expect((await world.audit('2026-11-25T23:30:00.000Z', more)).result?.damage).toBe(1);
    });
  });
});

describe('two audits at once', () => {
  it('make one chain without a fork', async () => {
    const both = await Promise.all(
      ['19:00', '19:01', '19:02'].map((time) =>
        world.audit(`2026-11-20T${time}:00.000Z`, { start: new Date(morning) }),
      ),
    );
    expect(both.map(({ result }) => result?.number).sort()).toEqual([1, 2, 3]);
    expect(world.seal(1).records).toHaveLength(4);
    expect(world.seal(2).records).toEqual([]);
    expect(damageIn(await look(world.bucket))).toEqual([]);
  });

  it('of the same time make one seal', async () => {
    const both = await Promise.all([world.audit(morning), world.audit(morning)]);
    expect(both.map(({ result }) => result?.number)).toEqual([1, 1]);
    expect(world.bucket.keys('seals/0')).toEqual([sealKey(1)]);
  });
});

describe('an audit that is killed', () => {
  it('leaves nothing or its seal at every step, and people are told of every seal', async () => {
    world = new SealedWorld();
    await world.collect('2026-11-20T18:00:00.000Z');
    const { requests } = await world.copy().audit(morning);
    for (let killedAfter = 0; killedAfter < requests; killedAfter += 1)
      for (const isLastDone of [false, true]) {
        const other = world.copy();
        const killed = await other.audit(morning, { killedAfter, isLastDone });
        const [left] = other.bucket.keys('seals/0');
        const retried = await other.audit(morning);
        expect(retried.result).toMatchObject({ number: 1, damage: 0, isNew: left === undefined });
        // Killed while it told people, it may have told them.
        expect(killed.result).toBeUndefined();
        expect([retried.mails.length, retried.reported.length]).toEqual([1, 1]);
        expect(other.bucket.keys('seals/0')).toEqual([sealKey(1)]);
        expect(damageIn(await look(other.bucket))).toEqual([]);
      }
  });
});

describe('an audit whose time is over', () => {
  it('seals what it read, at every step, and the next ones take up the rest', async () => {
    const clusters = Array.from({ length: 10 }, (_, at) => ({ uid: `c${at}` }));
    world = new SealedWorld(clusters);
    await world.collectDay(20, [], ['12', '18']);
    const { requests } = await world.copy().audit(morning);
    for (const outOfTimeAfter of steps(requests)) {
      const other = world.copy();
      const first = await other.audit(morning, { outOfTimeAfter });
      const second = await other.audit(nextDay);
      expect(first.result).toMatchObject({ number: 1, damage: 0 });
      expect(second.result).toMatchObject({
        number: 2,
        damage: 0,
        verified: { carriedOver: 0, carriedOverRecords: 0 },
      });
      const [one, two] = [other.seal(1), other.seal(2)];
      expect([...one.records, ...two.records].map(({ key }) => key)).toEqual(other.bucket.keys('runs/'));
      expect(one.verified.objects + two.verified.objects).toBe(40);
      expect(one.verified.carriedOverRecords).toBe(two.records.length);
      expect(damageIn(await look(other.bucket))).toEqual([]);
    }
  });

  it('has judged whole slices, tells their share, and the next one goes on there', async () => {
    await world.audit(morning, { outOfTimeAfter: 11 });
    const [first, ...others] = world.state(1).todo.filter((one) => one.what === 'new');
    expect([first?.atOnce, others]).toEqual([40_000, []]);
    // As if time had been over before: 6 objects at once.
    await world.changeState(1, { todo: world.state(1).todo.map((one) => ({ ...one, atOnce: 6 })) });
    const { requests } = await world.copy().audit(nextDay);
    const seen = new Set<number>();
    for (const outOfTimeAfter of steps(requests)) {
      const other = world.copy();
      const { mails, result } = await other.audit(nextDay, { outOfTimeAfter });
      const { objects = 0, carriedOver = 0 } = result?.verified ?? {};
      seen.add(objects);
      expect([objects % 6, objects + carriedOver]).toEqual([0, 24]);
      const text = `No time for ${carriedOver} objects and 0 run records`;
      if (carriedOver > 0) expect(mails[0]?.text).toContain(text);
      else expect(mails[0]?.text).not.toContain('No time for');
      const next = await other.audit('2026-11-22T23:30:00.000Z');
      expect(next.result?.verified).toMatchObject({ objects: carriedOver, carriedOver: 0 });
      expect(other.state(3).logs.gaps.first).toEqual([]);
    }
    expect(seen.size).toBeGreaterThan(3);
  });

  it('halves what took all of it, and says that nothing of it was seen', async () => {
    const { requests } = await world.copy().audit(morning);
    const { mails } = await world.audit(morning, { outOfTimeAfter: requests - 12 });
    expect(world.state(1).todo.find(({ what }) => what === 'new')?.atOnce).toBe(20_000);
    expect(mails[0]?.subject).toContain('not seen yet: 24 objects');
  });

  it('while it lists what is in no run record says so, and is late when that lasts for more than a day', async () => {
    const { result, mails } = await world.audit(morning, { outOfTimeAfter: 11 });
    expect(world.state(1).todo.map(({ what }) => what)).toContain('settled');
    expect(mails[0]?.subject).toContain('not seen yet: 24 objects, what is in no run record');
    expect(result?.verified.carriedOver).toBe(24);
    const next = await world.audit('2026-11-22T23:30:00.000Z', { outOfTimeAfter: 11 });
    expect(next.mails[0]?.text).toContain(
      'Looking for what is in no run record takes too long: it began 2026-11-20T23:30:00Z.',
    );
    expect(next.reported[0]?.latePasses).toBe(1);
    const last = await world.audit('2026-11-23T23:30:00.000Z');
    expect([last.mails[0]?.subject, last.reported[0]?.latePasses]).toEqual([expect.stringContaining('no damage'), 0]);
  });
});
