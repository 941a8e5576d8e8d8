import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryBucket } from '../verify/history/memory-bucket';
import { remove } from './attack-tools';
import { attackedWorld, attacks } from './attacks';
import { damageIn, look, type SealedWorld } from './sealed-world';

let world: SealedWorld;
let newest: string;

beforeEach(async () => {
  world = await attackedWorld();
  newest = world.seal(3).sha256;
});

describe('an attack on a sealed archive', () => {
  it('is none as long as nobody attacks', async () => {
    const publicKeys = [createPublicKey(world.key.privateKey)];
    expect(damageIn(await look(world.bucket, { head: newest, publicKeys }))).toEqual([]);
    expect((await world.audit('2026-11-23T23:30:00.000Z')).result).toMatchObject({ number: 4, damage: 0 });
  });

  it.each(Object.entries(attacks))('is found: %s', async (_, { does, alone, withHead, withKey, nextAudit }) => {
    const publicKeys = [createPublicKey(world.key.privateKey)];
    const without = unsealed(world.bucket);
    await does(world);
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
