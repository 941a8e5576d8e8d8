import { sealStampKey } from '../../../archive/format/keys';
import type { RightSeal } from '../../../archive/prove/seals/seal-chain';
import { impossibleTimes, type SealStamp, unstampedFindings } from '../../../archive/prove/seals/seal-stamps';
import { checkStamp, StampError } from '../../../archive/prove/stamps/check-stamp';
import { stampRequest } from '../../../archive/prove/stamps/request-stamp';
import { verifyArchive } from '../../../archive/prove/verify-archive';
import type { AuditContext } from '../../../lambda/audit/audit';
import { answerStamp } from '../../../local/stamp-authority/answer-stamp';
import { issueCertificate, ofIssuer, ofStamps } from '../../../local/stamp-authority/issue-certificate';
import { TestKey } from './invoke-audit';
import { damageIn, look, plan, SealedWorld } from './sealed-world';

const valid = { validFrom: new Date('2026-01-01'), validTo: new Date('2036-01-01') };

/** An authority of time stamps, and what it answers by its own clock. */
function authority(name: string) {
  const root = issueCertificate({ name: `Root of ${name}`, ...valid, extensions: ofIssuer() });
  const signer = issueCertificate({ name, ...valid, issuer: root, extensions: ofStamps() });
  const planned = { name, url: `http://${name}.example`, root: root.certificate.raw.toString('base64') };
  return { name, planned, root: root.certificate, signer };
}

const [one, two] = [authority('one'), authority('two')];

/** Both answer; those in `silent` do not. @param time by their clocks */
function answering(time: string, silent: readonly string[] = []): AuditContext['requestStamp'] {
  return async ({ name }, sha256) => {
    if (silent.includes(name)) throw new StampError(`Asking ${name} failed: it is down`);
    const { bytes, nonce } = stampRequest(sha256);
    const { signer, root } = name === 'one' ? one : two;
    const response = answerStamp(bytes, { signer, time: new Date(time) });
    return { response, ...checkStamp(response, { sha256, nonce, roots: [root] }) };
  };
}

const stampedPlan = { ...plan, timestamps: [one.planned, two.planned] };
const at = (day: number) => `2026-11-${day}T23:30:00.000Z`;

/** A world whose audits of some days are stamped. @param stampedAt the authorities' time; left out: that of the audit */
async function stampedWorld(key = new TestKey(), stampedAt?: string, silent: readonly (readonly string[])[] = []) {
  const world = new SealedWorld(plan.clusters, undefined, key);
  const audits = [];
  for (const [index, day] of [20, 21, 22].entries()) {
    await world.collectDay(day);
    const requestStamp = answering(stampedAt ?? at(day).replace(':00.000', ':07.000'), silent[index]);
    // The clock of S3 is where whoever makes a second history wants it to be.
    audits.push(await world.audit(at(day), { plan: stampedPlan, requestStamp }));
  }
  return { world, audits };
}

const key = (number: number, name: string) => sealStampKey({ number, authority: name });
const trusting = { stampRoots: [one.root] };

