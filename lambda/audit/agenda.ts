import { dayMs, settled } from '../../archive/format/clocks';
import { parseObjectKey } from '../../archive/format/keys';
import { resourceNames } from '../../archive/format/resources';
import type { Due, OpenFinding, SealState } from '../../archive/format/seal-state';
import type { Slice } from '../../archive/prove/attest';
import { clustersBetween, isWithin, namedClusters, type Period } from '../../archive/read';

/** Whether everything is there that records name is judged again at least so often, in days. */
export const listingDays = 90;

/**
 * How much is judged at once. Runs: of one cluster, the keys of 999 and the one behind them are one answer of S3; content takes
 * longer than that: with fewer runs a slice has more clusters, and reads fewer run records. Objects: those that are read take
 * 190 s, and judging them begins anew if the time does not suffice.
 */
const listed = { runs: 999, objects: 100_000_000 } as const;
const read = { runs: 200, objects: 40_000 } as const;
const mostAtOnce = { settled: listed, open: read, new: read, listing: listed, reading: read } as const;

/** Something to be judged. What is open is in the state by itself, and not in its list of what is to do. */
export interface Work extends Omit<Due, 'what'> {
  readonly what: Due['what'] | 'open';
  /** Left out: all from its first one on. */
  readonly clusters?: Slice['clusters'];
}

/** The order in which it matters. */
export const order = ['settled', 'open', 'new', 'listing', 'reading'] as const satisfies readonly Work['what'][];

const everything = { from: null, to: null, cluster: null };

/** Something that is due since a time. @param part left out: all of the archive */
export function dueFrom<What extends Work['what']>(
  what: What,
  since: Date,
  part: Partial<Pick<Due, 'from' | 'to'>> = {},
) {
  return { what, since: since.toISOString(), ...everything, ...part, atOnce: mostAtOnce[what].objects };
}

/** Whether it goes through all of the archive again. */
export function isPass({ what }: Pick<Work, 'what'>): boolean {
  return what === 'listing' || what === 'reading';
}

/** Days within which a pass is due again; undefined: never. Whoever reads all of it within these days lists it too. */
function daysOf(what: Work['what'], rereadDays: number | undefined): number | undefined {
  if (what === 'reading') return rereadDays;
  return rereadDays !== undefined && rereadDays <= listingDays ? undefined : listingDays;
}

export interface AgendaOptions {
  readonly now: Date;
  /** When the audit began to list that the state is of; undefined: there is none, and everything is new. */
  readonly before: Date | undefined;
  /** The first and the last run with new records; undefined: there is none. And the number of the first seal that has them. */
  readonly added: { readonly from: Date; readonly to: Date; readonly seal: number } | undefined;
  /** Runs that have lost a sealed record. */
  readonly lost: readonly Date[];
  /** What is open, by its run, the one whose last judgement is oldest first. */
  readonly open: ReadonlyMap<number, readonly OpenFinding[]>;
}

/** Runs that have lost a sealed record of which one audit looks for objects that nobody vouches for: a pass finds the others. */
const mostLost = 20;

/**
 * What is to be judged: what the audit before left, what has become settled or is new since, what is open, and the passes. What
 * is new to the first audit is not old.
 */
export function agendaOf(todo: SealState['todo'], options: AgendaOptions): Work[] {
  const { now, before, added, lost, open } = options;
  const runs = (what: Work['what'], from: Date | undefined, to: Date, more = {}) =>
    from !== undefined && from > to
      ? []
      : [{ ...dueFrom(what, now, { from: from?.toISOString() ?? null, to: to.toISOString() }), ...more }];
  const own = [
    ...runs('settled', before && new Date(settled(before).getTime() + 1), settled(now)),
    ...lost.slice(0, mostLost).flatMap((run) => runs('settled', run, run)),
    ...[...open].flatMap(([run, found]) => {
      const clusters = namedClusters(found.flatMap(({ key }) => parseObjectKey(key)?.cluster ?? []));
      return runs('open', new Date(run), new Date(run), { clusters });
    }),
    ...(added === undefined ? [] : runs('new', added.from, added.to, { seal: added.seal })),
  ];
  const key = ({ what, from, to, cluster, seal }: Work) => JSON.stringify([what, from, to, cluster, seal]);
  const known = new Set(todo.map(key));
  const passes = (['listing', 'reading'] as const).filter((what) => !todo.some((one) => one.what === what));
  return [...todo, ...own.filter((one) => !known.has(key(one))), ...passes.map((what) => done(dueFrom(what, now)))];
}

