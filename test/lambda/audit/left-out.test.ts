import { gzipSync } from 'node:zlib';
import { configurationKey } from '../../../archive/format/keys';
import { sha256Of } from '../../../archive/format/seal-file';
import { ClusterOutcomes } from '../../../lambda/audit/cluster-outcomes';
import { formatTime } from '../../../lambda/plain-text';
import { damageIn, look, plan, SealedWorld } from './sealed-world';

const at = (day: number, time = '23:30') => `2026-11-${day}T${time}:00.000Z`;
const [first, ...others] = plan.clusters;
const one = first === undefined ? [] : [first];
const names = others.map(({ uid }) => uid);

/** A collector that was deployed with one cluster alone, or somebody with its rights. */
const withOne = (world: SealedWorld) => new SealedWorld(one, world.bucket, world.key);

/** A day of whole runs, and then one on which three of four runs leave all clusters but one out. */
async function leftOut(): Promise<SealedWorld> {
  const world = new SealedWorld();
  await world.live(20);
  await world.collect(at(21, '00:00'));
  for (const time of ['06:00', '12:00', '18:00']) await withOne(world).collect(at(21, time));
  return world;
}

describe('clusters of the plan that runs leave out', () => {
  it('fail, are counted as stale and are named, also where the last run has them again', async () => {
    const world = await leftOut();
    const again = world.copy();
    const { result, mails, reported } = await world.audit(at(21));
    expect(result?.damage).toBe(0);
    expect(world.state(2).failing.map(({ cluster, runs, since }) => [cluster, runs, since])).toEqual(
      names.map((name) => [name, 3, at(21, '06:00')]),
    );
    expect(mails[0]?.subject).toContain(`${names.length} clusters failing`);
    expect(mails[0]?.text).toContain('the configuration of its run does not have it');
    expect(mails[0]?.text).toContain(`Clusters that runs left out: ${names.length}\n  ${names[0]} (3 runs)`);
    // Since 00:00, when they were archived last.
    expect(reported[0]?.stalestHours).toBeCloseTo(23.5, 1);
    await again.collect(at(21, '19:00'), [], {});
    const told = await again.audit(at(21));
    expect(told.mails[0]?.subject).not.toContain('failing');
    expect(told.mails[0]?.text).toContain(`Clusters that runs left out: ${names.length}\n`);
  });

  it('are not those that joined the plan after the last run', async () => {
    const world = new SealedWorld(one);
    await world.live(20);
    await world.collectDay(21);
    const { mails } = await world.audit(at(21));
    expect(mails[0]?.subject).toContain('4 of 4 runs complete');
    expect(mails[0]?.text).not.toContain('left out');
  });

  it('that the plan calls optional are named, and fail nothing', () => {
    const run = (hour: number, clusters: readonly string[]) => {
      const outcomes = clusters.map((cluster) => ({
        ...({ cluster, resource: 'log', outcome: 'archived', key: 'k', attempt: 1, collectorVersion: '1' } as const),
      }));
      const counts = { archived: clusters.length, failed: 0, notAttempted: 0, optionalMissing: 0, doubts: 0 };
      const time = new Date(Date.UTC(2026, 10, 20, hour));
      return { run: time, outcomes, status: 'complete', counts, bytes: 1, storedBytes: 1 } as const;
    };
    const outcomes = new ClusterOutcomes([], [{ uid: 'a' }, { uid: 'b', optional: true }]);
    const coverage = { isDue: true, isOver: true, isCovered: true, isListed: false, hasCluster: () => false };
    outcomes.add(run(1, ['a', 'b']), true, coverage);
    outcomes.add(run(2, ['a']), true, coverage);
    expect([outcomes.failing(['a', 'b']), outcomes.summary().complete]).toEqual([[], 2]);
    expect(outcomes.summary().notCollected.first).toEqual([{ cluster: 'b', runs: 1 }]);
    // A person may ask for a few, and a record that has the others may still come.
    outcomes.add(run(3, ['b']), true, { ...coverage, isDue: false });
    outcomes.add(run(4, ['b']), true, { ...coverage, isOver: false, hasCluster: () => true });
    expect(outcomes.failing(['a', 'b'])).toEqual([]);
    outcomes.add(run(5, ['b']), true, { ...coverage, hasCluster: () => true });
    expect(outcomes.failing(['a', 'b'])).toMatchObject([{ cluster: 'a', runs: 1 }]);
  });
});