describe('a seal', () => {
  it('is stamped by every authority, the mail says so, and the next seal names the stamps', async () => {
    const { world, audits } = await stampedWorld();
    expect(audits[0]?.result?.stamps).toEqual(
      ['one', 'two'].map((name) => ({ authority: name, time: '2026-11-20T23:30:07.000Z' })),
    );
    expect(audits[0]?.mails[0]?.text).toContain('Seal 1 existed before 2026-11-20T23:30:07Z, says one.');
    expect(world.seal(1).stamps).toEqual([]);
    expect(world.seal(2).stamps.map((stamp) => stamp.key)).toEqual([key(1, 'one'), key(1, 'two')]);
    expect(world.seal(3).stamps.map((stamp) => stamp.key)).toEqual([key(2, 'one'), key(2, 'two')]);
    expect(damageIn(await look(world.bucket))).toEqual([]);
    expect(damageIn(await look(world.bucket, trusting))).toEqual([]);
  });

  it('is sealed although an authority is down, and the mail says since when', async () => {
    const { world, audits } = await stampedWorld(undefined, undefined, [[], [], ['two']]);
    expect(audits[2]?.result?.number).toBe(3);
    const text = audits[2]?.mails[0]?.text;
    expect(text).toContain(
      'Seal 3 is not stamped by two (none since 2026-11-21T23:30:00Z)\n  Asking two failed: it is down',
    );
    expect(world.bucket.objects.has(key(3, 'two'))).toBe(false);
    expect(damageIn(await look(world.bucket, { stampRoots: [two.root] }))).toEqual(['seal-broken']);
  });

  it('takes no stamp whose clock is more than an hour away', async () => {
    const { world, audits } = await stampedWorld(undefined, '2026-11-22T22:00:00Z');
    expect(audits[2]?.result?.stamps[0]?.problem).toBe(
      'one says that it is 2026-11-22T22:00:00.000Z; S3 says 2026-11-22T23:30:00.000Z',
    );
    expect(world.bucket.keys('seals/').filter((name) => name.endsWith('.tsr'))).toEqual([]);
  });

  it('is stamped by the next invocation of its audit where it was not', async () => {
    const { world } = await stampedWorld(undefined, undefined, [[], [], ['one', 'two']]);
    const again = await world.audit(at(22), {
      plan: stampedPlan,
      requestStamp: answering('2026-11-22T23:31:00Z', ['two']),
    });
    expect(again.result).toMatchObject({ number: 3, isNew: false });
    expect(world.bucket.objects.has(key(3, 'one'))).toBe(true);
    expect(damageIn(await look(world.bucket, trusting))).toEqual([]);
  });

  it('counts by an older root that signed the planned one, to who trusts the older alone', async () => {
    const older = issueCertificate({ name: 'Older root', ...valid, extensions: ofIssuer() });
    const { key: ownKey } = issueCertificate({ name: 'Root', ...valid, extensions: ofIssuer() });
    const own = { name: 'Root', key: ownKey, ...valid, extensions: ofIssuer() };
    const [newer, crossSigned] = [issueCertificate(own), issueCertificate({ ...own, issuer: older })];
    const signer = issueCertificate({ name: 'one', ...valid, issuer: newer, extensions: ofStamps() });
    const planned = { ...one.planned, root: newer.certificate.raw.toString('base64') };
    const world = new SealedWorld(plan.clusters);
    await world.collectDay(20);
    await world.audit(at(20), {
      plan: { ...plan, timestamps: [planned] },
      requestStamp: async (_, sha256) => {
        const { bytes, nonce } = stampRequest(sha256);
        const response = answerStamp(bytes, { signer, intermediates: [crossSigned], time: new Date(at(20)) });
        return { response, ...checkStamp(response, { sha256, nonce, roots: [newer.certificate] }) };
      },
    });
    for (const trusted of [older, newer])
      expect(damageIn(await look(world.bucket, { stampRoots: [trusted.certificate] }))).toEqual([]);
    // Another root: the stamp is right by the plan, and does not count.
    const found = await look(world.bucket, { stampRoots: [two.root] }, new Date('2026-11-25T00:00:00Z'));
    expect(damageIn(found)).toEqual(['seal-broken']);
  });

  it('needs a stamp within three days of its time, by a later seal too', async () => {
    const { world } = await stampedWorld(undefined, undefined, [['one'], ['one'], []]);
    expect(damageIn(await look(world.bucket, trusting))).toEqual([]);
    world.bucket.objects.delete(key(3, 'one'));
    const found = (await look(world.bucket, trusting)).filter(({ kind }) => kind !== 'absent');
    expect(found).toMatchObject([{ kind: 'seal-broken', key: 'seals/00000001.jsonl' }]);
    expect(found[0]?.problem).toContain('nor of 2 later ones up to seal 3');
    expect(damageIn(await look(world.bucket, { ...trusting, stampedSince: new Date(at(23)) }))).toEqual([]);
    expect(damageIn(await look(world.bucket, trusting, new Date('2026-11-23T00:00:00Z')))).toEqual([]);
  });
});

