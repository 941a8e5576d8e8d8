import type { RunOutcome } from '../../../archive/format/run-record';
import { emptyState, type SealState, stateSchema } from '../../../archive/format/seal-state';
import { auditMail } from '../../../lambda/audit/audit-mail';
import { Habits } from '../../../lambda/audit/habits';
import { emptySeal } from '../../support/empty-seal';
import { plan, SealedWorld } from './sealed-world';

const at = (hour: number) => new Date(Date.UTC(2026, 10, 1, hour));
const now = at(10_000);

function manifest(cluster: string, bytes: number, changes: Partial<RunOutcome> = {}): RunOutcome {
  const outcome = { cluster, resource: 'manifest', outcome: 'archived', bytes } as const;
  return { ...outcome, attempt: 1, collectorVersion: '1.0.0', ...changes };
}

/** The lengths of one cluster, a run each; 0: it failed. @returns those that are named, with what is usual */
function named(...lengths: readonly number[]): string[] {
  return lengths.reduce<{ habits: SealState['habits']; told: string[] }>(
    ({ habits, told }, bytes, hour) => {
      // An audit after each run, so that each is told.
      const next = new Habits(habits, [{ uid: 'c' }], now);
      next.add(0, at(hour), bytes === 0 ? manifest('c', 9000, { outcome: 'failed' }) : manifest('c', bytes));
      return {
        habits: next.state(),
        told: [...told, ...next.unusual().first.map((one) => `${hour}: ${one.bytes} for ${one.usual}`)],
      };
    },
    { habits: [], told: [] },
  ).told;
}

const times = (count: number, length: number) => Array.from({ length: count }, () => length);

