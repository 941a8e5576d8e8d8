import type { ConfiguredCluster } from '../../../archive/format/configuration';
import { changeOf, type InForceOptions, inForce, type Leaving, mayFollow } from '../../../archive/format/list-in-force';

const clusters = (...uids: string[]): ConfiguredCluster[] => uids.map((uid) => ({ uid }));
const leaving = (uid: string, since: string, dates: number, last?: string): ConfiguredCluster => ({
  uid,
  leaving: { since, dates, ...(last !== undefined && { last }) },
});
const options = (at: string, more: Partial<InForceOptions> = {}): InForceOptions => ({
  at: new Date(at),
  ...{ isOfAll: true, most: 20, leaveAfterDays: 3 },
  ...more,
});
const noon = (day: number) => `2026-11-${day}T12:00:00.000Z`;

describe('the list in force', () => {
  it('is the list if nothing was collected before', () => {
    const first = inForce(clusters('a', 'b'), undefined, options(noon(20)));
    expect(first).toMatchObject({ clusters: clusters('a', 'b'), joined: [], left: [], waiting: [] });
  });

  it('keeps who is not on the list any more until runs have named it as leaving on three dates, three days long', () => {
    const told: unknown[] = [];
    let before = clusters('a', 'b');
    for (const day of [20, 21, 22, 23]) {
      const { clusters: now, left } = inForce(clusters('a', 'c'), before, options(noon(day)));
      told.push(now.find(({ uid }) => uid === 'b')?.leaving ?? left);
      before = [...now];
    }
    const since = noon(20);
    expect(told).toEqual([
      { since, dates: 1, last: '2026-11-20' },
      { since, dates: 2, last: '2026-11-21' },
      { since, dates: 3, last: '2026-11-22' },
      ['b'],
    ]);
  });

  it.each<[string, string, Partial<InForceOptions>, Leaving]>([
    ['an hour later', noon(20).replace('12:', '13:'), {}, { since: noon(20), dates: 1, last: '2026-11-20' }],
    ['by a run of some clusters', noon(21), { isOfAll: false }, { since: noon(20), dates: 1, last: '2026-11-20' }],
    [
      'by a clock that is set back',
      '2026-11-20T23:20:00.000Z',
      {},
      { since: '2026-11-21T00:10:00.000Z', dates: 1, last: '2026-11-21' },
    ],
  ])('counts no date %s', (_, at, more, marker) => {
    const before = [{ uid: 'a', leaving: marker }, { uid: 'b' }];
    expect(inForce(clusters('b'), before, options(at, more)).clusters).toEqual([{ uid: 'b' }, before[0]]);
  });

  it('lets weekly runs name a cluster three times, and daily ones three days long', () => {
    const weekly = leaving('a', noon(1), 2, '2026-11-08');
    expect(inForce(clusters('b'), [weekly], options(noon(22))).left).toEqual([]);
    const hourly = leaving('a', '2026-11-20T23:30:00.000Z', 3, '2026-11-22');
    expect(inForce(clusters('b'), [hourly], options('2026-11-23T22:00:00.000Z')).left).toEqual([]);
    expect(inForce(clusters('b'), [hourly], options('2026-11-23T22:30:00.000Z')).left).toEqual(['a']);
  });

  it('begins anew with a cluster that came back and leaves again, and with a time that lies in the future', () => {
    const back = inForce(clusters('a'), [leaving('a', noon(1), 9, '2026-11-19')], options(noon(20))).clusters;
    expect(back).toEqual(clusters('a'));
    const marker = { since: noon(21), dates: 1, last: '2026-11-21' };
    for (const before of [back[0], leaving('a', '2099-01-01T00:00:00.000Z', 3), leaving('a', noon(1), 3, '2099-01-01')])
      expect(inForce([], before && [before], options(noon(21))).clusters).toEqual([{ uid: 'a', leaving: marker }]);
  });

  it('loses who is excluded at once, also where the list has it or cannot be used', () => {
    const excluding = options(noon(20), { exclude: ['b', 'x'] });
    const before = clusters('a', 'b');
    for (const list of [clusters('a', 'b'), clusters('a'), undefined])
      expect(inForce(list, before, excluding)).toMatchObject({ clusters: clusters('a'), left: [], excluded: ['b'] });
  });

  it('is what it was where the list cannot be used, with every marker as it stood', () => {
    const before = [{ uid: 'a', optional: true }, leaving('b', noon(1), 30, '2026-11-19')];
    expect(inForce(undefined, before, options(noon(20))).clusters).toEqual(before);
    const made = [leaving('a', '2099-01-01T00:00:00.000Z', 3), leaving('b', noon(1), 3, '2099-01-01')];
    const { clusters: next } = inForce(undefined, made, options(noon(20)));
    expect(next).toEqual([leaving('a', noon(20), 0), leaving('b', noon(20), 0)]);
    expect(mayFollow(made, next, new Date(noon(20)), { leaveAfterDays: 3 })).toEqual([]);
  });

  it('takes less of a promise at once, and says so', () => {
    const list: ConfiguredCluster[] = [{ uid: 'a', optional: true }, { uid: 'b', resources: ['log'] }, { uid: 'c' }];
    const next = inForce(list, clusters('a', 'b', 'c'), options(noon(20)));
    expect(next).toMatchObject({ clusters: list, lessened: ['a', 'b'] });
  });

  it.each<[string, ConfiguredCluster['optional'], ConfiguredCluster['optional'], boolean]>([
    ['an end where it was needed', undefined, { until: '2026-12-31' }, true],
    ['an end that has passed where it was needed', false, { until: '2026-11-01' }, true],
    ['a later end', { until: '2026-12-31' }, { until: '2027-01-01' }, true],
    ['no end any more', { until: '2026-12-31' }, true, true],
    ['the same end, which passes', { until: '2026-11-19' }, { until: '2026-11-19' }, false],
    ['an earlier end', { until: '2026-12-31' }, { until: '2026-12-30' }, false],
    ['an end where there was none', true, { until: '2026-12-31' }, false],
    ['no mark any more', { until: '2026-12-31' }, undefined, false],
  ])('says of an optional cluster that less is asked of it, or not: %s', (_, before, after, isLess) => {
    const [was, is] = [before, after].map((optional) => [{ uid: 'a', optional }]) as [
      [ConfiguredCluster],
      [ConfiguredCluster],
    ];
    const lessened = isLess ? ['a'] : [];
    expect(inForce(is, was, options(noon(20)))).toMatchObject({ clusters: is, lessened });
    expect(changeOf(was, is).lessened).toEqual(lessened);
    expect(mayFollow(was, is, new Date(noon(20)), { leaveAfterDays: 3 })).toEqual([]);
  });

  it('has no room for who would join beside those that leave', () => {
    const next = inForce(clusters('c', 'd', 'e'), clusters('a', 'b', 'c'), options(noon(20), { most: 4 }));
    expect(next.clusters.map(({ uid }) => uid)).toEqual(['c', 'd', 'a', 'b']);
    expect(next).toMatchObject({ joined: ['d'], waiting: ['e'] });
  });
});

