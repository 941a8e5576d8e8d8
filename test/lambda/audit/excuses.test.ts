import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { configurationKey, sealKey } from '../../../archive/format/keys';
import { formatTime } from '../../../lambda/plain-text';
import type { MemoryObject } from '../../archive/prove/history/memory-bucket';
import { collection, damageIn, look, plan, SealedWorld } from './sealed-world';

const at = (day: number) => `2026-11-${day}T23:30:00.000Z`;
let world: SealedWorld;

beforeEach(async () => {
  world = new SealedWorld();
});

describe('a retention that becomes shorter', () => {
  const shortened = { plan: { ...plan, retentionDays: 2 } };

  beforeEach(async () => {
    for (const day of [20, 21, 22, 23]) {
      await world.collectDay(day);
      await world.audit(at(day), { plan: { ...plan, retentionDays: 400 } });
    }
  });

  it('is said first, with how much goes and until when it can be brought back, and stays open until it is acknowledged', async () => {
    const { mails, result } = await world.audit(at(24), shortened);
    expect(mails[0]?.subject).toMatch(/^Audit: RETENTION SHORTENED, DAMAGE open since 2026-11-24: 1, new: 1/);
    const text = (mails[0]?.text ?? '').replace(/\s+/g, ' ');
    expect(text).toMatch(
      /^RETENTION: the retention was shortened from 400 to 2 days: 12 of 16 sealed run records, and what they archived, go now; earlier versions bring them back until 2026-12-23 at least\./,
    );
    expect(result?.damage).toBe(1);
    expect(damageIn(await look(world.bucket))).toEqual(['contradiction']);
    expect((await world.audit(at(25), shortened)).result?.damage).toBe(1);
    expect(world.state(6).open.first).toMatchObject([{ kind: 'contradiction', key: sealKey(5), since: at(24) }]);
    const shorterRetentions = [{ retentionDays: 2, why: 'law' }];
    const acknowledged = { plan: { ...shortened.plan, shorterRetentions } };
    expect((await world.audit(at(26), acknowledged)).result?.damage).toBe(0);
    expect(damageIn(await look(world.bucket))).toEqual([]);
  });

  it('is over when it is as long as before', async () => {
    await world.audit(at(24), shortened);
    expect((await world.audit(at(25), { plan: { ...plan, retentionDays: 400 } })).result?.damage).toBe(0);
  });

  it('is not acknowledged by the consent to another one', async () => {
    const shorterRetentions = [{ retentionDays: 3, why: 'law' }];
    expect((await world.audit(at(24), { plan: { ...shortened.plan, shorterRetentions } })).result?.damage).toBe(1);
  });
});

/** Stores a configuration by which everything older than a day has expired. */
function storeConfiguration(time: string): void {
  const content = Buffer.from(JSON.stringify({ ...collection, retentionDays: 1 }));
  const key = configurationKey(createHash('sha256').update(content).digest('hex'));
  const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
  world.bucket.put({ key, content: gzipSync(content), ...headers }, new Date(time));
}

it('what stored configurations excuse is counted by the first seal and its mail, and by no other', async () => {
  await world.collectDay(20);
  storeConfiguration('2026-11-21T01:00:00.000Z');
  const [log = ''] = world.bucket.keys('logs/');
  world.bucket.objects.delete(log);
  const { mails, result } = await world.audit(at(24));
  expect([result?.found.missing, world.seal(1).verified.expired]).toEqual([undefined, 1]);
  expect(mails[0]?.text).toContain('Gone already, and excused as expired by stored configurations: 1.');
  await world.audit(at(25));
  expect(world.seal(2).verified.expired).toBe(0);
});

it('what lay there before the first seal stays open, whatever configuration was in force for a while then', async () => {
  await world.collectDay(20, [], ['00', '06']);
  storeConfiguration('2026-11-20T07:00:00.000Z');
  await world.collectDay(20, [], ['12', '18']);
  const key = 'logs/cluster=zz/date=2026-11-20/20261120T000000.000Z.json.gz';
  world.bucket.put({ key, content: gzipSync('x'), contentType: 'application/json' }, new Date('2026-11-20T00:01:00Z'));
  expect((await world.audit(at(20))).result?.found).toMatchObject({ unrecorded: 1 });
  await world.collectDay(22);
  expect((await world.audit(at(22))).result?.damage).toBe(1);
  expect(damageIn(await look(world.bucket))).toEqual(['unrecorded']);
});

