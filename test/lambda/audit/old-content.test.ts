import type { Seal } from '../../../archive/format/seal';
import { replaceObject } from './attack-tools';
import { damageIn, look, plan, SealedWorld } from './sealed-world';

const morning = '2026-11-20T23:30:00.000Z';

let world: SealedWorld;

beforeEach(() => {
  world = new SealedWorld();
});

describe('old content', () => {
  it('is not read again unless that is asked for, and then once in so many days', async () => {
    await world.collectDay(20);
    const reading = { plan: { ...plan, rereadDays: 3 } };
    await world.audit(morning, reading);
    const objectsOf = async (time: string, more = {}) => (await world.audit(time, more)).result?.verified.objects;
    expect(await objectsOf('2026-11-22T23:30:00.000Z', reading)).toBe(0);
    expect(await objectsOf('2026-11-25T23:30:00.000Z', reading)).toBe(24);
    expect(await objectsOf('2026-11-26T23:30:00.000Z', reading)).toBe(0);
    expect(await objectsOf('2026-11-28T23:30:00.000Z', reading)).toBe(24);
    expect(await objectsOf('2026-12-26T23:30:00.000Z')).toBe(0);
    // What is there is compared within 90 days all the same.
    expect(await objectsOf('2027-03-26T23:30:00.000Z')).toBe(0);
    const listing = world.state(world.bucket.keys('seals/0').length).todo.find(({ what }) => what === 'listing');
    expect(listing).toMatchObject({ since: '2027-03-26T23:30:00.000Z', isDone: true });
  });
});

describe('what a seal says', () => {
  const reading = { plan: { ...plan, rereadDays: 1 } };
  const late = '2026-11-23T23:30:00.000Z';

  it.each([
    ['a run record', (seal: Seal) => seal.records[0]?.key],
    ['an object that no record has a hash for', (seal: Seal) => seal.objects[0]?.key],
  ])('of %s is compared again when old content is', async (_, keyOf) => {
    await world.collectAfterKill('2026-11-20T18:00:00.000Z');
    await world.audit(morning, reading);
    const key = keyOf(world.seal(1)) ?? '';
    expect((await world.copy().audit(late, reading)).result?.damage).toBe(0);
    if (key.startsWith('runs/'))
      world.bucket.rewrite(key, {
        body: Buffer.from(String(world.bucket.objects.get(key)?.body).replace('"i"', '"j"')),
      });
    else replaceObject(world.bucket, key);
    expect((await world.audit(late, reading)).result?.found).toMatchObject({ forged: 1 });
    expect(world.state(2).findings).toContainEqual(expect.objectContaining({ kind: 'forged', key }));
  });

  it.each([
    ['what can be read of it', 'runs/'],
    ['its configuration', 'configurations/'],
  ])('of a run record is compared with %s', async (_, prefix) => {
    await world.collect('2026-11-20T18:00:00.000Z');
    await world.audit(morning, reading);
    const [key = ''] = world.bucket.keys(prefix);
    world.bucket.corrupt(key, (body) => Buffer.concat([body, Buffer.from(' ')]));
    expect((await world.audit(late, reading)).result?.found).toMatchObject({ damaged: 1 });
  });

  it('of an object that no record has a hash for is missing if it is gone', async () => {
    await world.collectAfterKill('2026-11-20T18:00:00.000Z');
    await world.audit(morning, reading);
    const [{ key } = { key: '' }] = world.seal(1).objects;
    world.bucket.objects.delete(key);
    expect((await world.audit(late, reading)).result?.found).toMatchObject({ missing: 1 });
    expect(await look(world.bucket)).toContainEqual(expect.objectContaining({ kind: 'missing', key }));
  });
});

describe('what the lifecycle removed', () => {
  it('is not missing by the retention that the audit was deployed with, and is without one', async () => {
    await world.collectDay(20);
    const kept = { plan: { ...plan, retentionDays: 3 } };
    await world.audit(morning, kept);
    for (const prefix of ['logs/', 'manifests/', 'runs/'])
      for (const key of world.bucket.keys(prefix)) world.bucket.objects.delete(key);
    const expired = world.copy();
    const late = '2026-11-26T23:30:00.000Z';
    expect((await expired.audit(late, kept)).result?.damage).toBe(0);
    expect(damageIn(await look(expired.bucket))).toEqual([]);
    const early = '2026-11-22T12:00:00.000Z';
    expect((await world.audit(early, kept)).result?.found).toMatchObject({ missing: 4 });
  });
});