describe('the habit of a manifest', () => {
  it('is left with less than half or more than twice the median of the last ten, from three lengths on', () => {
    expect([named(100, 100, 100, 201), named(100, 100, 100, 49)]).toEqual([['3: 201 for 100'], ['3: 49 for 100']]);
    expect([named(100, 100, 100, 200), named(100, 100, 100, 50)]).toEqual([[], []]);
    expect(named(100, 100, 9000)).toEqual([]);
    expect(named(100, 140, 120, 180, 1000)).toEqual(['4: 1000 for 130']);
    // Of an even number of lengths the median lies between the two in the middle.
    expect([named(10, 1000, 10, 1000, 400), named(10, 1000, 10, 1000, 100)]).toEqual([[], ['4: 100 for 505']]);
    // The eleventh length back does not count.
    expect([named(400, ...times(9, 100), 350), named(400, ...times(10, 100), 350)]).toEqual([[], ['11: 350 for 100']]);
  });

  it('is named once, however long the new length stays, and comes again only where it was not so for ten lengths', () => {
    expect(named(...times(10, 100), ...times(30, 1000))).toEqual(['10: 1000 for 100']);
    expect(named(...times(10, 1000), ...times(30, 100))).toEqual(['10: 100 for 1000']);
    expect(named(...times(5, 100), ...Array.from({ length: 40 }, (_, nth) => (nth % 3 === 0 ? 1000 : 100)))).toEqual([
      '5: 1000 for 100',
    ]);
    expect(named(...times(5, 100), 1000, ...times(10, 100), 1000)).toHaveLength(2);
    expect(named(...times(5, 100), 1000, ...times(9, 100), 1000)).toHaveLength(1);
  });

  it('outlasts days on which the cluster fails', () => {
    expect(named(...times(10, 100), ...times(72, 0), 100, 1000)).toEqual(['83: 1000 for 100']);
  });

  it('counts a run once, those before the newest length not at all, and none of the future', () => {
    const of = (...runs: readonly (readonly [hour: number, bytes: number])[]) => {
      const habits = new Habits([`${at(3).getTime() / 1000} 100 100 100 manifest/c`], [{ uid: 'c' }], at(9));
      for (const [hour, bytes] of runs) habits.add(0, at(hour), manifest('c', bytes));
      return [habits.unusual().count, habits.state()];
    };
    const same = [0, [`${at(3).getTime() / 1000} 100 100 100 manifest/c`]];
    expect(of([2, 9000], [3, 9000], [10, 9000])).toEqual(same);
    expect(of([4, 9000])).toEqual([1, [`${at(4).getTime() / 1000} 9000 100 100 100 manifest/c`]]);
    expect(of([9, 9000], [4, 90_000])[0]).toBe(1);
  });

  it('is kept for each cluster of the plan alone, with ten lengths, none over 4 GiB, and nothing of logs', () => {
    const clusters = ['a b', '7 manifest/c', 'd'].map((uid) => ({ uid }));
    const first = new Habits([], clusters, now);
    for (const [index, { uid }] of clusters.entries()) {
      for (let hour = 0; hour < 30; hour += 1) first.add(index, at(hour), manifest(uid, 10 ** 12 + hour));
      first.add(index, at(50), manifest(uid, 5, { resource: 'log' }));
      // Nobody knows its length.
      const { bytes: _, ...unknown } = manifest(uid, 5);
      first.add(index, at(51), unknown);
    }
    const lineOf = (name: string) => `${at(29).getTime() / 1000} ${times(10, 2 ** 32 - 1).join(' ')} manifest/${name}`;
    expect(first.state()).toEqual(clusters.map(({ uid }) => lineOf(uid)));
    // In another order, and without one of them.
    const next = new Habits(first.state(), [{ uid: 'd' }, { uid: 'new' }, { uid: 'a b' }], now);
    expect(next.state()).toEqual([lineOf('d'), lineOf('a b')]);
    expect(new Habits(next.state(), clusters, now).state()).toEqual([lineOf('a b'), lineOf('d')]);
  });

  it('is unknown where a state says something else', () => {
    const states = [
      '',
      'c',
      '12 manifest/c',
      '1 2 3 c/',
      'x 1 1 1 manifest/c',
      `1 ${times(999, 1).join(' ')} manifest/c`,
    ];
    const habits = new Habits(states, [{ uid: 'c' }], now);
    expect(habits.state()).toEqual([`1 ${times(10, 1).join(' ')} manifest/c`]);
  });

  it('is not demanded of a state of an audit that did not know it', () => {
    const { habits: _, summary, ...rest } = emptyState;
    const { unusual: __, ...older } = summary;
    expect(stateSchema.parse({ ...rest, summary: older })).toEqual(emptyState);
  });
});

const time = (day: number, clock: string) => `2026-11-${day}T${clock}:00.000Z`;
const long = 'kind: Namespace\n'.repeat(625);
const audits = { plan: { ...plan, auditSchedule: { ...plan.auditSchedule, expression: 'cron(30 5,23 * * ? *)' } } };

/** Two days, with an audit each. */
async function twoDays(): Promise<SealedWorld> {
  const world = new SealedWorld();
  await world.live(20, 21);
  return world;
}