const rule = { leaveAfterDays: 3 };
const [since, last] = [noon(20), '2026-11-22'];
const ready = leaving('a', since, 3, last);

describe('what may follow', () => {
  it.each<[string, ConfiguredCluster[], ConfiguredCluster[], string]>([
    ['a cluster that nothing named as leaving', clusters('a'), [], noon(20)],
    ['on two dates', [leaving('a', since, 2, last)], [], noon(28)],
    ['for less than three days', [ready], [], '2026-11-23T08:59:00.000Z'],
    ['with a first time in the future', [leaving('a', noon(28), 3, last)], [], noon(23)],
    ['with a last date in the future', [leaving('a', since, 3, '2026-12-24')], [], noon(23)],
  ])('is nothing without %s', (_, before, after, at) => {
    expect(mayFollow(before, after, new Date(at), rule)).toEqual([{ uid: 'a', kind: 'gone' }]);
  });

  it.each<[string, ConfiguredCluster[], ConfiguredCluster]>([
    ['since earlier than now', clusters('a'), leaving('a', noon(21), 1, '2026-11-23')],
    ['since later than now', clusters('a'), leaving('a', noon(25), 0)],
    ['two dates at once', clusters('a'), leaving('a', noon(23), 2, '2026-11-23')],
    ['a date that is not today', clusters('a'), leaving('a', noon(23), 1, '2026-11-01')],
    ['a date without saying which', clusters('a'), leaving('a', noon(23), 1)],
    ['as somebody new', [], leaving('a', since, 3, last)],
    ['an earlier time than before', [ready], leaving('a', noon(19), 3, last)],
    ['two more dates', [leaving('a', since, 1, last)], leaving('a', since, 3, '2026-11-23')],
    ['one more date of the same day', [leaving('a', since, 1, '2026-11-23')], leaving('a', since, 2, '2026-11-23')],
    ['one more date of yesterday', [leaving('a', since, 1, '2026-11-20')], leaving('a', since, 2, '2026-11-21')],
    ['its newest date taken back', [ready], leaving('a', since, 3, '2026-11-21')],
    ['a date in the future', [ready], leaving('a', since, 3, '2026-11-25')],
  ])('has no cluster that is leaving with %s', (_, before, after) => {
    expect(mayFollow(before, [after], new Date(noon(23)), rule)).toEqual([{ uid: 'a', kind: 'marker' }]);
  });

  it('may lack who is excluded, and anybody where the clusters are deployed', () => {
    expect(mayFollow(clusters('a', 'b'), clusters('b'), new Date(noon(20)), { ...rule, exclude: ['a'] })).toEqual([]);
    expect(mayFollow(clusters('a', 'b'), clusters('b'), new Date(noon(20)), { leaveAfterDays: 0 })).toEqual([]);
  });

  it('may come two hours early, by clocks that differ', () => {
    expect(mayFollow([ready], [], new Date('2026-11-23T09:00:00.000Z'), rule)).toEqual([]);
  });
});
