import type { Configuration } from '../../../archive/format/configuration';
import { hashOfLeaving } from '../../../archive/format/next-list';
import { resourceNames } from '../../../archive/format/resources';
import { between, seededRandom } from '../../../local/demo-service/seeded-random';
import { invoke } from '../../archive/prove/history/invocation';
import { recordOf, recordText } from '../../support/record-text';
import { steps } from '../../support/rounds';
import type { Audited } from './invoke-audit';
import { collection, damageIn, look, plan, SealedWorld } from './sealed-world';

const source = { from: 's3://inventory/clusters.json', maxRemovedPercent: 10 };
const fleet = Array.from({ length: 12 }, (_, index) => `c-${String(index).padStart(2, '0')}`);
const outside: Configuration = { ...collection, clusters: [], clusterList: { ...source, mostClusters: 1000 } };
const at = (day: number, hour: number) => `2026-11-${day}T${String(hour).padStart(2, '0')}:00:00.000Z`;
const calm = () => 0.5;

let world: SealedWorld;
beforeEach(() => {
  world = new SealedWorld();
});

/** One attempt at a time that reads a list, or with other clusters in its place. */
const attempt = (time: string, list: unknown, more: Partial<Parameters<typeof invoke>[0]> = {}) =>
  invoke({
    ...{ bucket: world.bucket, collection: outside, list: JSON.stringify(list), start: new Date(time) },
    ...{ event: { scheduledTime: time }, failing: new Set(), random: calm },
    ...more,
  });

async function day(day: number, lists: readonly unknown[]): Promise<Audited> {
  for (const [index, list] of lists.entries()) await attempt(at(day, index * 6), list);
  return audit(day);
}

const audit = (day: number) =>
  world.audit(`2026-11-${day}T23:30:00.000Z`, { plan: { ...plan, clusters: [], clusterList: source } });

const damage = async () => damageIn(await look(world.bucket));

describe('an archive whose clusters come from outside', () => {
  it('is audited by the list in force: its seal names it and counts who joined and left, and the mail names them', async () => {
    expect((await day(20, [fleet, fleet, fleet, fleet])).result?.damage).toBe(0);
    expect(world.seal(1).plan).toMatchObject({ clusters: 12, clusterList: source });
    expect(world.seal(1).clusters).toEqual({ joined: 0, left: 0 });
    const changed = await day(21, [fleet, [...fleet.slice(1), 'new'], [...fleet.slice(2), 'new'], [...fleet.slice(2)]]);
    expect(changed.result?.damage).toBe(0);
    expect(world.seal(2).clusters).toEqual({ joined: 0, left: 2 });
    expect(world.seal(2).plan.clusterList?.configuration).not.toBe(world.seal(1).plan.clusterList?.configuration);
    expect(changed.mails[0]?.text).toContain('Clusters that left the list: 2\n  c-00, c-01\n');
    const joined = await day(22, [[...fleet.slice(2), 'new']]);
    expect(joined.mails[0]?.text).toContain('Clusters that joined the list: 1\n  new\n');
    expect(await damage()).toEqual([]);
  });

  it('is sound where a removal was withheld, consented to, or undone, and where a run was completed late', async () => {
    const few = fleet.slice(6);
    await day(20, [fleet, few, few, { clusters: few, leaving: hashOfLeaving(fleet.slice(0, 6)) }]);
    await attempt(at(21, 1), '', { event: { run: at(20, 6) } });
    expect((await day(21, [few, fleet, fleet, [...fleet, 'new']])).result?.damage).toBe(0);
    expect(await damage()).toEqual([]);
  });
});

