import { damageIn, look, plan, SealedWorld } from './sealed-world';

const days = ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23'];

let world: SealedWorld;

beforeEach(async () => {
  world = new SealedWorld();
  for (const hour of ['12', '18']) await world.collect(`${days[0]}T${hour}:00:00.000Z`);
});

const audit = (day: number, more = {}) => world.audit(`${days[day]}T23:30:00.000Z`, more);

describe('a run record that cannot be read', () => {
  it('stops nothing, is not damage, and is sealed by the audit that can read it', async () => {
    const [key = '', other = ''] = world.bucket.keys('runs/');
    world.bucket.refused.add(key);
    const { result, mails } = await audit(0);
    expect(result).toMatchObject({
      found: { unreadable: 1 },
      damage: 0,
      verified: { objects: 6, carriedOverRecords: 1 },
    });
    expect(mails[0]?.subject).toContain('not everything could be read');
    expect(world.seal(1).records.map((one) => one.key)).toEqual([other]);
    expect(world.state(1).open.first).toMatchObject([{ kind: 'unreadable', key, since: `${days[0]}T23:30:00.000Z` }]);
    const findings = await look(world.bucket);
    expect([damageIn(findings), findings.filter(({ kind }) => kind === 'unreadable')]).toEqual([
      [],
      [expect.objectContaining({ key, problem: expect.stringContaining('403 InvalidObjectState') })],
    ]);
    world.bucket.refused.clear();
    expect(damageIn(await look(world.bucket))).toEqual([]);
    expect((await audit(1)).result).toMatchObject({ number: 2, damage: 0 });
    expect([world.seal(2).records, world.state(2).open.first]).toMatchObject([[{ key }], []]);
  });

  it('fails the audit if no other can be read either', async () => {
    for (const key of world.bucket.keys('runs/')) world.bucket.refused.add(key);
    await expect(audit(0)).rejects.toThrow('403 InvalidObjectState');
    expect(world.bucket.keys('seals/')).toEqual([]);
  });

  it('stops nothing in an archive where nothing else is new, as long as what was sealed can be read', async () => {
    await audit(0);
    await world.collect('2026-11-21T12:00:00.000Z');
    const key = world.bucket.keys('runs/').at(-1) ?? '';
    world.bucket.refused.add(key);
    expect((await audit(1)).result).toMatchObject({ number: 2, found: { unreadable: 1 }, damage: 0 });
    expect(world.seal(2).unread).toEqual({ behind: null, keys: [key] });
    for (const one of world.bucket.keys('runs/')) world.bucket.refused.add(one);
    await expect(audit(2)).rejects.toThrow('403 InvalidObjectState');
  });

  it('is damage once it was sealed and cannot be read in two audits', async () => {
    await audit(0);
    const [key = ''] = world.bucket.keys('runs/');
    world.bucket.refused.add(key);
    const reading = { plan: { ...plan, rereadDays: 1 } };
    const kinds: unknown[] = [];
    for (const day of [1, 2]) kinds.push((await audit(day, reading)).result?.found);
    expect(kinds).toEqual([expect.objectContaining({ unreadable: 1 }), expect.objectContaining({ damaged: 1 })]);
  });
});

describe('a configuration that cannot be read', () => {
  it('stops neither audit nor verify, and both name it', async () => {
    const [key = ''] = world.bucket.keys('configurations/');
    world.bucket.refused.add(key);
    const { result } = await audit(0);
    expect(result).toMatchObject({ found: { unreadable: 1 }, damage: 0, verified: { carriedOverRecords: 0 } });
    expect(world.seal(1).records).toHaveLength(2);
    expect(world.state(1).open.first).toMatchObject([{ kind: 'unreadable', key }]);
    const findings = await look(world.bucket);
    expect([damageIn(findings), findings.filter((one) => one.key === key).map(({ kind }) => kind)]).toEqual([
      [],
      ['unreadable'],
    ]);
  });
});

describe('an object that cannot be read', () => {
  it('is read again by every audit until it can be, and is damage from the second on', async () => {
    const [key = ''] = world.bucket.keys('logs/');
    world.bucket.refused.add(key);
    expect((await audit(0)).result).toMatchObject({ found: { unreadable: 1 }, damage: 0 });
    for (const day of [1, 2]) expect((await audit(day)).result).toMatchObject({ found: { damaged: 1 }, damage: 1 });
    expect(world.state(3).open.first).toMatchObject([{ kind: 'damaged', key, since: `${days[0]}T23:30:00.000Z` }]);
    world.bucket.refused.clear();
    expect((await audit(3)).result?.damage).toBe(0);
    expect(world.state(4).open.first).toEqual([]);
  });
});
