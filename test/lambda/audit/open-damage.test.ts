import { countOutcomes } from '../../../archive/format/completeness';
import { counted, moreOf } from '../../../archive/format/counted';
import { emptyState, type SealState } from '../../../archive/format/seal-state';
import { dueFrom } from '../../../lambda/audit/agenda';
import { Findings } from '../../../lambda/audit/findings';
import type { MemoryObject } from '../../archive/prove/history/memory-bucket';
import { recordText } from '../../support/record-text';
import { forgeRun, readRecord, replaceObject } from './attack-tools';
import type { Audited, AuditOptions } from './invoke-audit';
import { damageIn, look, plan, SealedWorld } from './sealed-world';

let world: SealedWorld;

beforeEach(async () => {
  world = new SealedWorld();
  await world.collectDay(10, [], ['06', '18']);
});

const at = (day: number) => `2026-11-${day}T23:30:00.000Z`;

const textOf = ({ mails }: Audited) => mails[0]?.text ?? '';

/** What was there, to be put back as it was. */
function stored(key: string): MemoryObject {
  const object = world.bucket.objects.get(key);
  if (object === undefined) throw new Error(`there is no ${key}`);
  return object;
}

const keyOf = (prefix: string, day: number) =>
  world.bucket.keys(prefix).find((key) => key.includes(`date=2026-11-${day}`)) ?? '';