describe('a manifest out of its habit', () => {
  it('is told by one mail with both sizes, and is not damage, a page or a failure', async () => {
    const world = await twoDays();
    await world.collect(time(22, '00:00'));
    world.manifests.set('b', long);
    for (const clock of ['06:00', '12:00']) await world.collect(time(22, clock));
    const { mails, result } = await world.audit(time(22, '23:30'));
    const [mail] = mails;
    const section =
      'Out of its habit, which is not a failure: 1\n  b: manifest of 2026-11-22T06:00:00Z,\n    9.8 KiB, usually 25 B\n\n';
    expect(mail?.text).toContain(section);
    expect(mail?.subject).toContain('no damage seen, 3 of 3 runs complete');
    expect([mail?.pages, result?.found, world.state(3).failing]).toEqual([false, {}, []]);
    for (const day of [23, 24]) {
      await world.collectDay(day);
      expect((await world.audit(time(day, '23:30'))).mails[0]?.text).not.toContain('habit');
    }
    // Its length of today is the habit then.
    world.manifests.delete('b');
    await world.collectDay(25);
    expect((await world.audit(time(25, '23:30'))).mails[0]?.text).toContain('25 B, usually 9.8 KiB');
  });

  it('waits for the next mail where its audit sends none', async () => {
    const world = await twoDays();
    world.manifests.set('b', long);
    await world.collect(time(22, '00:00'));
    expect((await world.audit(time(22, '05:30'), audits)).mails[0]?.text).toContain('  b: manifest');
    world.manifests.set('c', long);
    await world.collectDay(22, [], ['06', '12', '18']);
    expect((await world.audit(time(22, '23:30'), audits)).mails).toEqual([]);
    await world.collect(time(23, '00:00'));
    const { mails } = await world.audit(time(23, '05:30'), audits);
    expect(mails[0]?.text).toContain('a failure: 1\n  c: manifest of 2026-11-22T06:00:00Z,\n    9.8 KiB, usually 25 B');
    await world.collect(time(23, '06:00'));
    expect((await world.audit(time(24, '05:30'), audits)).mails[0]?.text).not.toContain('habit');
  });

  it('is not what somebody completed late of a run before the newest length', async () => {
    const world = await twoDays();
    await world.collectDay(22, ['b'], ['00']);
    await world.collectDay(22, [], ['06']);
    await world.audit(time(22, '06:30'));
    world.manifests.set('b', long);
    await world.collect(time(22, '00:00'), [], { scheduledTime: time(22, '00:00') });
    await world.audit(time(22, '23:30'));
    expect(world.state(4).summary).toMatchObject({ unusual: { count: 0 }, complete: 1 });
    world.manifests.clear();
    await world.collectDay(23);
    expect((await world.audit(time(23, '23:30'))).mails[0]?.text).not.toContain('habit');
  });

  it('is forgotten of a cluster that leaves the plan, though a run may still have it', async () => {
    const world = await twoDays();
    const [first = { uid: '' }, ...others] = plan.clusters;
    expect(world.state(2).habits).toHaveLength(3);
    await world.collectDay(22);
    await world.audit(time(22, '23:30'), { plan: { ...plan, clusters: others } });
    expect(world.state(3).habits.join()).not.toContain(`/${first.uid}`);
    world.manifests.set(first.uid, long);
    await world.collectDay(23);
    expect((await world.audit(time(23, '23:30'))).mails[0]?.text).not.toContain('habit');
  });

  it('is what a later record of the newest run has of a cluster that it did not have', async () => {
    const world = await twoDays();
    world.manifests.set('b', long);
    await world.collect(time(22, '00:00'), ['b']);
    await world.audit(time(22, '00:30'));
    await world.collect(time(22, '00:00'));
    await world.audit(time(22, '23:30'));
    expect(world.state(4).summary.unusual.first).toMatchObject([{ cluster: 'b', bytes: long.length, usual: 25 }]);
  });

  it('is named in ten lines of its mail at most, with names that stay in their line', () => {
    const one = { resource: 'manifest', run: time(20, '00:00'), bytes: 10, usual: 100 } as const;
    const first = Array.from({ length: 50 }, (_, nth) => ({ cluster: `c\n${nth}`, ...one }));
    const seal = { ...emptySeal, ...emptyState, sha256: 'a'.repeat(64) };
    const { text } = auditMail({ ...seal, summary: { ...seal.summary, unusual: { count: 70, first } } }, plan);
    expect(text).toContain('failure: 70\n  c?0: manifest of 2026-11-20T00:00:00Z,\n    10 B, usually 100 B\n  c?1:');
    expect(text).toContain('  c?9: manifest of 2026-11-20T00:00:00Z,\n    10 B, usually 100 B\n  and 60 more\n');
  });
});