it('while the schedule is disabled nobody can tell what was due, and the seal and the mail say when', async () => {
  await world.live(20);
  const disabled = { plan: { ...plan, schedule: { ...plan.schedule, enabled: false } } };
  const { mails } = await world.audit(at(21), disabled);
  expect(world.seal(2).due).toMatchObject({ runs: 0, absent: [] });
  const { from = '', to = '' } = world.seal(2).due.notJudged ?? {};
  expect([from.slice(0, 10), to.slice(0, 10)]).toEqual(['2026-11-20', '2026-11-21']);
  expect(mails[0]?.text.replace(/\s+/g, ' ')).toContain(
    `Not judged from ${formatTime(from)} to ${formatTime(to)}: a schedule there is disabled`,
  );
});

describe('what a sealed run record names', () => {
  it('is not excused by a configuration that somebody stored, from before the first seal either', async () => {
    await world.live(20);
    const [log = ''] = world.bucket.keys('logs/');
    storeConfiguration('2026-11-21T01:00:00.000Z');
    world.bucket.objects.delete(log);
    expect(damageIn(await look(world.bucket))).toEqual(['missing']);
  });

  it('is as young as its seal allows, whatever the record says', async () => {
    const retaining = { plan: { ...plan, retentionDays: 30 } };
    for (const day of [20, 21]) {
      await world.collectDay(day);
      await world.audit(at(day), retaining);
    }
    // A run of the 1st of October that somebody adds on the 22nd, and removes the objects of after it is sealed.
    await world.collect('2026-10-01T06:00:00.000Z');
    for (const key of world.bucket.keys('')) {
      if (key.includes('20261001')) world.bucket.rewrite(key, { writtenAt: new Date('2026-11-22T01:00:00.000Z') });
    }
    await world.audit(at(22), retaining);
    for (const key of world.bucket.keys('logs/')) if (key.includes('20261001')) world.bucket.objects.delete(key);
    const findings = await look(world.bucket, {}, new Date('2026-11-24T00:00:00Z'));
    expect(findings.filter(({ key }) => key.includes('20261001')).map(({ kind }) => kind)).toContain('missing');
  });
});

describe('a cluster that was erased on request', () => {
  let kept: { readonly key: string; readonly object: MemoryObject };
  const erasing = (more: object = {}) => ({ plan: { ...plan, erased: [{ cluster: 'b', why: 'INC-9', ...more }] } });

  beforeEach(async () => {
    await world.live(20, 21);
    const key = world.bucket.keys('logs/cluster=b/').at(-1) ?? '';
    const object = world.bucket.objects.get(key);
    if (object === undefined) throw new Error('nothing was archived');
    kept = { key, object };
    for (const one of world.bucket.keys('')) if (one.includes('cluster=b/')) world.bucket.objects.delete(one);
  });

  it('is told with the reason and raises no alarm, up to the first seal that has it', async () => {
    const reading = { ...erasing().plan, rereadDays: 1 };
    for (const day of [22, 23]) {
      await world.collectDay(day);
      await world.audit(at(day), { plan: reading });
    }
    expect(world.seal(4).plan.erased).toEqual([{ cluster: 'b', to: at(22), why: 'INC-9' }]);
    expect(world.seal(4).open).toMatchObject({ damage: 0, acknowledged: 16 });
    const findings = (await look(world.bucket)).filter(({ kind }) => kind === 'missing');
    expect([...new Set(findings.map(({ acknowledged }) => acknowledged))]).toEqual(['erased: INC-9']);
    // What is gone of a later run is not what was asked for.
    world.bucket.objects.delete(world.bucket.keys('logs/cluster=b/').at(-1) ?? '');
    const later = (await look(world.bucket)).filter((one) => one.kind === 'missing' && one.acknowledged === undefined);
    expect(later).toHaveLength(1);
  });

  it('excuses nothing but what is missing, and only of the runs that it names', async () => {
    const [record = ''] = world.bucket.keys('runs/');
    world.bucket.objects.delete(record);
    world.bucket.objects.set(kept.key, kept.object);
    world.bucket.rewrite(kept.key, { contentType: 'text/html' });
    await world.audit(at(22), erasing({ from: '2026-11-21T00:00:00.000Z' }));
    const findings = (await look(world.bucket)).filter(({ acknowledged }) => acknowledged !== undefined);
    expect(findings).toHaveLength(7);
    expect(findings.every(({ kind, key }) => kind === 'missing' && key.includes('date=2026-11-21'))).toBe(true);
  });
});
