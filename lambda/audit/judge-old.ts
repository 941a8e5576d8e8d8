import { resourceNames } from '../resources';
import { dayMs } from '../time-limits';
import { clusterNames, clustersBetween } from '../verify/clusters';
import { notAKey } from '../verify/finding';
import { judge, type Stretch } from '../verify/judge';
import type { Hashed, Seal } from '../verify/seals/seal';
import type { Pass } from '../verify/seals/seal-state';
import { verifyRest } from '../verify/verify-rest';
import { type AuditWalk, inTime, judging } from './audit-walk';

/** What is there is compared with the run records at least so often, read or not. */
const mostDays = 90;

/** Runs of a stretch: of one cluster, their keys are one answer of S3. */
const runsAtOnce = 1000;

/** Objects of a slice, whose judgement begins anew if the time does not suffice: those that are read take 80 s. */
const mostAtOnce = { read: 20_000, listed: 2_000_000 } as const;

/** What a pass did in this audit. */
export interface OldJudged {
  readonly pass: Pass;
  readonly objects: number;
  readonly bytes: number;
  /** Objects that no run record names and no seal has. */
  readonly hashed: Hashed[];
  /** When all of the archive was read last. */
  readonly all: Seal['verified']['all'];
}

type Mutable = { -readonly [Member in keyof OldJudged]: OldJudged[Member] };

/** The pass of an archive without a seal: everything is new to the first audit. */
export function noPass(now: Date): Pass {
  return { since: now.toISOString(), isRead: false, isDone: true, from: null, to: null, cluster: null, atOnce: 0 };
}

/** Whether content was read last so long ago that it has to be read again. */
function isReadingDue({ chain, plan: { rereadDays }, now }: AuditWalk): boolean {
  const readAt = chain.head?.verified.all?.from ?? chain.seals[0]?.listedFrom ?? now.toISOString();
  return rereadDays !== undefined && now.getTime() - Date.parse(readAt) >= rereadDays * dayMs;
}

/** A pass from the beginning. */
export function newPass(now: Date, isRead: boolean): Pass {
  return { ...noPass(now), isDone: false, isRead, atOnce: isRead ? mostAtOnce.read : mostAtOnce.listed };
}

/**
 * Judges what is old again, as far as there is time, from where the audit before ended: some clusters of up to 1,000 runs at
 * once, so that listing takes a request for each 1,000 keys and two for each cluster and pass.
 * @param runs times of all runs that have a record, oldest first
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function judgeOld(walk: AuditWalk, runs: readonly number[]): Promise<OldJudged> {
  const { chain, plan, now } = walk;
  const before = chain.state.cursor.pass ?? noPass(now);
  const days = Math.min(plan.rereadDays ?? mostDays, mostDays);
  const isNext = before.isDone && now.getTime() - Date.parse(before.since) >= days * dayMs;
  const begun = isNext ? newPass(now, isReadingDue(walk)) : before;
  const judged: Mutable = {
    pass: begun,
    objects: 0,
    bytes: 0,
    hashed: [] as Hashed[],
    all: chain.head?.verified.all ?? null,
  };
  if (begun.isDone) return judged;
  await inTime(walk, async () => {
    const names = await clusterNames(walk.reader, ({ key, damage }) => walk.find('unrecorded', key, damage ?? notAKey));
    await verifyRest(walk.reader, walk.configurations, walk.find);
    while (!judged.pass.isDone) await judgeSlice(walk, runs, names, judged);
  });
  const { pass } = judged;
  if (pass.isDone && pass.isRead) return { ...judged, all: { from: pass.since, to: now.toISOString() } };
  // A slice that takes longer than an audit has time would never end.
  const isStuck = pass.from === begun.from && pass.to === begun.to && pass.cluster === begun.cluster && !isNext;
  return isStuck ? { ...judged, pass: { ...pass, atOnce: Math.max(2, pass.atOnce >> 1) } } : judged;
}

async function judgeSlice(
  walk: AuditWalk,
  runs: readonly number[],
  names: readonly string[],
  judged: Mutable,
): Promise<void> {
  const { pass } = judged;
  const { stretch, count } = stretchOf(pass, runs);
  const from = pass.cluster ?? undefined;
  const size = Math.max(1, Math.floor(pass.atOnce / (resourceNames.length * Math.max(1, count))));
  const end = clustersBetween(names, from).names[size];
  const clusters = clustersBetween(names, from, end);
  const { context, settle } = judging(walk, {
    isRead: () => pass.isRead,
    onObject: ({ bytes }) => {
      judged.objects += 1;
      judged.bytes += bytes;
    },
  });
  for await (const _ of judge({ ...stretch, clusters }, context));
  for (const one of await settle()) judged.hashed.push(one);
  judged.pass = behind(pass, stretch, end);
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