describe('a stamp', () => {
  it('that an earlier seal names and that is gone is damage to the next audit, and stays so', async () => {
    const { world } = await stampedWorld();
    world.bucket.objects.delete(key(1, 'one'));
    for (const day of [23, 24]) {
      await world.collectDay(day);
      const requestStamp = answering(at(day).replace(':00.000', ':07.000'));
      const { result } = await world.audit(at(day), { plan: stampedPlan, requestStamp });
      expect(result).toMatchObject({ damage: 1, found: { missing: 1 } });
    }
    expect(world.state(5).open.first).toMatchObject([{ kind: 'missing', key: key(1, 'one'), since: at(23) }]);
  });

  it('that cannot be had for three days is left for the next audit, as the alarm counts it', async () => {
    const { world } = await stampedWorld(undefined, undefined, [[], [], ['two']]);
    const unstamped: number[] = [];
    for (const day of [23, 24, 25]) {
      await world.collectDay(day);
      const requestStamp = answering(at(day).replace(':00.000', ':07.000'), ['two']);
      unstamped.push(
        ...(await world.audit(at(day), { plan: stampedPlan, requestStamp })).reported.map((one) => one.unstamped),
      );
    }
    expect(unstamped).toEqual([0, 0, 1]);
  });

  const attacks: [string, (world: SealedWorld) => unknown, string[]][] = [
    ['is gone', ({ bucket }) => bucket.objects.delete(key(1, 'one')), ['missing']],
    [
      'was replaced',
      ({ bucket }) => bucket.rewrite(key(1, 'one'), bucket.objects.get(key(2, 'one')) ?? {}),
      ['forged'],
    ],
    [
      'is of another seal',
      ({ bucket }) => bucket.rewrite(key(3, 'one'), bucket.objects.get(key(2, 'one')) ?? {}),
      ['seal-broken'],
    ],
    ['is not one', ({ bucket }) => bucket.rewrite(key(3, 'one'), { body: Buffer.from('<html>') }), ['seal-broken']],
    [
      'is of a seal that is not there',
      ({ bucket }) => bucket.objects.set(key(7, 'one'), bucket.objects.get(key(3, 'one')) ?? never()),
      ['seal-broken'],
    ],
  ];
  it.each(attacks)('that %s is found', async (_, attack, kinds) => {
    const { world } = await stampedWorld();
    attack(world);
    expect(damageIn(await look(world.bucket))).toEqual(kinds);
  });
});

describe('an audit judges stamps as verify does', () => {
  it('takes junk under the key of its own stamp for damage, and the seal for one without a stamp', async () => {
    const { world } = await stampedWorld();
    const junk = key(4, 'one');
    world.bucket.put({ key: junk, content: Buffer.from('junk'), contentType: 'x' }, new Date(at(22)));
    const asked = { plan: stampedPlan, requestStamp: answering(at(23).replace(':00.000', ':07.000')) };
    await world.collectDay(23);
    const { result, mails } = await world.audit(at(23), asked);
    expect(result).toMatchObject({ number: 4, damage: 1, found: { 'seal-broken': 1 } });
    expect(mails[0]?.text).toContain('Seal 4 is not stamped by one (none since 2026-11-22T23:30:00Z)');
    expect(mails[0]?.text).toContain('Seal 4 existed before 2026-11-23T23:30:07Z, says two.');
    await world.collectDay(24);
    // It is a file under a right seal's key now, and still not a stamp.
    const next = await world.audit(at(24), { ...asked, requestStamp: answering(at(24).replace(':00.000', ':07.000')) });
    expect(next.result).toMatchObject({ number: 5, damage: 1, found: { 'seal-broken': 1 } });
    expect(world.seal(5).stamps.map((stamp) => stamp.key)).toEqual([key(4, 'two')]);
  });

  it('finds a stamp that a seal names and that was replaced since', async () => {
    const { world } = await stampedWorld();
    world.bucket.rewrite(key(1, 'one'), {
      ...(world.bucket.objects.get(key(2, 'one')) ?? {}),
      writtenAt: new Date('2026-11-23T12:00:00Z'),
    });
    const requestStamp = answering(at(23).replace(':00.000', ':07.000'));
    const { result } = await world.audit(at(23), { plan: stampedPlan, requestStamp });
    expect(result).toMatchObject({ damage: 1, found: { forged: 1 } });
  });

  it('judges 1,000 that no seal names, those of its own authorities first, and says how many it did not see', async () => {
    const { world } = await stampedWorld();
    for (let one = 0; one < 1001; one += 1)
      world.bucket.put({ key: key(2, `x${one}`), content: Buffer.from('x'), contentType: 'x' }, new Date(at(22)));
    const requestStamp = answering(at(23).replace(':00.000', ':07.000'));
    const { result } = await world.audit(at(23), { plan: stampedPlan, requestStamp });
    expect(result?.found).toMatchObject({ 'seal-broken': 998, unreadable: 1 });
    expect(world.seal(4).stamps.map((stamp) => stamp.key)).toEqual([key(3, 'one'), key(3, 'two')]);
    const unread = world.state(4).open.first.filter(({ kind }) => kind === 'unreadable');
    expect(unread.map(({ problem }) => problem)).toEqual([
      expect.stringContaining('3 more time stamps that no seal names were not judged'),
    ]);
  });
});