describe('damage', () => {
  // Damage of an object that cannot be read would be found as damage all the same.
  it.each<[string, (key: string) => unknown]>([
    ['logs/', (key) => world.bucket.rewrite(key, { contentType: 'text/html' })],
    ['configurations/', (key) => world.bucket.corrupt(key, (body) => body.subarray(1))],
  ])('of what cannot be looked at stays open: %s', async (prefix, damage) => {
    const [key = ''] = world.bucket.keys(prefix);
    damage(key);
    await world.audit(at(10));
    world.bucket.refused.add(key);
    expect((await world.audit(at(11))).result?.damage).toBe(1);
  });

  it('of an object stays open while the run record that says what it should be cannot be read', async () => {
    const log = keyOf('logs/', 10);
    const sound = stored(log);
    world.bucket.objects.delete(log);
    await world.audit(at(10));
    world.bucket.refused.add(keyOf('runs/', 10));
    const { result } = await world.audit(at(11));
    expect([result?.damage, world.state(2).open.first]).toEqual([
      1,
      [expect.objectContaining({ kind: 'missing', key: log }), expect.objectContaining({ kind: 'unreadable' })],
    ]);
    world.bucket.objects.set(log, sound);
    // The second time, that the record cannot be read is damage too.
    await world.audit(at(12));
    world.bucket.refused.clear();
    expect((await world.audit(at(13))).result?.damage).toBe(0);
  });

  it.each<[string, (log: string) => unknown]>([
    ['missing', (log) => world.bucket.objects.delete(log)],
    ['contradiction', (log) => replaceObject(world.bucket, log)],
  ])('of an object is not repaired while the run record that names it is gone: %s', async (kind, damage) => {
    const event = { scheduledTime: '2026-11-10T07:00:00.000Z' };
    await world.collect(event.scheduledTime, ['b']);
    await world.collect('2026-11-10T07:02:00.000Z', [], event);
    const [, log = ''] = world.bucket.keys('logs/cluster=b/');
    const [, , second = ''] = world.bucket.keys('runs/');
    const sound = stored(second);
    damage(log);
    await world.audit(at(10));
    world.bucket.objects.delete(second);
    const gone = await world.audit(at(11));
    expect(gone.result?.damage).toBe(1);
    expect(textOf(gone)).not.toContain('Repaired');
    world.bucket.objects.set(second, sound);
    await world.audit(at(12));
    expect(world.state(3).open.first).toEqual([expect.objectContaining({ kind, key: log, since: at(10) })]);
  });

  it('of a run stays open while its configuration cannot be read', async () => {
    await world.audit(at(10));
    const broken = { kind: 'contradiction' as const, key: keyOf('runs/', 10), problem: 'x', since: at(10) };
    await world.changeState(1, { open: counted([broken], 1) });
    const [configuration = ''] = world.bucket.keys('configurations/');
    world.bucket.refused.add(configuration);
    await world.audit(at(11));
    expect(world.state(2).open.first).toContainEqual(broken);
    world.bucket.refused.clear();
    expect((await world.audit(at(12))).result?.damage).toBe(0);
  });

  it('of an object is not repaired by a run record that was replaced to agree with it', async () => {
    const [log, record] = [keyOf('logs/', 10), keyOf('runs/', 10)];
    const soundRecord = stored(record);
    replaceObject(world.bucket, log);
    expect((await world.audit(at(10))).result?.damage).toBe(1);
    await forgeRun(world.bucket, '20261110T060000.000Z');
    const forged = await world.audit(at(11));
    // The run record is the damage: it alone says what the object should be.
    expect(forged.result?.damage).toBe(1);
    expect(textOf(forged)).not.toContain('Repaired');
    world.bucket.objects.set(record, soundRecord);
    await world.audit(at(12));
    expect(world.state(3).open.first).toContainEqual(expect.objectContaining({ key: log, since: at(10) }));
  });

  it('of an object is not sealed because a run record that was replaced names it without a hash', async () => {
    const [log, record] = [keyOf('logs/', 10), keyOf('runs/', 10)];
    const sound = [log, record].map((key) => [key, stored(key)] as const);
    await world.audit(at(10));
    replaceObject(world.bucket, log);
    const { outcomes: before, ...run } = readRecord(world.bucket, record);
    const outcomes = before.map(({ sha256, ...one }) =>
      one.key === log ? { ...one, outcome: 'already-archived' as const } : { ...one, sha256 },
    );
    const body = Buffer.from(recordText({ ...run, counts: countOutcomes(outcomes), outcomes }));
    world.bucket.rewrite(record, { body, writtenAt: new Date('2026-11-11T10:00:00.000Z') });
    expect((await world.audit(at(11))).result?.found).toMatchObject({ forged: 1 });
    expect(world.seal(2).objects).toEqual([]);
    for (const [key, object] of sound) world.bucket.objects.set(key, object);
    expect((await world.audit(at(12))).result?.damage).toBe(0);
  });

  it('that an audit had no time to look at stays open', async () => {
    world.bucket.corrupt(keyOf('logs/', 10), (body) => body.subarray(1));
    await world.audit(at(10));
    const { requests } = await world.copy().audit(at(11));
    for (let outOfTimeAfter = 0; outOfTimeAfter < requests; outOfTimeAfter += 1)
      expect((await world.copy().audit(at(11), { outOfTimeAfter })).result?.damage).toBe(1);
  });

  it.each<[string, () => unknown]>([
    ['a run record', () => world.bucket.objects.delete(keyOf('runs/', 10))],
    ['an object', () => world.bucket.corrupt(keyOf('logs/', 10), (body) => body.subarray(1))],
  ])('is over when the lifecycle would have removed it by now: of %s', async (_what, damage) => {
    const keeping = { plan: { ...plan, retentionDays: 3, rereadDays: 1 } };
    await world.audit(at(10), keeping);
    damage();
    expect((await world.audit(at(11), keeping)).result?.damage).toBe(1);
    for (const key of [
      ...world.bucket.keys('runs/'),
      ...world.bucket.keys('logs/'),
      ...world.bucket.keys('manifests/'),
    ])
      world.bucket.objects.delete(key);
    const { result } = await world.audit(at(16), keeping);
    expect([result?.damage, world.state(3).open.first]).toEqual([0, []]);
  });

  it('that is unsealed is not repaired because it is sealed now, but by the seal that had it', async () => {
    await world.audit(at(10));
    for (const day of [11, 12]) {
      await world.collectDay(day, [], ['06', '18']);
      await world.audit(at(day));
    }
    const middle = stored('seals/00000002.jsonl');
    world.bucket.objects.delete('seals/00000002.jsonl');
    expect((await world.audit(at(13))).result?.found).toMatchObject({ 'seal-broken': 1, unsealed: 2 });
    expect((await world.audit(at(14))).result?.damage).toBe(3);
    expect(damageIn(await look(world.bucket))).toEqual(['seal-broken', 'unsealed']);
    world.bucket.objects.set('seals/00000002.jsonl', middle);
    expect((await world.audit(at(15))).result?.damage).toBe(0);
    expect(damageIn(await look(world.bucket))).toEqual([]);
  });

  it('that a mail does not pin is acknowledged for nobody who gives that mail', async () => {
    const log = keyOf('logs/', 10);
    world.bucket.objects.delete(log);
    const { result } = await world.audit(at(10));
    const acknowledged = [{ kind: 'missing', key: log, why: 'x' }];
    const later = await world.audit(at(11), { plan: { ...plan, acknowledged } });
    const reasonsWith = async (heads: readonly string[]) =>
      (await look(world.bucket, { heads })).flatMap(({ kind, acknowledged: why }) => (kind === 'missing' ? why : []));
    expect(await reasonsWith([result?.sha256 ?? ''])).toEqual([undefined]);
    expect(await reasonsWith([result?.sha256 ?? '', later.result?.sha256 ?? ''])).toEqual(['x']);
  });
});

