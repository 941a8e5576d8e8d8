import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { damageKinds, type Finding, staysOpen } from '../../../archive/format/finding';
import { parseSealKey, sealStampKey } from '../../../archive/format/keys';
import { parseSeal, sha256Of } from '../../../archive/format/seal-file';
import { stampRequest } from '../../../archive/prove/stamps/request-stamp';
import { answerStamp } from '../../../local/stamp-authority/answer-stamp';
import { issueCertificate, ofIssuer, ofStamps } from '../../../local/stamp-authority/issue-certificate';
import { archivedIn, forgeRun, remove } from './attack-tools';
import { attackedWorld, attacks, recordKey, run } from './attacks';
import { damageIn, look, plan, type SealedWorld } from './sealed-world';

let untouched: SealedWorld;

beforeAll(async () => {
  untouched = await attackedWorld();
});

/** What a column of the table has: damage, what is unreadable, and firings of the audit without a seal. */
function told(findings: readonly Pick<Finding, 'kind' | 'key'>[]): string[] {
  const isTold = ({ kind, key }: Pick<Finding, 'kind' | 'key'>) =>
    damageKinds.includes(kind) || kind === 'unreadable' || key === 'seals/*';
  return [...new Set(findings.filter(isTold).map(({ kind }) => kind))].sort();
}

/** What follows from a run record never stands alone: the record is damage, or could not be read. */
function expectReason(findings: readonly Pick<Finding, 'kind'>[]): void {
  if (findings.some(({ kind }) => kind === 'unvouched'))
    expect(findings.some(({ kind }) => staysOpen(kind))).toBe(true);
}

/** What verify finds at noon of a day, by the columns of the table. Each has what those before it have, and one thing more. */
async function verified({ bucket, key, hashes }: SealedWorld, day: number): Promise<string[][]> {
  const publicKeys = [createPublicKey(key.privateKey)];
  const noon = new Date(`2026-11-${day}T12:00:00.000Z`);
  const columns = [{}, { publicKeys }, { publicKeys, heads: hashes.slice(-1) }, { publicKeys, heads: hashes }];
  return Promise.all(
    columns.map(async (options) => {
      const findings = await look(bucket, options, noon);
      expectReason(findings);
      return told(findings);
    }),
  );
}

const valid = { validFrom: new Date('2026-01-01'), validTo: new Date('2036-01-01') };
const root = issueCertificate({ name: 'Root', ...valid, extensions: ofIssuer() });
const signer = issueCertificate({ name: 'authority', ...valid, issuer: root, extensions: ofStamps() });

/**
 * What verify finds five days after a day with the key and the root of an authority, without any mail. The audits had their seals
 * stamped; whoever wrote others can have these stamped only then. Seals that were due meanwhile are left out.
 */
async function foundByStamps({ bucket, key, hashes }: SealedWorld, day: number): Promise<string[]> {
  const later = new Date(Date.UTC(2026, 10, day + 5, 12));
  const stamped = bucket.copy();
  for (const sealKey of stamped.keys('seals/0')) {
    const number = parseSealKey(sealKey);
    const body = stamped.objects.get(sealKey)?.body ?? Buffer.alloc(0);
    const line = body.subarray(0, Math.max(0, body.indexOf('\n')));
    const seal = parseSeal(line);
    if (number === undefined || typeof seal === 'string') continue;
    const sha256 = sha256Of(line);
    const time = hashes.includes(sha256) ? new Date(seal.seal) : later;
    const content = answerStamp(stampRequest(Buffer.from(sha256, 'hex')).bytes, { signer, time });
    const stampKey = sealStampKey({ number, authority: 'one' });
    stamped.put({ key: stampKey, content, contentType: 'application/timestamp-reply' }, time);
  }
  const options = { publicKeys: [createPublicKey(key.privateKey)], stampRoots: [root.certificate] };
  return told((await look(stamped, options, later)).filter(({ kind }) => kind !== 'absent'));
}

/** What the columns of the table in a page say, by attack. */
const tableIn = (page: string) =>
  new Map(
    [...readFileSync(join(__dirname, page), 'utf8').matchAll(/^\| (?!attack)([^|]*?) \|((?: [^|]*? \|){6})$/gm)].map(
      ([, name = '', cells = '']) => [
        name,
        cells
          .split('|')
          .slice(0, 6)
          .map((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, kind = '']) => kind)),
      ],
    ),
  );
const table = tableIn('attacks.md');

describe('an attack on a sealed archive', () => {
  it('finds nothing as long as nobody attacks', async () => {
    const world = untouched.copy();
    expect([...(await verified(world, 23)), await foundByStamps(world, 23)]).toEqual([[], [], [], [], []]);
    expect((await world.audit('2026-11-23T23:30:00.000Z')).result).toMatchObject({ number: 4, damage: 0 });
  });

  it('of the table is made here, and no other; docs/proof.md has nine of its rows', () => {
    expect(Object.keys(attacks)).toEqual([...table.keys()]);
    const inGuide = [...tableIn('../../../docs/proof.md')];
    expect(inGuide).toHaveLength(9);
    expect(inGuide).toEqual(inGuide.map(([name]) => [name, table.get(name)]));
  });

  it.each(Object.entries(attacks))('is found as the table says: %s', async (name, {
    does,
    next = 23,
    plan: own = {},
    unsealed = [],
  }) => {
    const world = untouched.copy();
    await does(world);
    const found = [...(await verified(world, next)), await foundByStamps(world, next)];
    const without = world.bucket.copy();
    remove(without, without.keys('seals/'));
    const time = `2026-11-${next}T23:30:00.000Z`;
    const { result, mails } = await world.audit(time, { plan: { ...plan, ...own } });
    // None of them takes the place of the next audit.
    expect(result).toMatchObject({ seal: time, isNew: true });
    const { findings } = world.state(result?.number ?? 0);
    expect([...found, told(findings as Finding[])]).toEqual(table.get(name));
    expectReason(findings as Finding[]);
    const isDamage = damageIn(findings).length > 0;
    // A seal of the same day without damage would make it the second mail of that day.
    expect(mails.at(-1)?.subject ?? 'no damage seen').toContain(isDamage ? 'DAMAGE' : 'no damage seen');
    // Without seals nobody sees it.
    expect(damageIn(await look(without))).toEqual(unsealed);
  });
});

it.each<[string, (world: SealedWorld) => unknown, string]>([
  ['replaced', ({ bucket }) => forgeRun(bucket, run), `only by ${recordKey}`],
  ['removed', ({ bucket }) => remove(bucket, [recordKey]), `${recordKey}, which is sealed, is gone`],
])('what a sealed run record no longer vouches for is counted and named by the audit that finds it %s', async (_, does, why) => {
  const world = untouched.copy();
  const objects = archivedIn(world.bucket, recordKey);
  await does(world);
  const { result, mails } = await world.audit('2026-11-23T23:30:00.000Z');
  const number = result?.number ?? 0;
  const [{ found }, { findings }] = [world.seal(number), world.state(number)];
  const unvouched = findings.filter(({ kind }) => kind === 'unvouched');
  expect([objects.length, found.unvouched]).toEqual([objects.length, objects.length]);
  expect(objects.length).toBeGreaterThan(0);
  expect(unvouched.map(({ key }) => key).sort()).toEqual([...objects].sort());
  expect(unvouched[0]?.problem).toContain(why);
  // It is the record that is damaged.
  expect(result?.damage).toBe(1);
  expect(mails.at(-1)?.text).toContain(
    `Unvouched, because their run records were replaced or are gone: ${objects.length}\n  `,
  );
});
