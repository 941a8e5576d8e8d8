import { objectKey } from '../../../archive/format/keys';
import type { SealState } from '../../../archive/format/seal-state';
import type { Slice } from '../../../archive/prove/world';
import { isWithin } from '../../../archive/read/run-keys';
import { agendaOf, begun, divide, done, dueFrom, halved, isDue, type Work } from '../../../lambda/audit/agenda';
import { between, pick, seededRandom } from '../../../local/demo-service/seeded-random';

const now = new Date('2026-11-20T23:30:00.000Z');
const hour = 3_600_000;
const daysLater = (days: number) => new Date(now.getTime() + days * 24 * hour);
const what = ({ what, from, to, seal }: Work) => [what, from, to, ...(seal === undefined ? [] : [seal])];

describe('what is to be judged', () => {
  const nothing = { now, before: undefined, added: undefined, lost: [], open: new Map() };

  it('of an archive without a state is everything, and both passes count as done', () => {
    const agenda = agendaOf([], nothing);
    expect(agenda.map(what)).toEqual([
      ['settled', null, '2026-11-20T14:30:00.000Z'],
      ['listing', null, null],
      ['reading', null, null],
    ]);
    const passes = agenda.slice(1);
    expect(passes.map((pass) => isDue(pass, daysLater(89), undefined))).toEqual([false, false]);
    expect(passes.map((pass) => isDue(pass, daysLater(90), undefined))).toEqual([true, false]);
    expect(passes.map((pass) => isDue(pass, daysLater(7), 7))).toEqual([false, true]);
  });

  it('is what became settled or new since, what is open, what was left, and each once', () => {
    const before = new Date('2026-11-19T23:30:00.000Z');
    const run = new Date('2026-11-20T06:00:00.000Z');
    const key = objectKey({ resource: 'log', cluster: 'a', run });
    const open = new Map([[run.getTime(), [{ kind: 'damaged', key, problem: '', since: run.toISOString() } as const]]]);
    const left: SealState['todo'] = [dueFrom('new', before, { from: null, to: run.toISOString() })];
    const options = { now, before, added: { from: run, to: now, seal: 3 }, lost: [run], open };
    const agenda = agendaOf(left, options);
    expect(agenda.map(what)).toEqual([
      ['new', null, run.toISOString()],
      ['settled', '2026-11-19T14:30:00.001Z', '2026-11-20T14:30:00.000Z'],
      ['settled', run.toISOString(), run.toISOString()],
      ['open', run.toISOString(), run.toISOString()],
      ['new', run.toISOString(), now.toISOString(), 3],
      ['listing', null, null],
      ['reading', null, null],
    ]);
    const { slice } = divide(agenda[3] as Work, [run.getTime()], ['a', 'b']);
    expect(slice).toMatchObject({ depth: 'content', isSettled: true, clusters: { names: ['a'] } });
    const again = agenda.flatMap((one) => (one.what === 'open' ? [] : { ...one, what: one.what }));
    expect(agendaOf(again, { ...options, open: new Map() })).toEqual(again);
  });

  it('of a pass keeps when it began, however long it goes on', () => {
    const pass = begun(done(dueFrom('listing', daysLater(-100))), now);
    expect(pass.since).toBe(now.toISOString());
    expect(begun(halved(pass), daysLater(1)).since).toBe(now.toISOString());
    expect(done(halved(pass))).toEqual({ ...pass, isDone: true });
  });
});

describe('what is judged at once', () => {
  /** Counts how often each cluster of each run is in a slice. */
  function judged(first: Work, runs: readonly number[], names: readonly string[], most: number): Map<string, number> {
    const times = new Map<string, number>();
    let todo: readonly Work[] = [first];
    for (let slices = 0; todo.length > 0; slices += 1) {
      const [next, ...behind] = todo as [Work, ...Work[]];
      const { slice, left } = divide(next, runs, names);
      const own = runs.filter((run) => isWithin(new Date(run), slice));
      expect(own.length * slice.clusters.names.length * 2).toBeLessThanOrEqual(Math.max(most, 2 * own.length));
      count(slice, own, times);
      todo = [...left, ...behind];
      if (slices > 10_000) throw new Error('it does not end');
    }
    return times;
  }

  function count(slice: Slice, runs: readonly number[], times: Map<string, number>): void {
    for (const run of runs)
      for (const cluster of slice.clusters.names) {
        expect(slice.clusters.has({ cluster })).toBe(true);
        const name = `${cluster} ${run}`;
        times.set(name, (times.get(name) ?? 0) + 1);
      }
  }

  it.each([
    'settled',
    'new',
    'listing',
    'reading',
  ] as const)('of what is %s has each cluster of each run once, however small it has to be', (what) => {
    const random = seededRandom(`slices of ${what}`);
    for (let round = 0; round < 60; round += 1) {
      const runs = Array.from({ length: between(random, 0, 60) }, (_, at) => now.getTime() + at * hour);
      const names = Array.from({ length: between(random, 0, 12) }, (_, at) => `c${String(at).padStart(2, '0')}`);
      const atOnce = pick(random, [2, 7, 40, 500, 40_000, 100_000_000]);
      const from = pick(random, [undefined, ...runs]);
      const first = dueFrom(what, now, from === undefined ? {} : { from: new Date(from).toISOString() });
      const times = judged({ ...first, atOnce }, runs, names, atOnce);
      const own = runs.filter((run) => from === undefined || run >= from);
      expect([times.size, [...times.values()].every((one) => one === 1)]).toEqual([own.length * names.length, true]);
    }
  });

  it('of what is new has all clusters of as many runs as fit, so that their records are read once', () => {
    const runs = Array.from({ length: 24 }, (_, at) => now.getTime() + at * hour);
    const names = Array.from({ length: 1000 }, (_, at) => String(at).padStart(4, '0'));
    const { slice, left } = divide(dueFrom('new', now), runs, names);
    expect([slice.clusters.names.length, slice.to]).toEqual([1000, new Date(runs[19] ?? 0)]);
    expect(left.map(({ from, to }) => [from, to])).toEqual([[new Date((runs[19] ?? 0) + 1).toISOString(), null]]);
  });
});
