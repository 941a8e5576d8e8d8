import { dayMs } from '../../archive/format/clocks';
import { resourceNames } from '../../archive/format/resources';
import type { Seal } from '../../archive/format/seal';
import type { Pass, SealState } from '../../archive/format/seal-state';
import { judgeRest, type Slice } from '../../archive/prove/attest';
import { clusterNames, clustersBetween } from '../../archive/read';
import type { AuditJudge } from './audit-judge';

/** What is there is compared with the run records at least so often, in days. */
export const listingDays = 90;

/**
 * Runs of a stretch. Of one cluster, the keys of 999 and the one behind them are one answer of S3. Objects that are read take
 * longer than that: with fewer runs a slice has more clusters, and reads fewer run records.
 */
const runsAtOnce = { reading: 200, listing: 999 } as const;

/**
 * Objects of a slice, whose judgement begins anew if the time does not suffice: those that are read take 190 s. Each slice reads
 * all run records of its runs, so that as many clusters as have room for a few bits of each object are listed at once.
 */
const mostAtOnce = { reading: 40_000, listing: 100_000_000 } as const;

/** Which of them is judged: what is there, or what it holds too. */
type Kind = keyof typeof mostAtOnce;

/** Where both passes are. */
type Passes = Pick<SealState['cursor'], Kind>;

/** What the passes did in this audit. */
export interface OldJudged {
  readonly passes: Passes;
  objects: number;
  bytes: number;
  /** When all of the archive was read last. */
  all: Seal['verified']['all'];
}

/** A pass from the beginning. */
export function newPass(now: Date, kind: Kind): Pass {
  const place = { from: null, to: null, cluster: null };
  return { since: now.toISOString(), isDone: false, ...place, atOnce: mostAtOnce[kind] };
}

/** Days within which a pass is due again; undefined: never. Whoever reads all of it within these days lists it too. */
function daysOf(kind: Kind, rereadDays: number | undefined): number | undefined {
  if (kind === 'reading') return rereadDays;
  return rereadDays !== undefined && rereadDays <= listingDays ? undefined : listingDays;
}

export interface JudgeOldOptions {
  /** Times of all runs that have a record, oldest first. */
  readonly runs: readonly number[];
  /** Within which old content is read again; undefined: it is not. */
  readonly rereadDays: number | undefined;
  /** Whether there is time for it: false before all that is new was read. */
  readonly isDue: boolean;
}

/**
 * Judges what is old again, as far as there is time, from where the audit before ended: some clusters of many runs at once, so
 * that a pass that lists takes a request for each 1,000 keys and two for each cluster.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function judgeOld(judge: AuditJudge, options: JudgeOldOptions): Promise<OldJudged> {
  const { state, head } = judge.chain;
  // What is new to the first audit is not old.
  const done = (kind: Kind) => state.cursor[kind] ?? { ...newPass(judge.now, kind), isDone: true };
  const passes = { listing: done('listing'), reading: done('reading') };
  const judged: OldJudged = { passes, objects: 0, bytes: 0, all: head?.verified.all ?? null };
  for (const kind of options.isDue ? (['listing', 'reading'] as const) : [])
    passes[kind] = await goOn(judge, options, kind, passes[kind], judged);
  return judged;
}

/** Goes on with a pass, or begins the next once the last one is old enough. @returns where it is then */
async function goOn(
  judge: AuditJudge,
  { runs, rereadDays }: JudgeOldOptions,
  kind: Kind,
  before: Pass,
  judged: OldJudged,
): Promise<Pass> {
  const { now, reader, configurations, find } = judge;
  const days = daysOf(kind, rereadDays);
  if (before.isDone && (days === undefined || now.getTime() - Date.parse(before.since) < days * dayMs)) return before;
  const first = before.isDone ? newPass(now, kind) : before;
  let pass = first;
  await judge.inTime(async () => {
    const names = await clusterNames(reader, find);
    for await (const finding of judgeRest(reader, configurations)) judge.observe({ finding });
    while (!pass.isDone) pass = await judgeSlice(judge, runs, names, pass, kind, judged);
  });
  if (pass.isDone && kind === 'reading') judged.all = { from: pass.since, to: now.toISOString() };
  // A slice that takes longer than an audit has time would never end.
  return pass === before ? { ...pass, atOnce: Math.max(2, pass.atOnce >> 1) } : pass;
}

/** @returns where the pass goes on */
async function judgeSlice(
  judge: AuditJudge,
  runs: readonly number[],
  names: readonly string[],
  pass: Pass,
  kind: Kind,
  judged: OldJudged,
): Promise<Pass> {
  const { stretch, count } = stretchOf(pass, runs, kind);
  const from = pass.cluster ?? undefined;
  const size = Math.max(1, Math.floor(pass.atOnce / (resourceNames.length * Math.max(1, count))));
  const end = clustersBetween(names, from).names[size];
  const clusters = clustersBetween(names, from, end);
  await judge.judgeSlice({ ...stretch, clusters, depth: kind === 'reading' ? 'content' : 'names' }, (bytes) => {
    judged.objects += 1;
    judged.bytes += bytes;
  });
  return behind(pass, stretch, end);
}

/** The stretch that a pass is in: it was fixed when its first slice was judged. Where slices take too long it has fewer runs. */
function stretchOf({ from, to, cluster, atOnce }: Pass, runs: readonly number[], kind: Kind) {
  const most = Math.max(1, Math.floor((runsAtOnce[kind] * atOnce) / mostAtOnce[kind]));
  const start = from === null ? undefined : new Date(from);
  const isBehind = (run: number) => start === undefined || run >= start.getTime();
  const left = runs.filter(isBehind);
  const last = left.length > most ? left[most - 1] : undefined;
  const chosen = last === undefined ? undefined : new Date(last);
  const end = cluster === null ? chosen : to === null ? undefined : new Date(to);
  const count = left.filter((run) => end === undefined || run <= end.getTime()).length;
  return { stretch: { from: start, to: end }, count };
}

/** Where a pass goes on behind a slice. @param next first cluster of the next slice; undefined: there is none */
function behind(pass: Pass, { to }: Pick<Slice, 'to'>, next: string | undefined): Pass {
  if (next !== undefined) return { ...pass, to: to?.toISOString() ?? null, cluster: next };
  if (to === undefined) return { ...pass, isDone: true, from: null, to: null, cluster: null };
  return { ...pass, from: new Date(to.getTime() + 1).toISOString(), to: null, cluster: null };
}
