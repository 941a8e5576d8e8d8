import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Configuration, ConfiguredCluster } from '../../../archive/format/configuration';
import { configurationKey, runRecordKey } from '../../../archive/format/keys';
import { resourceNames } from '../../../archive/format/resources';
import type { RunRecord } from '../../../archive/format/run-record';
import { between, seededRandom } from '../../../local/demo-service/seeded-random';
import { invoke } from '../../archive/prove/history/invocation';
import { recordOf, recordText } from '../../support/record-text';
import { steps } from '../../support/rounds';
import type { Audited } from './invoke-audit';
import { collection, damageIn, look, plan, SealedWorld } from './sealed-world';

const source = { from: 's3://inventory/clusters.json', leaveAfterDays: 3 };
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

const recordsOf = (prefix: string): RunRecord[] =>
  world.bucket.keys(prefix).map((key) => recordOf(world.bucket.objects.get(key)?.body ?? ''));

/** The four runs of a day that read one list. */
const always = (list: unknown) => [list, list, list, list];

/** How many joined and left a list, by the state of a seal. */
function members(number: number) {
  const { joined, left, away, lessened } = world.state(number).summary.clusters ?? {};
  return { joined: joined?.count, left: left?.count, away: away?.count, lessened: lessened?.count };
}

describe('an archive whose clusters come from outside', () => {
  it('is audited by the list in force: its seal names it and counts who joined and left, and the mail names them', async () => {
    expect((await day(20, always(fleet))).result?.damage).toBe(0);
    expect(world.seal(1).plan).toMatchObject({ clusters: 12, clusterList: source });
    expect(members(1)).toEqual({ joined: 0, left: 0, away: 0, lessened: 0 });
    const without = fleet.slice(2);
    for (const date of [21, 22, 23]) expect((await day(date, always(without))).result?.damage).toBe(0);
    expect(recordsOf('runs/date=2026-11-23/').at(-1)?.clusterList?.leaving).toEqual({
      count: 2,
      clusters: ['c-00', 'c-01'].map((uid) => ({ uid, since: at(21, 0), dates: 3 })),
    });
    const gone = await day(24, always(without));
    expect(gone.result?.damage).toBe(0);
    // Who is gone is told once.
    expect(members(5)).toMatchObject({ joined: 0, left: 2, away: 0 });
    expect(gone.mails[0]?.text).toContain('Clusters that left the list for good: 2\n  c-00, c-01\n');
    const joined = await day(25, [[...without, 'new']]);
    expect(joined.mails[0]?.text).toContain('Clusters that joined the list: 1\n  new\n');
    expect(await damage()).toEqual([]);
  });

  it('is told of who was away between two audits, and of whom less is collected, with how many runs', async () => {
    await day(20, always(fleet));
    const weaker = fleet.map((uid, index) => (index === 11 ? { uid, optional: true } : uid));
    const { mails } = await day(21, [fleet, fleet.slice(6), fleet.slice(6), weaker]);
    const text = mails[0]?.text.replace(/\s+/g, ' ') ?? '';
    expect(text).toContain('not on the list in all runs: 6 c-00 (on the list in 2 of 4 runs), c-01 (on the list in');
    expect(text).toContain('Clusters that became optional, or for longer, or lost a resource: 1 c-11');
    expect(members(2)).toEqual({ joined: 0, left: 0, away: 6, lessened: 1 });
    expect((await day(22, always(fleet))).mails[0]?.text).not.toContain('on the list in');
  });

  it('is told since the newest seal that was mailed, not since the newest', async () => {
    await day(20, always(fleet));
    const audits = (time: string) => world.audit(time, { plan: { ...plan, clusters: [], clusterList: source } });
    await attempt(at(21, 0), fleet);
    expect((await audits(at(21, 1))).mails).toHaveLength(1);
    await attempt(at(21, 6), fleet.slice(6));
    expect((await audits(at(21, 7))).mails).toEqual([]);
    await attempt(at(21, 12), fleet);
    expect((await audits(at(22, 1))).mails[0]?.text.replace(/\s+/g, ' ')).toContain('(on the list in 1 of 2 runs)');
  });

  it('has no run that left somebody out who left the list for good and is on it again', async () => {
    await day(20, always(fleet));
    const without = fleet.slice(1);
    for (const date of [21, 22, 23]) await day(date, always(without));
    const { mails, result } = await day(24, [without, without, fleet, fleet]);
    expect([result?.damage, mails[0]?.subject]).toEqual([0, 'Audit: no damage seen, 4 of 4 runs complete (archive)']);
    expect(mails[0]?.text).not.toContain('left out');
    expect(recordsOf('runs/date=2026-11-24/').map(({ outcomes }) => outcomes.length)).toEqual([22, 22, 24, 24]);
  });

  it('is told of a run that followed nothing although there were runs before', async () => {
    await day(20, always(fleet));
    for (const key of world.bucket.keys('configurations/')) world.bucket.objects.delete(key);
    await attempt(at(21, 0), fleet.slice(6)).catch(() => undefined);
    expect((await audit(21)).mails[0]?.text).toContain(
      `nobody knows who left: 1\n  ${at(21, 0).replace('.000Z', 'Z')}`,
    );
  });

  it('is sound where a cluster came back, a run was completed late, and its own records expired', async () => {
    const few = fleet.slice(6);
    await day(20, [fleet, few, fleet, few]);
    // Another deployment is between the run and its completion.
    const deployed = { ...outside, limits: { ...outside.limits, concurrency: 2 } };
    await attempt(at(21, 1), '', { event: { run: at(20, 6) }, collection: deployed });
    expect((await day(21, [few, fleet, fleet, [...fleet, 'new']])).result?.damage).toBe(0);
    expect(await damage()).toEqual([]);
    // The lifecycle has removed what was written on the day of the run: of that run, the late record alone is left.
    for (const [key, { writtenAt }] of world.bucket.objects)
      if (!/^(seals|configurations)/.test(key) && writtenAt < new Date(at(21, 0))) world.bucket.objects.delete(key);
    await attempt(at(22, 0), few);
    const found = await look(world.bucket);
    expect(found.filter(({ kind }) => kind === 'contradiction')).toEqual([]);
  });
});