describe('whoever has the rights of the collector', () => {
  const few = fleet.slice(6).map((uid) => ({ uid, resources: resourceNames }));
  const drops: [string, Configuration][] = [
    ['as if they were deployed', { ...collection, clusters: few }],
    [
      'by a larger share',
      { ...outside, clusters: few, clusterList: { ...source, maxRemovedPercent: 100, mostClusters: 9 } },
    ],
  ];

  it.each(drops)('cannot drop clusters unseen: %s', async (_, dropping) => {
    await day(20, [fleet, fleet, fleet, fleet]);
    // The forger writes a record as an attempt does that has this configuration.
    await attempt(at(21, 0), few, { collection: dropping });
    const key = world.bucket.keys('runs/date=2026-11-21/')[0];
    const { result, mails } = await audit(21);
    expect(result?.damage).toBe(1);
    expect(world.state(2).open).toMatchObject([{ kind: 'contradiction', key }]);
    expect(mails[0]?.text.replace(/\s+/g, ' ')).toContain(
      '6 clusters left the list in force without consent: c-00, c-01',
    );
    expect(await look(world.bucket)).toContainEqual(expect.objectContaining({ kind: 'contradiction', key }));
    // It stays open, although the runs behind it collect everything again.
    expect((await day(22, [fleet, fleet])).result?.damage).toBe(1);
    expect(await damage()).toEqual(['contradiction']);
  });

  it.each([
    ['two records of one run that say they began at one time', [0, 0], at(21, 1)],
    ['two records of two runs that say they began at one time', [0, 1], at(21, 1)],
    ['a record that says it is older than the first seal', [0], '2026-11-20T22:30:00.000Z'],
    ['a record that says it is younger than the audit', [23], '2026-11-21T23:59:00.000Z'],
  ])('cannot drop clusters unseen by %s', async (_, hours, time) => {
    await day(20, [fleet, fleet, fleet, fleet]);
    for (const [index, hour] of hours.entries()) {
      const start = new Date(Date.parse(at(21, hour)) + index * 60_000);
      await attempt(at(21, hour), few, { collection: { ...collection, clusters: few }, start });
    }
    for (const key of world.bucket.keys('runs/date=2026-11-21/')) {
      const record = recordOf(world.bucket.objects.get(key)?.body ?? '');
      const text = recordText({ ...record, startedAt: time, finishedAt: time });
      world.bucket.rewrite(key, { body: Buffer.from(text) });
    }
    expect((await audit(21)).result?.damage).toBeGreaterThan(0);
    expect(world.state(2).open[0]?.problem).toContain('6 clusters left the list in force without consent');
    expect(await damage()).toContain('contradiction');
  });
});

it('clusters cannot be dropped a few in each run either', async () => {
  await day(20, [fleet, fleet, fleet, fleet]);
  for (const [index, dropped] of [2, 4].entries()) {
    const clusters = fleet.slice(dropped).map((uid) => ({ uid, resources: resourceNames }));
    await attempt(at(21, index * 6), '', { collection: { ...collection, clusters } });
  }
  await audit(21);
  expect(world.state(2).open).toMatchObject([{ key: world.bucket.keys('runs/date=2026-11-21/')[1] }]);
});

it.each(steps(15))('no history without an attack has damage (%i)', async (seed) => {
  const random = seededRandom(`lists ${seed}`);
  let list = [...fleet, ...fleet.map((uid) => `d-${uid}`)];
  let next = 0;
  for (let date = 20; date < 23; date += 1) {
    for (let hour = 0; hour < 24; hour += 6) {
      if (random() < 0.6) list = list.slice(random() < 0.3 ? between(random, 0, 8) : between(random, 0, 2));
      for (let added = between(random, 0, 2); added > 0; added -= 1) list.push(`n-${next++}`);
      const leaving = hashOfLeaving(fleet.slice(0, between(random, 1, 6)));
      const written = random() < 0.1 ? '' : random() < 0.3 ? { clusters: list, leaving } : list;
      const time = at(date, hour);
      const killedAfter = random() < 0.2 ? between(random, 0, 20) : undefined;
      await attempt(time, written, { killedAfter, random }).catch(() => undefined);
      if (random() < 0.3)
        await attempt(time, list, {
          start: new Date(Date.parse(time) + between(random, 2, 400) * 60_000),
          random,
        }).catch(() => undefined);
      if (random() < 0.2) await attempt(time, '', { event: { run: at(date, 0) }, random }).catch(() => undefined);
    }
    await audit(date);
    // Of what a killed attempt archived nobody has a record.
    expect(world.state(date - 19).open.filter(({ kind }) => kind !== 'unrecorded')).toEqual([]);
  }
  expect((await look(world.bucket)).filter(({ kind }) => kind === 'contradiction')).toEqual([]);
});