describe('more than an audit can check', () => {
  const lost = (count: number) =>
    Array.from({ length: count }, (_, one) => ({
      kind: 'missing' as const,
      key: `logs/cluster=x${String(one).padStart(5, '0')}/date=2026-11-10/20261110T060000.000Z.json.gz`,
      problem: 'it is not there',
      since: at(10),
    }));

  /** An audit after a seal that says something else of what is open. */
  async function auditAfter(changes: Partial<SealState>, more: Partial<AuditOptions> = {}) {
    await world.changeState(1, changes);
    return world.audit(at(11), more);
  }

  it('is checked 1,000 at a time, the one whose last check is oldest first', async () => {
    const log = keyOf('logs/', 10);
    world.bucket.corrupt(log, (body) => body.subarray(1));
    const damaged = { kind: 'damaged' as const, key: log, problem: 'x', since: at(10) };
    await world.audit(at(10));
    expect((await auditAfter({ open: counted([damaged, ...lost(1500)], 2000) })).result?.damage).toBe(502);
    // It was checked, and comes behind those that were not.
    expect(world.state(2).open.first.at(-1)).toMatchObject({ kind: 'damaged', key: log, since: at(10) });
    expect(world.state(2).open.first[0]?.key).toContain('cluster=x00999');
    expect((await world.audit(at(12))).result?.damage).toBe(1);
  });

  it('and carry is open until all was read again', async () => {
    await world.audit(at(10));
    const changes = { open: { count: 7, first: [] }, todo: [dueFrom('reading', new Date(at(10)))] };
    const { requests } = await world.copy().audit(at(11));
    expect((await auditAfter(changes, { outOfTimeAfter: requests })).result?.damage).toBe(7);
    expect(world.state(2).open.count).toBe(7);
    const { result } = await world.audit(at(12));
    expect([result?.damage, result?.verified.objects]).toEqual([0, 12]);
  });

  it('and carry makes the next audits read everything again', async () => {
    await world.audit(at(10));
    for (let one = 0; one < 1001; one += 1)
      world.bucket.put({ key: `runs/${one}`, content: Buffer.from('x'), contentType: 'x' }, new Date(at(10)));
    await auditAfter({ open: counted(lost(50_000), 50_000) });
    const { open, todo } = world.state(2);
    expect([moreOf(open), todo]).toEqual([1, expect.arrayContaining([dueFrom('reading', new Date(at(11)))])]);
  });

  it('that could not be read is not repaired by what is not damage at the same key', () => {
    const [one = { kind: 'missing', key: '', problem: '', since: '' }] = lost(1);
    const open = counted([{ ...one, kind: 'unreadable' as const }], 1);
    const findings = new Findings();
    findings.find('unvouched', one.key, 'not vouched for');
    const settled = findings.settle({ state: { ...emptyState, open }, records: new Map() }, new Map(), at(11));
    expect([settled.open, settled.repaired.count]).toEqual([open, 0]);
  });

  it('and carry is counted, and fits into a state', () => {
    const chain = { state: emptyState, records: new Map() };
    const findings = new Findings();
    for (const { key } of lost(50_007)) findings.find('missing', key, 'it is not there');
    for (const { key } of lost(7)) findings.find('missing', key, 'again');
    const settled = findings.settle(chain, new Map(), at(10));
    expect([settled.open.first.length, moreOf(settled.open), settled.found, settled.findings.length]).toEqual([
      50_000,
      7,
      { missing: 50_007 },
      100,
    ]);
    // What is found again may be among those without room.
    const [known] = lost(1);
    const again = [{ kind: 'missing' as const, problem: '', since: '', ...known, key: 'runs/x' }];
    findings.find('missing', 'runs/x', 'it is not there');
    const state = { ...emptyState, open: counted(again, 1) };
    const { repaired } = findings.settle(
      { ...chain, state },
      new Map(again.map((one) => [one, 'repaired' as const])),
      at(11),
    );
    expect(repaired.count).toBe(0);
    const long = new Findings();
    for (let count = 0; count < 8000; count += 1) long.find('unrecorded', `runs/${count}${'\u0001'.repeat(900)}`, 'x');
    const { open } = long.settle(chain, new Map(), at(10));
    expect([open.count, JSON.stringify(open).length < 2 ** 25]).toEqual([8000, true]);
  });
});