/** A record that somebody writes who has the rights of the collector. */
interface Forgery {
  readonly time: string;
  readonly clusters: readonly ConfiguredCluster[];
  /** Whether the configuration says that they were deployed. */
  readonly isDeployed?: boolean;
  /** What the record says of the list; undefined: nothing, as one of a late completion does. */
  readonly list?: Partial<NonNullable<RunRecord['clusterList']>> | undefined;
  readonly says?: Partial<RunRecord>;
}

/** The configuration of a forgery: what it names, and what its attempt works with. */
const configurationOf = ({ clusters, isDeployed }: Forgery): Configuration => ({
  ...collection,
  clusters,
  ...(!isDeployed && { clusterList: { ...source, leaveAfterDays: 1, mostClusters: 1000 } }),
});

const hashOf = (forgery: Forgery) =>
  createHash('sha256')
    .update(JSON.stringify(configurationOf(forgery)))
    .digest('hex');

/** @returns the key of the record */
async function forge(forgery: Forgery): Promise<string> {
  const { time, clusters, isDeployed, list, says } = forgery;
  const before = new Set(world.bucket.keys('runs/'));
  await attempt(time, '', { collection: { ...collection, clusters } });
  const [key = ''] = world.bucket.keys('runs/').filter((one) => !before.has(one));
  const configuration = hashOf(forgery);
  const content = gzipSync(JSON.stringify(configurationOf(forgery)));
  const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
  world.bucket.put({ key: configurationKey(configuration), content, ...headers }, new Date(time));
  const clusterList = isDeployed || list === undefined ? undefined : { from: source.from, isInForce: true, ...list };
  const record = { ...recordOf(world.bucket.objects.get(key)?.body ?? ''), configuration, clusterList, ...says };
  const fetchedAt = says?.finishedAt;
  const outcomes = record.outcomes.map((outcome) => ({ ...outcome, ...(fetchedAt && { fetchedAt }) }));
  world.bucket.rewrite(key, { body: Buffer.from(recordText({ ...record, outcomes })) });
  return key;
}

