import { sealStateKey } from '../../../archive/format/keys';
import { damageIn, look, plan, SealedWorld } from './sealed-world';

const at = (day: number) => `2026-11-${day}T23:30:00.000Z`;
const stateKey = (world: SealedWorld, number: number) => sealStateKey(world.seal(number).state);

describe('the state of a seal', () => {
  let world: SealedWorld;
  let log: string;

  /** Three days; on the second a log is damaged, and on the third a cluster fails. */
  beforeEach(async () => {
    world = new SealedWorld();
    await world.live(20);
    [log = ''] = world.bucket.keys('logs/');
    await world.collectDay(21);
    world.bucket.corrupt(world.bucket.keys('logs/cluster=b/').at(-1) ?? '', (body) => body.subarray(1));
    await world.audit(at(21));
    await world.collectDay(22, ['c']);
    await world.audit(at(22));
  });

  const remove = (...numbers: readonly number[]) => {
    for (const number of numbers) world.bucket.objects.delete(stateKey(world, number));
  };

  it('that is lost is damage until it is there again, and the next audit judges everything since the one before again', async () => {
    const kept = world.bucket.objects.get(stateKey(world, 3));
    const key = stateKey(world, 3);
    if (kept === undefined) throw new Error('seal 3 has no state');
    remove(3);
    expect(damageIn(await look(world.bucket))).toEqual(['damaged', 'seal-broken']);
    const { result, mails } = await world.audit(at(23));
    expect(result).toMatchObject({ number: 4, damage: 2, found: { 'seal-broken': 1, damaged: 1 } });
    expect(mails[0]?.text).toContain(
      `seal-broken ${key}\n    new: the state of seal 3: it is not there; open findings that may be lost: 1; all since seal 2 is judged again`,
    );
    // What only the lost state said is found out again.
    expect(world.state(4).failing).toMatchObject([{ cluster: 'c', runs: 4, lastArchived: '2026-11-21T18:00:00.000Z' }]);
    expect(world.state(4).open.first.map(({ since }) => since)).toContain(at(21));
    expect((await world.audit(at(24))).result?.damage).toBe(2);
    expect(damageIn(await look(world.bucket))).toEqual(['damaged', 'seal-broken']);
    world.bucket.objects.set(key, kept);
    expect((await world.audit(at(25))).result?.damage).toBe(1);
    expect(damageIn(await look(world.bucket))).toEqual(['damaged']);
  });

  it('is taken from the newest that is right, and without any all of the archive is read again', async () => {
    // Damage that no audit has seen yet, in content that was read before.
    world.bucket.corrupt(log, (body) => body.subarray(1));
    const copy = world.copy();
    remove(2, 3);
    expect((await world.audit(at(23))).mails[0]?.text).toContain('all since seal 1 is judged again');
    expect(world.state(4).open.first).not.toContainEqual(expect.objectContaining({ key: log }));
    world = copy;
    remove(1, 2, 3);
    const { mails, result } = await world.audit(at(23));
    expect(mails[0]?.text).toContain('all of the archive is read again');
    expect(world.state(4).open.first).toContainEqual(expect.objectContaining({ key: log }));
    expect(result?.verified.objects).toBe(72 - 8);
  });

  it.each([
    0, 3, 7, 11, 15,
  ])('that is gone leaves nothing unread, also where %i requests later the time is over', async (outOfTimeAfter) => {
    remove(1, 2, 3);
    const first = await world.audit(at(23), { outOfTimeAfter });
    const second = await world.audit(at(24));
    expect((first.result?.verified.objects ?? 0) + (second.result?.verified.objects ?? 0)).toBeGreaterThanOrEqual(
      72 - 8,
    );
    expect(second.result?.verified.carriedOver).toBe(0);
  });

  it('of an earlier seal may be gone: nothing needs it', async () => {
    remove(1, 2);
    expect(damageIn(await look(world.bucket))).toEqual(['damaged']);
    expect((await world.audit(at(23))).result?.damage).toBe(1);
  });

  it('that cannot be read now ends the audit: another time it may be', async () => {
    const open = world.bucket.open.bind(world.bucket);
    const key = stateKey(world, 3);
    world.bucket.open = (one) => (one === key ? Promise.reject(new Error('reset')) : open(one));
    await expect(world.audit(at(23))).rejects.toThrow('reset');
    expect(world.bucket.keys('seals/0')).toHaveLength(3);
  });
});

it('of two audits at once, the one that loses leaves a state that no seal names, and goes on from the other', async () => {
  const world = new SealedWorld();
  await world.live(20);
  await world.collectDay(21);
  // Both by one clock of S3.
  const other = { plan: { ...plan, schedule: { ...plan.schedule, enabled: false } }, start: new Date(at(21)) };
  const both = await Promise.all([world.audit(at(21)), world.audit('2026-11-21T23:30:01.000Z', other)]);
  expect(both.map(({ result }) => result?.number).sort()).toEqual([2, 3]);
  const named = [1, 2, 3].map((number) => stateKey(world, number));
  const orphans = world.bucket.keys('seals/states/').filter((key) => !named.includes(key));
  expect(orphans).toHaveLength(1);
  expect(damageIn(await look(world.bucket))).toEqual([]);
  expect((await world.audit(at(22))).result).toMatchObject({ number: 4, damage: 0 });
});
