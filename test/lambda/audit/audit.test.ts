import { createPublicKey, verify } from 'node:crypto';
import { parseRunRecordKey } from '../../../lambda/archive/archive-layout';
import { recordText } from '../../support/record-text';
import { readRecord } from './attack-tools';
import { type Audited, TestKey } from './invoke-audit';
import { damageIn, look, plan, rewriteSeal, SealedWorld, sealFile, signatureFile } from './sealed-world';

const morning = '2026-11-20T23:30:00.000Z';
const nextDay = '2026-11-21T23:30:00.000Z';

let world: SealedWorld;

beforeEach(() => {
  world = new SealedWorld();
});

const collectDay = async (day: number, failing: readonly string[] = []) => {
  for (const hour of ['00', '06', '12', '18']) await world.collect(`2026-11-${day}T${hour}:00:00.000Z`, failing);
};

describe('an audit', () => {
  it('seals every run record with its hash, signs the seal, and tells people', async () => {
    await collectDay(20);
    const { result, mails, reported } = await world.audit(morning);
    const seal = world.seal(1);
    expect(result).toEqual({
      seal: morning,
      number: 1,
      key: `s3://archive/${sealFile(1)}`,
      sha256: seal.sha256,
      isNew: true,
      found: {},
      damage: 0,
      verified: { objects: 24, bytes: seal.verified.bytes, carriedOver: 0, carriedOverRecords: 0 },
    });
    expect(seal).toMatchObject({ previous: null, archive: 'archive', listedFrom: morning });
    expect(seal.records.map(({ key }) => key)).toEqual(world.bucket.keys('runs/'));
    const signed = JSON.parse(String(world.bucket.objects.get(signatureFile(1))?.body));
    const publicKey = createPublicKey(world.key.privateKey);
    // What is signed are the 64 characters of the hash.
    expect(verify('sha256', Buffer.from(seal.sha256), publicKey, Buffer.from(signed.signature, 'base64'))).toBe(true);
    expect(reported).toEqual([{ result, stalestHours: 5.5 }]);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).toMatch(/^FIRST SEAL: nothing earlier is attested\.\nNothing is damaged\./);
    expect(mails[0]?.text).toContain(`npm run collector -- verify --archive s3://archive --head ${seal.sha256}`);
    expect(damageIn(await look(world.bucket, { head: seal.sha256, publicKeys: [publicKey] }))).toEqual([]);
  });

  it('seals what came since, a late completion of a sealed run too, and reads nothing twice', async () => {
    await collectDay(20, ['b']);
    await world.audit(morning);
    await world.collect('2026-11-21T00:00:00.000Z');
    await world.collect('2026-11-21T10:00:00.000Z', [], { run: '2026-11-20T06:00:00.000Z' });
    const { result, opened } = await world.audit(nextDay);
    const seal = world.seal(2);
    expect(seal.previous).toEqual({ key: sealFile(1), sha256: world.seal(1).sha256 });
    const runs = seal.records.map(({ key }) => parseRunRecordKey(key)?.run.toISOString());
    expect(runs).toEqual(['2026-11-20T06:00:00.000Z', '2026-11-21T00:00:00.000Z']);
    expect(result).toMatchObject({ found: { absent: 1 }, damage: 0, verified: { objects: 8 } });
    const objects = opened.filter((key) => /^(logs|manifests)\//.test(key));
    expect(objects).toHaveLength(8);
    expect(damageIn(await look(world.bucket))).toEqual([]);
  });

  it('returns the seal of a time that has one, and tells nobody again', async () => {
    await collectDay(20);
    const first = await world.audit(morning);
    const again = await world.audit(morning);
    expect(again).toMatchObject({ result: { ...first.result, isNew: false }, mails: [], reported: [] });
    expect(world.bucket.keys('seals/')).toEqual([sealFile(1), signatureFile(1)]);
  });

  it('does not fail because of what it finds, nor because nobody can be told', async () => {
    await collectDay(20);
    const [key = ''] = world.bucket.keys('logs/');
    world.bucket.corrupt(key, (body) => body.subarray(1));
    const { result, notMailed, mails } = await world.audit(morning, { isDeaf: true });
    expect(result).toMatchObject({ found: { damaged: 1 }, damage: 1 });
    expect([mails.length, notMailed.length]).toEqual([0, 1]);
  });

  it('mails once a day, and after every audit that found damage', async () => {
    await collectDay(20);
    expect((await world.audit('2026-11-20T19:00:00.000Z')).mails).toHaveLength(1);
    expect((await world.audit('2026-11-20T20:00:00.000Z')).mails).toHaveLength(0);
    const [key = ''] = world.bucket.keys('runs/');
    world.bucket.objects.delete(key);
    const { mails } = await world.audit('2026-11-20T21:00:00.000Z');
    expect(mails[0]?.subject).toMatch(/^Audit: DAMAGE: 1 finding/);
    expect((await world.audit(nextDay)).mails).toHaveLength(1);
  });

  it('says which runs were due and left no record', async () => {
    await collectDay(20);
    await world.audit(morning);
    for (const hour of ['00', '12', '18']) await world.collect(`2026-11-21T${hour}:00:00.000Z`);
    const { result, mails } = await world.audit(nextDay);
    expect(result).toMatchObject({ found: { absent: 1 }, damage: 0 });
    expect(world.seal(2).due).toEqual({ runs: 4, absent: ['2026-11-21T06:00:00.000Z'] });
    expect(mails[0]?.subject).toContain('3 of 4 runs complete');
  });

  it('tells what was archived with a doubt', async () => {
    await collectDay(20);
    const [key = ''] = world.bucket.keys('runs/');
    const { outcomes, ...record } = readRecord(world.bucket, key);
    record.counts.doubts = 1;
    const doubted = outcomes.map((one, at) => (at === 0 ? { ...one, doubt: 'it has bytes that are not UTF-8' } : one));
    world.bucket.rewrite(key, { body: Buffer.from(recordText({ ...record, outcomes: doubted })) });
    const { mails } = await world.audit(morning);
    expect(mails[0]?.text).toMatch(/^Archived with a doubt: 1\n {2}log of a: it has bytes that are not UTF-8$/m);
  });

  it('does not judge what was due while it has not read all run records; the next audit does', async () => {
    await collectDay(20);
    await world.audit(morning);
    for (const hour of ['00', '12', '18']) await world.collect(`2026-11-21T${hour}:00:00.000Z`);
    const { result } = await world.audit(nextDay, { outOfTimeAfter: 8 });
    expect(result?.verified.carriedOverRecords).toBeGreaterThan(0);
    expect(world.seal(2).due).toEqual({ runs: 0, absent: [] });
    await collectDay(22);
    await world.audit('2026-11-22T23:30:00.000Z');
    expect(world.seal(3).due).toEqual({ runs: 8, absent: ['2026-11-21T06:00:00.000Z'] });
  });

  it('hashes objects that no run record has', async () => {
    await collectDay(20);
    await world.audit(morning);
    await collectDay(21);
    const [record = ''] = world.bucket.keys('runs/date=2026-11-21/');
    world.bucket.objects.delete(record);
    const { result } = await world.audit(nextDay);
    expect(result?.found).toMatchObject({ unrecorded: 6, absent: 1 });
    expect(world.seal(2).objects).toHaveLength(6);
  });

  it('knows since when a cluster is not archived, over several audits', async () => {
    await collectDay(20);
    await world.audit(morning);
    await collectDay(21, ['b']);
    await world.audit(nextDay);
    await collectDay(22, ['b']);
    const { mails, reported } = await world.audit('2026-11-22T23:30:00.000Z', {
      plan: { ...plan, staleAfterHours: 48 },
    });
    const since = { since: '2026-11-21T00:00:00.000Z', lastArchived: '2026-11-20T18:00:00.000Z', runs: 8 };
    expect(world.seal(3).failing).toEqual([{ cluster: 'b', last: '2026-11-22T18:00:00.000Z', ...since }]);
    expect(reported[0]?.stalestHours).toBe(53.5);
    expect(mails[0]?.text).toContain('Not archived for more than 48 hours: 1 cluster\n  b (53 h)');
    await collectDay(23);
    expect((await world.audit('2026-11-23T23:30:00.000Z')).reported[0]?.stalestHours).toBe(5.5);
    expect(world.seal(4).failing).toEqual([]);
  });

  it('is stale without runs too, although none fails', async () => {
    await collectDay(20);
    await world.audit(morning);
    const more = { plan: { ...plan, staleAfterHours: 48 } };
    const { reported, mails } = await world.audit('2026-11-24T23:30:00.000Z', more);
    expect(reported[0]?.stalestHours).toBe(101.5);
    expect(mails[0]?.text).toContain('No run for 101 hours');
  });

  describe('with another key than the seals before', () => {
    const times = ['2026-11-22T23:30:00.000Z', '2026-11-23T23:30:00.000Z'];

    beforeEach(async () => {
      await collectDay(20);
      await world.audit(morning);
      await world.audit(nextDay);
    });

    it('says once which seals that key signed, and what to do', async () => {
      const key = new TestKey();
      for (const time of times) {
        const { result, mails } = await world.audit(time, { key });
        expect(result).toMatchObject({ found: { 'seal-broken': 1 }, damage: 1 });
        expect(mails[0]?.text).toContain(`seal-broken ${sealFile(1)}\n    it and those up to number 2 are signed with`);
        expect(mails[0]?.text).toContain('audit.formerPublicKeys');
      }
    });

    it('finds nothing if it was deployed with the former one', async () => {
      const key = new TestKey();
      const formerPublicKeys = [(await world.key.publicKey()).toString('base64')];
      const more = { key, plan: { ...plan, formerPublicKeys } };
      for (const time of times) expect((await world.audit(time, more)).result?.damage).toBe(0);
      const publicKeys = [world.key, key].map(({ privateKey }) => createPublicKey(privateKey));
      expect(damageIn(await look(world.bucket, { publicKeys }))).toEqual([]);
    });

    it('does not believe what a former key signs later', async () => {
      const key = new TestKey();
      const formerPublicKeys = [(await world.key.publicKey()).toString('base64')];
      const more = { key, plan: { ...plan, formerPublicKeys } };
      for (const time of times) await world.audit(time, more);
      await rewriteSeal(world.bucket, world.seal(4), world.key);
      const { result } = await world.audit('2026-11-24T23:30:00.000Z', more);
      const problem = 'it is signed with a former key, and seals before it with a later one';
      expect(world.seal(5).findings).toContainEqual({ kind: 'seal-broken', key: sealFile(4), problem });
      expect(result?.damage).toBe(1);
      expect((await world.audit('2026-11-25T23:30:00.000Z', more)).result?.damage).toBe(1);
    });
  });
});