const whole = (uids: readonly string[]): ConfiguredCluster[] =>
  uids.map((uid) => ({ uid, resources: [...resourceNames] }));
const few = whole(fleet.slice(6));
const newest = () => recordsOf('runs/').at(-1) as RunRecord;
const followingNewest = () => ({
  record: world.bucket.keys('runs/').at(-1) ?? '',
  configuration: newest().configuration,
});
const [noon, midnight] = [at(21, 12), at(21, 0)];
const own = hashOf({ time: noon, clusters: few });
const recordAt = (time: string, number = 1) => runRecordKey({ run: new Date(time), attempt: number });

describe('whoever has the rights of the collector cannot drop clusters unseen', () => {
  const forgeries: [how: string, forgery: () => Forgery, problem: RegExp][] = [
    ['as if they were deployed', () => ({ time: noon, clusters: few, isDeployed: true }), /6 clusters left the list/],
    ['as if no list had been read before', () => ({ time: noon, clusters: few, list: {} }), /6 clusters left the list/],
    [
      'behind the newest record',
      () => ({ time: noon, clusters: few, list: { follows: followingNewest() } }),
      /6 clusters left the list before runs had named them as leaving for long enough: c-00, c-01/,
    ],
    [
      'behind another configuration than the newest record has',
      () => ({ time: noon, clusters: few, list: { follows: { ...followingNewest(), configuration: own } } }),
      /came after another configuration than runs/,
    ],
    [
      'behind a record that is not there',
      () => ({ time: noon, clusters: few, list: { follows: { record: recordAt(noon, 9), configuration: own } } }),
      /says that its list came after it, and it is not there/,
    ],
    [
      'behind something that is not a record',
      () => ({ time: noon, clusters: few, list: { follows: { record: 'runs/none', configuration: own } } }),
      /came after something that is not a run record/,
    ],
    [
      'behind itself',
      () => ({ time: noon, clusters: few, list: { follows: { record: recordAt(noon), configuration: own } } }),
      /the records that its list came after came after it/,
    ],
    ['as if a run were completed late', () => ({ time: noon, clusters: few }), /it has other clusters than the run/],
    [
      'by days that nobody saw',
      () => {
        const leaving = { since: at(17, 0), dates: 3, last: '2026-11-20' };
        const made = whole(fleet).map((cluster, index) => (index < 6 ? { ...cluster, leaving } : cluster));
        return { time: noon, clusters: made, list: { follows: followingNewest() } };
      },
      /6 clusters cannot have been leaving as it says: c-00/,
    ],
    [
      'by fewer days than the plan has',
      () => {
        const leaving = { since: at(21, 12), dates: 0 };
        return { time: noon, clusters: few.map((one) => ({ ...one, leaving })), list: { follows: followingNewest() } };
      },
      /6 clusters left the list/,
    ],
    ...['2026-11-20T22:30:00.000Z', '2026-11-21T13:00:00.000Z'].map((time): (typeof forgeries)[number] => [
      `by a record that says it is of ${time}`,
      () => ({ time: noon, clusters: few, isDeployed: true, says: { startedAt: time, finishedAt: time } }),
      /6 clusters left the list/,
    ]),
  ];

  it.each(forgeries)('%s', async (_, forgery, problem) => {
    await day(20, always(fleet));
    await attempt(midnight, fleet);
    await forge(forgery());
    const { result, mails } = await audit(21);
    expect(result?.damage).toBeGreaterThan(0);
    expect(world.state(2).open.first).toContainEqual(
      expect.objectContaining({ problem: expect.stringMatching(problem) }),
    );
    expect(mails[0]?.text.replace(/\s+/g, ' ')).toMatch(problem);
    expect(await look(world.bucket)).toContainEqual(
      expect.objectContaining({ problem: expect.stringMatching(problem) }),
    );
    // It stays open, although the runs behind it collect everything again.
    expect((await day(22, [fleet, fleet])).result?.damage).toBeGreaterThan(0);
  });

  it('by an older record, of which a cluster was not one yet', async () => {
    await day(20, always(fleet));
    await attempt(midnight, [...fleet, 'new']);
    const first = { record: recordAt(at(20, 0)), configuration: recordsOf('runs/')[0]?.configuration ?? '' };
    await forge({ time: noon, clusters: whole(fleet), list: { follows: first } });
    await audit(21);
    expect(world.state(2).open.first[0]?.problem).toContain('1 cluster left the list before runs had named it');
  });

  it.each([
    ['two records of two runs', [at(21, 11), noon]],
    ['two records of one run', [noon, noon]],
  ])('by %s that came after each other', async (_, times) => {
    await day(20, always(fleet));
    await attempt(midnight, fleet);
    const keys = [recordAt(times[0] ?? ''), recordAt(times[1] ?? '', times[0] === times[1] ? 2 : 1)];
    for (const [index, time] of times.entries())
      await forge({
        ...{ time, clusters: few, says: { startedAt: noon, finishedAt: noon } },
        list: { follows: { record: keys[1 - index] ?? '', configuration: own } },
      });
    await audit(21);
    expect(world.state(2).open.first.map(({ problem }) => problem)).toContain(
      'the records that its list came after came after it',
    );
  });

  it('a few in each run, or in place of as many that do not exist', async () => {
    await day(20, always(fleet));
    let list = whole(fleet);
    for (const [index, hour] of [0, 6, 12, 18].entries()) {
      list = [...list.slice(1), ...whole([`n-${index}`, `m-${index}`])];
      await forge({ time: at(21, hour), clusters: list, list: { follows: followingNewest() } });
    }
    await audit(21);
    expect(world.state(2).open.first.filter(({ problem }) => problem.includes('1 cluster left the list'))).toHaveLength(
      4,
    );
  });
});

