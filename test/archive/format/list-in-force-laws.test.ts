import fc from 'fast-check';
import { hourMs } from '../../../archive/format/clocks';
import type { ConfiguredCluster } from '../../../archive/format/configuration';
import { inForce, type Leaving, mayFollow } from '../../../archive/format/list-in-force';
import { rounds } from '../../support/rounds';

const clusters = (...uids: string[]): ConfiguredCluster[] => uids.map((uid) => ({ uid }));

/** One attempt, and what the writer of the list did before it. */
interface Step {
  readonly hours: number;
  /** By how much the clock of the attempt is wrong. */
  readonly wrongHours: number;
  readonly isOfAll: boolean;
  readonly leaveAfterDays: number;
  readonly exclude: readonly string[];
  readonly edit: 'same' | 'broken' | 'replaced' | 'flood' | 'some' | 'empty' | 'all back';
  readonly picked: readonly number[];
}

const most = 24;
const step: fc.Arbitrary<Step> = fc.record({
  hours: fc.oneof(fc.constantFrom(1, 6, 24, 24 * 7), fc.nat(24 * 10)),
  wrongHours: fc.constantFrom(0, 0, 0, -1, 1),
  isOfAll: fc.integer({ min: 0, max: 3 }).map((one) => one > 0),
  leaveAfterDays: fc.constantFrom(3, 3, 3, 1, 30),
  exclude: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.constant(['c-1']) }),
  edit: fc.constantFrom('same', 'some', 'some', 'broken', 'replaced', 'flood', 'empty', 'all back'),
  picked: fc.array(fc.nat(11), { maxLength: 12 }),
});

/** A writer who may write anything, and what a reader of the run records has seen. */
class Writer {
  list: ConfiguredCluster[] = clusters(...Array.from({ length: 12 }, (_, index) => `c-${index}`));
  #next = 0;

  /** What stands on the list; undefined: nothing that can be used. */
  write({ edit, picked }: Step): readonly ConfiguredCluster[] | undefined {
    if (edit === 'broken') return undefined;
    if (edit === 'replaced') this.list = this.#strangers(12);
    if (edit === 'flood') this.list = [...this.list, ...this.#strangers(most)].slice(0, most);
    if (edit === 'empty') this.list = this.#strangers(1);
    if (edit === 'some')
      this.list = picked.map((index, at) => ({ uid: `c-${index}`, ...(at % 3 === 0 && { optional: true }) }));
    if (edit === 'all back') this.list = clusters(...Array.from({ length: 12 }, (_, index) => `c-${index}`));
    this.list = [...new Map(this.list.map((cluster) => [cluster.uid, cluster])).values()];
    return this.list;
  }

  #strangers(count: number): ConfiguredCluster[] {
    return Array.from({ length: count }, () => ({ uid: `n-${this.#next++}` }));
  }
}

/** The dates on which records named a cluster as leaving, in a row. */
type Named = Map<string, { readonly firstMs: number; readonly dates: Set<string> }>;

function play(steps: readonly Step[]): void {
  const writer = new Writer();
  const named: Named = new Map();
  let ms = Date.UTC(2026, 10, 20, 23, 40);
  let before: readonly ConfiguredCluster[] | undefined;
  for (const one of steps) {
    ms += one.hours * hourMs;
    const at = new Date(ms + one.wrongHours * hourMs);
    const list = writer.write(one);
    if (list === undefined && before === undefined) continue;
    const next = inForce(list, before, { ...one, at, most });
    if (before === undefined) {
      before = next.clusters;
      continue;
    }
    // Whoever judges knows the time of its run, or of its writing, at most.
    for (const judged of [at, new Date(ms)]) expect(mayFollow(before, next.clusters, judged, one)).toEqual([]);
    judgeGone(before, next.clusters, one, ms, named);
    expect(next.clusters.length).toBeLessThanOrEqual(Math.max(most, before.length));
    // What may be asked for in a run leaves nobody out who was on the list before.
    expect(
      list?.filter(({ uid }) => next.waiting.includes(uid) && before?.some((was) => was.uid === uid)) ?? [],
    ).toEqual([]);
    forge(before, next.clusters, at, one);
    before = next.clusters;
  }
}

function judgeGone(
  before: readonly ConfiguredCluster[],
  after: readonly ConfiguredCluster[],
  { leaveAfterDays, exclude, isOfAll, wrongHours }: Step,
  ms: number,
  named: Named,
): void {
  const are = new Map(after.map((cluster) => [cluster.uid, cluster]));
  for (const { uid } of before) {
    if (are.has(uid) || exclude.includes(uid)) continue;
    const { firstMs = ms, dates = [] } = named.get(uid) ?? {};
    expect(new Set(dates).size).toBeGreaterThanOrEqual(leaveAfterDays);
    // Clocks are an hour wrong each way.
    expect(ms - firstMs).toBeGreaterThanOrEqual((leaveAfterDays * 24 - 3) * hourMs);
  }
  for (const uid of [...named.keys()]) if (are.get(uid)?.leaving === undefined) named.delete(uid);
  for (const { uid, leaving: marker } of after) {
    if (marker === undefined) continue;
    const seen = named.get(uid) ?? { firstMs: ms, dates: new Set() };
    if (isOfAll) seen.dates.add(new Date(ms + wrongHours * hourMs).toISOString().slice(0, 10));
    named.set(uid, seen);
  }
}

/** How many lists were forged. */
let forgeries = 0;

/** Whatever is taken away, or made up, before its time is found. */
function forge(before: readonly ConfiguredCluster[], after: readonly ConfiguredCluster[], at: Date, one: Step): void {
  const were = new Map(before.map((cluster) => [cluster.uid, cluster.leaving]));
  for (const [index, { uid, leaving: marker }] of after.entries()) {
    if (!were.has(uid) || index % 4 !== at.getUTCHours() % 4) continue;
    const was = were.get(uid);
    const isReady = was !== undefined && was.dates >= one.leaveAfterDays;
    if (!isReady && !one.exclude.includes(uid)) {
      forgeries += 1;
      const without = after.toSpliced(index, 1);
      expect(mayFollow(before, without, at, one)).toEqual([{ uid, kind: 'gone' }]);
    }
    if (marker === undefined) continue;
    const forged: Leaving[] = [
      { ...marker, dates: marker.dates + 2 },
      { ...marker, since: new Date(Date.parse(was?.since ?? marker.since) - 24 * hourMs).toISOString() },
      { ...marker, last: '2030-01-01' },
    ];
    forgeries += forged.length;
    for (const made of forged)
      expect(mayFollow(before, after.with(index, { uid, leaving: made }), at, one)).toEqual([{ uid, kind: 'marker' }]);
  }
}

it('nobody is gone who was not named as leaving for long enough, whatever a writer does; and nothing honest is a misstep', () => {
  fc.assert(fc.property(fc.array(step, { minLength: 2, maxLength: 40 }), play), rounds(2000));
  expect(forgeries).toBeGreaterThan(100);
}, 600_000);