describe('the times of seals', () => {
  const chain = (...times: readonly (readonly [string, string])[]) => ({
    seals: times.map(([seal, listedFrom], index) => ({ number: index + 1, seal, listedFrom }) as RightSeal),
  });
  const day = (date: number, time = '23:30:01') => `2026-11-${date}T${time}.000Z`;
  const stamp = (number: number, time: string) => ({ number, time, authority: 'one', root: '' });

  it.each<[string, ReturnType<typeof chain>, readonly string[], SealStamp[]?]>([
    ['are right if each lists soon after its time', chain([at(20), day(20)], [at(21), day(21)]), []],
    ['may lie five minutes and a day apart', chain([at(20), day(20, '23:25:00')], [at(21), day(22, '23:29:59')]), []],
    ['may not lie six minutes apart', chain([at(20), day(20, '23:24:00')]), ['more than 5 minutes before']],
    ['may not lie two days apart', chain([at(20), day(22)]), ['or a day after']],
    ['of listing go on', chain([at(21), day(21)], [at(20), day(20)]), ['before seal 1 did']],
    ['are not in the future', chain([day(28), day(28)]), ['in the future']],
    [
      'are not behind the stamp of a later seal',
      chain([at(21), day(21)], [at(22), day(22)]),
      ['later than a time stamp'],
      [stamp(2, at(21))],
    ],
    ['may be behind a stamp by what clocks differ', chain([at(21), day(21)]), [], [stamp(1, day(21, '22:00:00'))]],
  ])('%s', (_, seals, problems, stamps = []) => {
    const found = impossibleTimes(seals, stamps, new Date('2026-11-25T00:00:00Z'));
    expect(found.map(({ problem }) => problem)).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });

  it('decide of each seal by itself whether it had to be stamped, whatever the newest says of its own', () => {
    const seals = chain([at(20), day(20)], [at(21), '2099-01-01T00:00:00.000Z']);
    const options = { since: undefined, now: new Date('2026-12-24T00:00:00Z') };
    expect(unstampedFindings(seals, [], options)).toMatchObject([{ key: 'seals/00000001.jsonl' }]);
    const old = chain([at(20), day(20)], [at(21), '2026-01-01T00:00:00.000Z']);
    const since = new Date('2026-11-01T00:00:00Z');
    expect(unstampedFindings(old, [], { ...options, since })).toMatchObject([{ key: 'seals/00000001.jsonl' }]);
  });
});

describe('a second history that whoever holds the signing key makes a month later', () => {
  it('is found with the roots of the authorities alone, without any mail', async () => {
    const signingKey = new TestKey();
    const { world } = await stampedWorld(signingKey);
    expect(damageIn(await look(world.bucket, trusting))).toEqual([]);
    // The true stamps are of other hashes, and new ones tell the time at which they were asked for.
    const forged = await stampedWorld(signingKey, undefined, [
      ['one', 'two'],
      ['one', 'two'],
      ['one', 'two'],
    ]);
    const late = answering('2026-12-23T00:00:00Z');
    for (const number of [1, 2, 3]) {
      const sha256 = Buffer.from(forged.world.seal(number).sha256, 'hex');
      const { response } = await late(one.planned, sha256);
      const object = { key: key(number, 'one'), content: response, contentType: 'application/timestamp-reply' };
      forged.world.bucket.put(object, new Date('2026-12-23T00:00:00Z'));
    }
    expect(damageIn(await look(forged.world.bucket))).toEqual([]);
    const options = { now: new Date('2026-12-23T01:00:00Z'), concurrency: 4 };
    const { seen } = await verifyArchive(forged.world.bucket, options);
    // Without the roots it is not damage, and is said.
    expect(seen.sealed?.late.map(({ number, time }) => [number, time.slice(0, 10)])).toEqual([
      [1, '2026-12-23'],
      [2, '2026-12-23'],
      [3, '2026-12-23'],
    ]);
    expect(damageIn(await look(forged.world.bucket, trusting))).toEqual(['seal-broken']);
  });
});

function never(): never {
  throw new Error('it is there');
}