describe('who writes the list', () => {
  it.each<[string, (hour: number) => readonly unknown[]]>([
    [
      'takes a tenth away in each run, and adds more that do not exist',
      (hour) => [...fleet.slice(hour), ...strangers(2 * hour)],
    ],
    [
      'adds many that do not exist, and then takes away all others',
      (hour) => (hour === 0 ? fleet : strangers(hour === 1 ? 100 : 99)),
    ],
    ['replaces everybody, again and again', (hour) => (hour === 0 ? fleet : strangers(12, hour))],
  ])('drops nobody within a day who %s', async (_, listOf) => {
    for (let hour = 0; hour < 12; hour += 1) await attempt(at(20, hour), listOf(hour));
    const collected = new Set(newest().outcomes.map(({ cluster }) => cluster));
    expect(fleet.filter((uid) => !collected.has(uid))).toEqual([]);
    expect((await audit(20)).result?.damage).toBe(0);
  });

  const strangers = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ uid: `s-${from}-${index}`, optional: true }));
});

/** Six days of whatever somebody writes, with attempts that are killed, come twice, or complete a run. */
async function honestHistory(seed: string, afterDay: (date: number) => Promise<void>): Promise<void> {
  const random = seededRandom(seed);
  let list = [...fleet, ...fleet.map((uid) => `d-${uid}`)];
  let next = 0;
  for (let date = 20; date < 26; date += 1) {
    for (let hour = 0; hour < 24; hour += 6) {
      if (random() < 0.6) list = list.slice(random() < 0.3 ? between(random, 0, 8) : between(random, 0, 2));
      for (let added = between(random, 0, 2); added > 0; added -= 1) list.push(`n-${next++}`);
      const written = random() < 0.1 ? '' : list;
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
    await afterDay(date);
  }
}

it.each(steps(15))('no history without an attack has damage (%i)', async (seed) => {
  await honestHistory(`lists ${seed}`, async (date) => {
    await audit(date);
    // Of what a killed attempt archived nobody has a record.
    expect(world.state(date - 19).open.first.filter(({ kind }) => kind !== 'unrecorded')).toEqual([]);
  });
  expect((await look(world.bucket)).filter(({ kind }) => kind === 'contradiction')).toEqual([]);
});

describe('a removal that somebody forged behind six days of lists', () => {
  const disguises = [
    'deployed',
    'anew',
    'newest',
    'older',
    'absent',
    'itself',
    'late',
    'markers',
    'times',
    'hidden',
  ] as const;

  /** The record of all clusters that is newest, and those of its clusters that are not leaving. */
  function inForce() {
    const keys = world.bucket.keys('runs/').filter((key) => recordsOf(key)[0]?.clusterList !== undefined);
    const record = keys.at(-1) ?? '';
    const { configuration = '' } = recordsOf(record)[0] ?? {};
    const { body = Buffer.alloc(0) } = world.bucket.objects.get(configurationKey(configuration)) ?? {};
    const { clusters } = JSON.parse(String(gunzipSync(body))) as Configuration;
    const staying = clusters.filter(({ leaving }) => leaving === undefined);
    return {
      follows: { record, configuration },
      older: keys[between(() => 0.3, 0, keys.length - 1)] ?? '',
      clusters,
      staying,
    };
  }

  it.each(
    steps(30).map((seed) => [disguises[seed % disguises.length] as (typeof disguises)[number], seed] as const),
  )('as %s is found by the next audit and by verify (%i)', async (disguise, seed) => {
    await honestHistory(`forged ${seed}`, async (date) => void (await audit(date)));
    const random = seededRandom(`forgery ${seed}`);
    const { follows, older, clusters, staying } = inForce();
    const gone = new Set(staying.slice(0, between(random, 1, staying.length - 1)).map(({ uid }) => uid));
    const left = clusters.filter(({ uid }) => !gone.has(uid));
    const time = at(26, 12);
    const before = damageIn(await look(world.bucket)).length;
    if (disguise === 'markers') {
      const leaving = { since: at(between(random, 16, 22), 0), dates: between(random, 2, 9), last: '2026-11-25' };
      const made = clusters.map((one) => (gone.has(one.uid) ? { ...one, leaving } : one));
      const record = await forge({ time: at(26, 6), clusters: made, list: { follows } });
      const { configuration = '' } = recordsOf(record)[0] ?? {};
      await forge({ time, clusters: left, list: { follows: { record, configuration } } });
    } else {
      const made = hashOf({ time, clusters: left });
      const lists = {
        deployed: undefined,
        anew: {},
        newest: { follows },
        older: { follows: { record: older, configuration: recordsOf(older)[0]?.configuration ?? '' } },
        absent: { follows: { record: recordAt(time, 9), configuration: follows.configuration } },
        itself: { follows: { record: recordAt(time), configuration: made } },
        late: undefined,
        times: { follows },
        hidden: { follows },
      } as const;
      const says = { startedAt: at(between(random, 20, 25), 3), finishedAt: at(26, 12) };
      const isDeployed = disguise === 'deployed';
      const list = lists[disguise];
      await forge({ time, clusters: left, isDeployed, list, ...(disguise === 'times' && { says }) });
      if (disguise === 'hidden') world.bucket.objects.delete(configurationKey(made));
    }
    const { result } = await audit(26);
    expect(result?.damage).toBeGreaterThan(before);
    expect(damageIn(await look(world.bucket)).length).toBeGreaterThan(before);
  });
});