describe('two audits at once', () => {
  it('make one chain without a fork', async () => {
    await collectDay(20);
    const both = await Promise.all(
      ['19:00', '19:01', '19:02'].map((time) =>
        world.audit(`2026-11-20T${time}:00.000Z`, { start: new Date(morning) }),
      ),
    );
    expect(both.map(({ result }) => result?.number).sort()).toEqual([1, 2, 3]);
    expect(world.seal(1).records).toHaveLength(4);
    expect(world.seal(2).records).toEqual([]);
    expect(await look(world.bucket)).toEqual([]);
  });

  it('of the same time make one seal', async () => {
    await collectDay(20);
    const both = await Promise.all([world.audit(morning), world.audit(morning)]);
    expect(both.map(({ result }) => result?.number)).toEqual([1, 1]);
    expect(world.bucket.keys('seals/')).toEqual([sealFile(1), signatureFile(1)]);
  });
});

describe('an audit that is killed', () => {
  it('leaves at every step what the next one completes', async () => {
    await world.collect('2026-11-20T18:00:00.000Z');
    const { requests } = await new SealedWorld(world.bucket.copy()).audit(morning);
    for (let killedAfter = 0; killedAfter < requests; killedAfter += 1)
      for (const isLastDone of [false, true]) {
        const other = new SealedWorld(world.bucket.copy());
        await other.audit(morning, { killedAfter, isLastDone });
        const retried = await other.audit(morning);
        expect(retried.result).toMatchObject({ number: 1, damage: 0 });
        expect(other.bucket.keys('seals/')).toEqual([sealFile(1), signatureFile(1)]);
        expect(await look(other.bucket)).toEqual([]);
      }
  });

  describe('between its seal and the signature', () => {
    const killedBeforeSigning = async (): Promise<Audited> => {
      await collectDay(20);
      const { requests } = await new SealedWorld(world.bucket.copy()).audit(morning);
      // The last are: public key and signature, the signature's file, and the mail.
      for (let killedAfter = requests; killedAfter > 0; killedAfter -= 1) {
        const other = new SealedWorld(world.bucket.copy());
        const audited = await other.audit(morning, { killedAfter });
        if (other.bucket.keys('seals/').join() === sealFile(1)) {
          world = other;
          return audited;
        }
      }
      throw new Error('no kill leaves a seal without a signature');
    };

    it('is signed by the next one, which then tells people', async () => {
      const killed = await killedBeforeSigning();
      expect([killed.result, killed.mails]).toEqual([undefined, []]);
      expect((await look(world.bucket)).map(({ kind }) => kind)).toEqual(['pending']);
      const { result, mails, reported } = await world.audit(nextDay);
      expect(result).toMatchObject({ number: 2, damage: 0 });
      expect(reported.map((one) => one.result.number)).toEqual([1, 2]);
      expect(mails[0]?.text).toContain(`--head ${world.seal(1).sha256}`);
      expect(damageIn(await look(world.bucket))).toEqual([]);
    });

    it('is not signed if the archive is not what it says', async () => {
      await killedBeforeSigning();
      const [key = ''] = world.bucket.keys('runs/');
      world.bucket.rewrite(key, { body: Buffer.from('{}'), writtenAt: new Date('2026-11-21T01:00:00Z') });
      const { result } = await world.audit(nextDay);
      expect(result?.found).toMatchObject({ 'seal-broken': 1, forged: 1 });
      expect(world.bucket.keys('seals/')).not.toContain(signatureFile(1));
      expect(damageIn(await look(world.bucket))).toContain('seal-broken');
    });
  });
});

describe('an audit whose time is over', () => {
  it('seals what it read, at every step, and the next ones take up the rest without reading anything twice', async () => {
    for (const hour of ['12', '18']) await world.collect(`2026-11-20T${hour}:00:00.000Z`);
    const { requests } = await new SealedWorld(world.bucket.copy()).audit(morning);
    for (let outOfTimeAfter = 0; outOfTimeAfter < requests; outOfTimeAfter += 1) {
      const other = new SealedWorld(world.bucket.copy());
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
      expect(one.verified.objects + two.verified.objects).toBe(12);
      expect(one.verified.carriedOverRecords).toBe(two.records.length);
      expect(damageIn(await look(other.bucket))).toEqual([]);
    }
  });

  it('tells the share that it read', async () => {
    await collectDay(20);
    const { requests } = await new SealedWorld(world.bucket.copy()).audit(morning);
    const { mails, result } = await world.audit(morning, { outOfTimeAfter: requests - 12 });
    const { objects = 0, carriedOver = 0 } = result?.verified ?? {};
    expect([objects > 0, carriedOver > 0, objects + carriedOver]).toEqual([true, true, 24]);
    expect(mails[0]?.text).toContain(`No time for ${carriedOver} objects and 0 run records`);
  });
});