/** A pass of which nothing is left: it keeps the time at which it began. */
export function done({ what, since }: Work): Work {
  return { ...dueFrom(what, new Date(since)), isDone: true };
}

/** A pass that is done is due again after some days. */
export function isDue({ what, since, isDone }: Work, now: Date, rereadDays: number | undefined): boolean {
  const days = daysOf(what, rereadDays);
  return isDone !== true || (days !== undefined && now.getTime() - Date.parse(since) >= days * dayMs);
}

/** A pass that begins again: one that goes on keeps the time at which it began. */
export function begun(work: Work, now: Date): Work {
  return work.isDone ? dueFrom(work.what, now) : work;
}

/** What took too long for one audit is judged in smaller parts. */
export function halved(work: Work): Work {
  return { ...work, atOnce: Math.max(2, work.atOnce >> 1) };
}

/**
 * Takes off as much as is judged at once: some clusters of many runs, so that a pass that lists takes a request for each 1,000
 * keys and two for each cluster. Of what is new it takes all clusters, if one run has not too many: each slice reads the records
 * of its runs.
 * @param runs times of the runs of which something is to be judged, oldest first
 * @param names of all clusters, in the order of keys
 */
export function divide(
  work: Work,
  runs: readonly number[],
  names: readonly string[],
): { readonly slice: Slice; readonly left: readonly Work[] } {
  const { what, clusters, atOnce, seal } = work;
  const depth = mostAtOnce[what] === read ? 'content' : 'names';
  // What was found once does not become younger.
  if (clusters !== undefined) return { slice: { ...periodOf(work), clusters, depth, isSettled: true }, left: [] };
  const { part, behind, count } = ofRuns(work, runs, names.length);
  const from = part.cluster ?? undefined;
  const size = Math.max(1, Math.floor(atOnce / (resourceNames.length * Math.max(1, count))));
  const end = clustersBetween(names, from).names[size];
  const left = end === undefined ? behind : [{ ...part, cluster: end }, ...behind];
  const slice = { ...periodOf(part), clusters: clustersBetween(names, from, end), depth } as const;
  return { slice: seal === undefined ? slice : { ...slice, sealedSince: seal }, left };
}

/** Takes off as many runs as are judged at once. Of a part whose first clusters were judged it takes all. */
function ofRuns(work: Work, runs: readonly number[], clusters: number) {
  const { what, atOnce, cluster } = work;
  const own = runs.filter((run) => isWithin(new Date(run), periodOf(work)));
  const most = mostAtOnce[what];
  const fitting = Math.floor(atOnce / (resourceNames.length * Math.max(1, clusters)));
  const usual = Math.floor((most.runs * atOnce) / most.objects);
  const atMost = Math.max(1, what === 'new' ? Math.min(usual, fitting) : usual);
  const last = cluster === null && own.length > atMost ? own[atMost - 1] : undefined;
  if (last === undefined) return { part: work, behind: [], count: own.length };
  const behind = { ...work, from: new Date(last + 1).toISOString() };
  return { part: { ...work, to: new Date(last).toISOString() }, behind: [behind], count: atMost };
}

function periodOf({ from, to }: Work): Period {
  return { from: from === null ? undefined : new Date(from), to: to === null ? undefined : new Date(to) };
}
