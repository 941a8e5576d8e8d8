import { damageKinds } from '../../../archive/format/finding';
import { objectKey } from '../../../archive/format/keys';
import { openDamage } from '../../../archive/prove/seals/open-damage';
import { invoke } from '../../archive/prove/history/invocation';
import { collection, look, plan, SealedWorld } from './sealed-world';

const run = '2026-11-20T06:00:00.000Z';
const failed = objectKey({ resource: 'manifest', cluster: 'b', run: new Date(run) });

/** Whatever happens in a world that three audits have seen. */
const worlds: Readonly<Record<string, (world: SealedWorld, at: string) => Promise<readonly string[]>>> = {
  'an object planted under a run of known clusters, and of one that nobody knows': async (world, at) => {
    const whole = new SealedWorld([...plan.clusters, { uid: 'zz' }]);
    await whole.collect(run);
    const keys = [failed, objectKey({ resource: 'manifest', cluster: 'zz', run: new Date(run) })];
    for (const key of keys) {
      const object = whole.bucket.objects.get(key);
      if (object === undefined) throw new Error(`there is no ${key}`);
      world.bucket.objects.set(key, { ...object, writtenAt: new Date(at) });
    }
    return keys.map((key) => `unrecorded ${key}`);
  },
  'a late completion that was killed before its record': async (world, at) => {
    const before = new Set(world.bucket.keys(''));
    const happening = {
      collection,
      event: { run },
      start: new Date(at),
      failing: new Set<string>(),
      random: () => 0.6,
    };
    for (let killedAfter = 4; world.bucket.objects.size === before.size; killedAfter += 1)
      await invoke({ bucket: world.bucket, ...happening, killedAfter });
    return world.bucket.keys('').flatMap((key) => (before.has(key) ? [] : `unrecorded ${key}`));
  },
  'a sealed object deleted': async (world) => {
    const [key = ''] = world.bucket.keys('logs/');
    world.bucket.objects.delete(key);
    return [`missing ${key}`];
  },
};

const nameOf = ({ kind, key }: { readonly kind: string; readonly key: string }) => `${kind} ${key}`;
const audited = async (world: SealedWorld, time: string, more = {}) => {
  const { result } = await world.audit(time, { plan: { ...plan, ...more } });
  return openDamage({ ...world.seal(result?.number ?? 0), ...world.state(result?.number ?? 0) }).findings.map(nameOf);
};

const verified = async (world: SealedWorld, time: string) =>
  (await look(world.bucket, {}, new Date(time))).filter(({ kind }) => damageKinds.includes(kind)).map(nameOf);

describe('behind the last audit', () => {
  let world: SealedWorld;

  beforeEach(async () => {
    world = new SealedWorld();
    await world.collect(run, ['b']);
    for (const day of [20, 21, 22]) {
      expect(await audited(world, `2026-11-${day}T23:30:00.000Z`)).toEqual([]);
      await world.collect(`2026-11-${day + 1}T06:00:00.000Z`);
    }
  });

  it.each(Object.entries(worlds))('%s is found by the next pass, and by verify alike', async (_, happen) => {
    const done = await happen(world, '2026-11-23T09:00:00.000Z');
    expect(done.length).toBeGreaterThan(0);
    expect((await audited(world, '2026-11-24T23:30:00.000Z', { rereadDays: 1 })).sort()).toEqual([...done].sort());
    expect((await verified(world, '2026-11-25T00:00:00.000Z')).sort()).toEqual([...done].sort());
    // Its hash is sealed: nobody can replace it any more.
    const sealed = world.seal(4).objects.map(({ key }) => `unrecorded ${key}`);
    expect(sealed.sort()).toEqual(done.filter((one) => one.startsWith('unrecorded')).sort());
  });

  it.each(
    Object.entries(worlds),
  )('%s, 100 days later, is found by verify at once, and by the next listing', async (_, happen) => {
    // The first of these is still a new part; the last is a whole pass, 90 days behind the first.
    for (const time of ['2026-11-27', '2026-11-28', '2027-02-26']) await audited(world, `${time}T23:30:00.000Z`);
    const done = [...(await happen(world, '2027-03-03T09:00:00.000Z'))].sort();
    expect(await audited(world, '2027-03-04T23:30:00.000Z')).toEqual([]);
    expect((await verified(world, '2027-03-05T00:00:00.000Z')).sort()).toEqual(done);
    expect((await audited(world, '2027-05-28T23:30:00.000Z')).sort()).toEqual(done);
    // It stays open.
    expect((await audited(world, '2027-05-29T23:30:00.000Z')).sort()).toEqual(done);
  });
});
