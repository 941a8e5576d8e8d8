import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { damageKinds, type Finding } from '../../../lambda/verify/finding';
import type { MemoryBucket } from '../verify/history/memory-bucket';
import { remove } from './attack-tools';
import { attackedWorld, attacks } from './attacks';
import { damageIn, look, type SealedWorld } from './sealed-world';

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

/** What verify finds at noon of a day, by the columns of the table. Each has what those before it have, and one thing more. */
async function verified({ bucket, key, hashes }: SealedWorld, day: number) {
  const publicKeys = [createPublicKey(key.privateKey)];
  const noon = new Date(`2026-11-${day}T12:00:00.000Z`);
  const lookAt = async (options: Parameters<typeof look>[1]) => told(await look(bucket, options, noon));
  return {
    alone: await lookAt({}),
    withKey: await lookAt({ publicKeys }),
    withMail: await lookAt({ publicKeys, heads: hashes.slice(-1) }),
    withMails: await lookAt({ publicKeys, heads: hashes }),
  };
}

const nothing = { alone: [], withKey: [], withMail: [], withMails: [] };

describe('an attack on a sealed archive', () => {
  it('is none as long as nobody attacks', async () => {
    const world = untouched.copy();
    expect(await verified(world, 23)).toEqual(nothing);
    expect((await world.audit('2026-11-23T23:30:00.000Z')).result).toMatchObject({ number: 4, damage: 0 });
  });

  it.each(Object.entries(attacks))('is found: %s', async (_, {
    does,
    next = 23,
    nextAudit,
    unsealed = [],
    ...found
  }) => {
    const world = untouched.copy();
    await does(world);
    expect(await verified(world, next)).toEqual(found);
    const without = withoutSeals(world.bucket);
    const time = `2026-11-${next}T23:30:00.000Z`;
    const { result, mails } = await world.audit(time);
    // Nobody can take the place of the next audit.
    expect(result).toMatchObject({ seal: time, isNew: true });
    const { findings } = world.seal(result?.number ?? 0);
    expect(told(findings as Finding[])).toEqual(nextAudit);
    const isDamage = damageIn(findings).length > 0;
    // A seal of the same day without damage would make it the second mail of that day.
    expect(mails.at(-1)?.subject ?? 'nothing is damaged').toContain(isDamage ? 'DAMAGE' : 'nothing is damaged');
    // Without seals nobody sees it.
    expect(damageIn(await look(without))).toEqual(unsealed);
  });
});

describe('the table of attacks in docs/proof.md', () => {
  const page = readFileSync(join(__dirname, '../../../docs/proof.md'), 'utf8');
  const kindsIn = (cell = '') => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, kind = '']) => kind);
  const columns = ['alone', 'withKey', 'withMail', 'withMails', 'nextAudit'] as const;
  const rows = [...page.matchAll(/^\| (?!attack)([^|]*?) \|((?: [^|]*? \|){5})$/gm)].map(
    ([, name = '', cells = '']) => [
      name,
      Object.fromEntries(columns.map((column, at) => [column, kindsIn(cells.split('|')[at])])),
    ],
  );

  it('has every attack of this test, and no other, with what finds it', () => {
    const tested = Object.entries(attacks).map(([name, attack]) => [
      name,
      Object.fromEntries(columns.map((column) => [column, attack[column]])),
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(tested));
  });
});

function withoutSeals(bucket: MemoryBucket): MemoryBucket {
  const copy = bucket.copy();
  remove(copy, copy.keys('seals/'));
  return copy;
}
