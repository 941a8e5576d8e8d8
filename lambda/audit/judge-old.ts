import { resourceNames } from '../resources';
import { dayMs } from '../time-limits';
import { clusterNames, clustersBetween } from '../verify/clusters';
import { notAKey } from '../verify/finding';
import { judge, type Stretch } from '../verify/judge';
import type { Hashed, Seal } from '../verify/seals/seal';
import type { Pass, SealState } from '../verify/seals/seal-state';
import { verifyRest } from '../verify/verify-rest';
import { type AuditWalk, inTime, judging } from './audit-walk';

/** What is there is compared with the run records at least so often, in days. */
export const listingDays = 90;

/** Runs of a stretch: of one cluster, their keys and the one behind them are one answer of S3. */
const runsAtOnce = 999;

/** Objects of a slice, whose judgement begins anew if the time does not suffice: those that are read take 80 s. */
const mostAtOnce = { reading: 20_000, listing: 2_000_000 } as const;

/** Which of them is judged: what is there, or what it holds too. */
type Kind = keyof typeof mostAtOnce;

/** What the passes did in this audit. */
export interface OldJudged extends Pick<SealState['cursor'], Kind> {
  objects: number;
  bytes: number;
  /** Objects that no run record names and no seal has. */
  readonly hashed: Hashed[];
  /** When all of the archive was read last. */
  all: Seal['verified']['all'];
}

/** A pass from the beginning. */
export function newPass(now: Date, kind: Kind): Pass {
  const place = { from: null, to: null, cluster: null };
  return { since: now.toISOString(), isDone: false, ...place, atOnce: mostAtOnce[kind] };
}

/** Days within which a pass is due again; undefined: never. */
function daysOf(kind: Kind, { rereadDays }: Pick<AuditWalk['plan'], 'rereadDays'>): number | undefined {
  return kind === 'listing' ? listingDays : rereadDays;
}

/** Where the passes are before this audit. What is new to the first audit is not old. */
export function passesOf({ chain, now }: AuditWalk): Pick<SealState['cursor'], Kind> {
  const { listing, reading } = chain.state.cursor;
  return {
    listing: listing ?? { ...newPass(now, 'listing'), isDone: true },
    reading: reading ?? { ...newPass(now, 'reading'), isDone: true },
  };
}

/**
 * Judges what is old again, as far as there is time, from where the audit before ended: some clusters of up to 1,000 runs at
 * once, so that listing takes a request for each 1,000 keys and two for each cluster and pass.
 * @param runs times of all runs that have a record, oldest first
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function judgeOld(walk: AuditWalk, runs: readonly number[]): Promise<OldJudged> {
  const all = walk.chain.head?.verified.all ?? null;
  const judged: OldJudged = { ...passesOf(walk), objects: 0, bytes: 0, hashed: [], all };
  for (const kind of ['listing', 'reading'] as const) await goOn(walk, runs, kind, judged);
  return judged;
}

/** Goes on with a pass, or begins the next once the last one is old enough. */
async function goOn(walk: AuditWalk, runs: readonly number[], kind: Kind, judged: OldJudged): Promise<void> {
  const { plan, now, reader, configurations, find } = walk;
  const before = judged[kind];
  const days = daysOf(kind, plan);
  if (before === null || (days === undefined && before.isDone)) return;
  const isNext = before.isDone && now.getTime() - Date.parse(before.since) >= (days ?? 0) * dayMs;
  if (before.isDone && !isNext) return;
  let pass = isNext ? newPass(now, kind) : before;
  judged[kind] = pass;
  const first = pass;
  await inTime(walk, async () => {
    const names = await clusterNames(reader, ({ key, damage }) => find('unrecorded', key, damage ?? notAKey));
    await verifyRest(reader, configurations, find);
    while (!pass.isDone) {
      pass = await judgeSlice(walk, runs, names, pass, kind, judged);
      judged[kind] = pass;
    }
  });
  if (pass.isDone && kind === 'reading') judged.all = { from: pass.since, to: now.toISOString() };
  // A slice that takes longer than an audit has time would never end.
  if (pass === first && !isNext) judged[kind] = { ...pass, atOnce: Math.max(2, pass.atOnce >> 1) };
}

/** @returns where the pass goes on */
async function judgeSlice(
  walk: AuditWalk,
  runs: readonly number[],
  names: readonly string[],
  pass: Pass,
  kind: Kind,
  judged: OldJudged,
): Promise<Pass> {
  const { stretch, count } = stretchOf(pass, runs);
  const from = pass.cluster ?? undefined;
  const size = Math.max(1, Math.floor(pass.atOnce / (resourceNames.length * Math.max(1, count))));
  const end = clustersBetween(names, from).names[size];
  const clusters = clustersBetween(names, from, end);
  const { context, settle } = judging(walk, {
    isRead: () => kind === 'reading',
    onObject: ({ bytes }) => {
      judged.objects += 1;
      judged.bytes += bytes;
    },
  });
  for await (const _ of judge({ ...stretch, clusters }, context));
  for (const one of await settle()) judged.hashed.push(one);
  return behind(pass, stretch, end);
}

/** The stretch that a pass is in: it was fixed when its first slice was judged. */
function stretchOf({ from, to, cluster }: Pass, runs: readonly number[]) {
  const start = from === null ? undefined : new Date(from);
  const isBehind = (run: number) => start === undefined || run >= start.getTime();
  const left = runs.filter(isBehind);
  const last = left.length > runsAtOnce ? left[runsAtOnce - 1] : undefined;
  const chosen = last === undefined ? undefined : new Date(last);
  const end = cluster === null ? chosen : to === null ? undefined : new Date(to);
  const count = left.filter((run) => end === undefined || run <= end.getTime()).length;
  return { stretch: { from: start, to: end }, count };
}

/** Where a pass goes on behind a slice. @param next first cluster of the next slice; undefined: there is none */
function behind(pass: Pass, { to }: Omit<Stretch, 'clusters'>, next: string | undefined): Pass {
  if (next !== undefined) return { ...pass, to: to?.toISOString() ?? null, cluster: next };
  if (to === undefined) return { ...pass, isDone: true, from: null, to: null, cluster: null };
  return { ...pass, from: new Date(to.getTime() + 1).toISOString(), to: null, cluster: null };
}