describe('a cluster that the plan calls optional until a date', () => {
  it.each([
    ['is needed in the runs of the next dates alone', '2026-11-21', 4, names.length],
    ['is needed in all of them if these are later ones', '2026-11-20', 8, names.length],
    ['is needed in none of them if it is the last one', '2026-11-22', 0, 0],
  ])('%s', async (_, until, incomplete, failing) => {
    const world = new SealedWorld();
    await world.live(20);
    for (const day of [21, 22])
      for (const time of ['00:00', '06:00', '12:00', '18:00']) await withOne(world).collect(at(day, time));
    const marked = {
      ...plan,
      clusters: plan.clusters.map((one) => (names.includes(one.uid) ? { ...one, optional: { until } } : one)),
    };
    await world.audit(at(22), { plan: marked });
    const { failing: failed, summary } = world.state(2);
    expect([failed.length, summary.incomplete]).toEqual([failing, incomplete]);
    expect(new Set(failed.map(({ runs }) => runs))).toEqual(new Set(failing > 0 ? [incomplete] : []));
  });
});

describe('a firing of the schedule', () => {
  it('is not answered by a record of one cluster, whatever trigger it claims', async () => {
    const world = new SealedWorld();
    await world.live(20);
    for (const time of ['00:00', '06:00', '12:00'])
      await world.collect(at(21, time), [], { clusters: one.map(({ uid }) => uid) });
    await world.collect(at(21, '18:00'));
    const { mails, result } = await world.audit(at(21));
    const subject = mails[0]?.subject;
    expect([result?.damage, subject]).toEqual([0, expect.stringContaining('1 of 4 runs complete')]);
    const problem = `of the scheduled run of ${formatTime(at(21, '06:00'))} covers ${names.length} of its ${plan.clusters.length} clusters`;
    expect(mails[0]?.text).toContain(problem);
    const found = (await look(world.bucket, {}, new Date(at(22)))).filter(({ kind }) => kind === 'absent');
    expect(found.filter((one) => one.problem.includes('no record of the scheduled run'))).toHaveLength(3);
  });
});

describe('a second audit of the day', () => {
  it('leaves what it found to the next mail', async () => {
    const world = new SealedWorld();
    await world.live(20);
    await world.collect(at(21, '00:00'));
    const audits = { plan: { ...plan, auditSchedule: { ...plan.auditSchedule, expression: 'cron(0 1,16 * * ? *)' } } };
    expect((await world.audit(at(21, '01:00'), audits)).mails).toHaveLength(1);
    // The firing of 06:00 leaves nothing, and that of 12:00 one cluster.
    await withOne(world).collect(at(21, '12:00'));
    expect((await world.audit(at(21, '16:00'), audits)).mails).toEqual([]);
    await world.collect(at(21, '18:00'));
    await world.collect(at(22, '00:00'));
    const { mails } = await world.audit(at(22, '01:00'), audits);
    expect(mails[0]?.text).toContain(`the scheduled run of ${formatTime(at(21, '06:00'))} is missing`);
    expect(mails[0]?.text).toContain('Runs: 2 of 4 complete; 1 that was due left no record.');
    expect(mails[0]?.text).toContain(`Clusters that runs left out: ${names.length}\n  ${names[0]} (1 run)`);
    // Once is enough.
    await world.collect(at(22, '06:00'));
    const next = await world.audit(at(23, '01:00'), audits);
    expect(next.mails[0]?.text).not.toContain(at(21, '06:00'));
  });
});

describe('a configuration whose schedule nobody can read', () => {
  it('hides neither its clusters nor that it is wrong', async () => {
    const world = new SealedWorld();
    await world.live(20);
    await world.collectDay(21);
    const [record = ''] = world.bucket.keys('runs/date=2026-11-21');
    const text = String(world.bucket.objects.get(record)?.body);
    const schedule = { ...plan.schedule, timeZone: 'Europe/Nowhere' };
    const json = Buffer.from(JSON.stringify({ clusters: one, schedule }));
    const sha256 = sha256Of(json);
    const object = { key: configurationKey(sha256), content: gzipSync(json) };
    world.bucket.put(
      { ...object, contentType: 'application/json', contentEncoding: 'gzip' },
      new Date(at(21, '00:00')),
    );
    world.bucket.rewrite(record, {
      body: Buffer.from(text.replace(/"configuration":"[0-9a-f]{64}"/, `"configuration":"${sha256}"`)),
    });
    const { result } = await world.audit(at(21));
    const found = world.state(result?.number ?? 0).open.first.map(({ kind, key }) => `${kind} ${key}`);
    expect(found).toContain(`damaged ${configurationKey(sha256)}`);
    // Its outcomes are held against its clusters.
    expect(found).toContain(`contradiction ${record}`);
    expect(damageIn(await look(world.bucket))).toContain('contradiction');
    // It stays so.
    await world.collectDay(22);
    await world.audit(at(22));
    const still = world.state((result?.number ?? 0) + 1).open.first.map(({ kind, key }) => `${kind} ${key}`);
    expect(still).toContain(`damaged ${configurationKey(sha256)}`);
  });
});
