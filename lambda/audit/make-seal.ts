import { isOptional } from '../../archive/format/configuration';
import { counted, moreOf } from '../../archive/format/counted';
import type { AuditPlan } from '../../archive/format/plan';
import { type Hashed, mostNamed, type Seal, sealSchema } from '../../archive/format/seal';
import type { Failing, OpenFinding, SealState, Summary } from '../../archive/format/seal-state';
import { openDamage, type SealChain } from '../../archive/prove/attest';
import { groupReasons } from '../group-reasons';
import { dueFrom, type Work } from './agenda';
import type { ClusterOutcomes, FailingCluster } from './cluster-outcomes';
import type { Findings, Rechecked } from './findings';
import type { FleetInForce } from './fleet-in-force';
import type { Habits } from './habits';
import type { ListMembers } from './list-members';
import type { LogSeams } from './log-seams';
import type { NewRecords } from './seal-records';
import { toldSince } from './told-since';
import type { Totals } from './totals';

/** A seal that still has to name its state, and that state. */
export interface UnsignedSeal {
  readonly seal: Omit<Seal, 'state'>;
  readonly state: SealState;
}

/** What a seal is made of, beside what an audit saw. */
export interface SealContext {
  /** What is known of the seal beforehand. */
  readonly own: Pick<Seal, 'archive' | 'seal' | 'keyArn' | 'collectorVersion'>;
  readonly members?: FleetInForce['members'];
  readonly plan: AuditPlan;
  readonly chain: SealChain;
  readonly findings: Findings;
  /** Stamps that were judged and are right; those that no seal names yet are sealed. */
  readonly stamps: readonly Hashed[];
  /** The time by S3's own clock when the audit began to list. */
  readonly now: Date;
}

/** What an audit saw, by those who looked on. */
export interface Looked {
  readonly records: NewRecords;
  readonly due: Seal['due'];
  readonly clusters: ClusterOutcomes;
  readonly habits: Habits;
  readonly totals: Totals;
  readonly logs: LogSeams;
  /** What was open before, and was judged again. */
  readonly checked: ReadonlyMap<OpenFinding, Rechecked>;
  /** What is left to do. */
  readonly left: readonly Work[];
}

/** Run records and objects that a seal lists. Each takes at most 1,200 bytes, and a seal is read up to 64 MiB. */
export const mostListed = 50_000;

/** Clusters that joined, and that left, that a state names. */
const mostMembers = 50;

/** Puts together what an audit signs. */
export function makeSeal(context: SealContext, looked: Looked): UnsignedSeal {
  const { own, plan, chain, now, findings, stamps } = context;
  const { records, due, totals, clusters, habits, logs } = looked;
  const { head, next } = chain;
  const { repaired, found, ...kept } = findings.settle(chain, looked.checked, own.seal);
  const todo = todoOf(looked.left, moreOf(kept.open) > 0, now);
  const open = openOf(kept.open, chain, todo);
  const failing = clusters.failing(plan.clusters.filter((cluster) => !isOptional(cluster, now)).map(({ uid }) => uid));
  const absent = kept.findings.filter(({ kind }) => kind === 'absent');
  const summary = summaryOf(context, looked, { repaired, absent, failing });
  const sealed = sealedPlan(plan, head, own.seal);
  const damage = openDamage({ seal: own.seal, plan: sealed, open });
  // Once a day, whatever the audit's schedule is, and while damage is open, and when some was repaired.
  const isMailed = head?.seal.slice(0, 10) !== own.seal.slice(0, 10) || damage.count > 0 || repaired.count > 0;
  return {
    seal: {
      version: 1,
      ...own,
      previous: head === undefined ? null : { key: head.key, sha256: head.sha256 },
      ...next,
      listedFrom: now.toISOString(),
      records: records.records,
      objects: [...totals.hashed.values()].slice(0, mostListed - records.records.length),
      stamps: stamps.filter(({ key }) => !chain.sealedStamps.has(key)),
      unread: { behind: records.behind, keys: records.unread.slice(0, mostNamed) },
      plan: sealed,
      configurations: records.configurations,
      due,
      verified: verifiedOf(context, looked, todo),
      found,
      open: { damage: damage.count, acknowledged: damage.acknowledged.length, unreadable: damage.unreadable.length },
    },
    state: {
      findings: kept.findings,
      open,
      summary,
      failing: failing.map(({ failure, ...one }) => ({ ...one, isMailed: isMailedBefore(one, chain.state) })),
      logs: logs.summary.result(
        plan.clusters.map(({ uid }) => uid),
        isMailed,
      ),
      habits: habits.state(),
      todo,
    },
  };
}

/** What was read, and what there was no time for. */
function verifiedOf(
  { own, plan, chain: { head, seals } }: SealContext,
  { records, totals }: Looked,
  todo: SealState['todo'],
): Seal['verified'] {
  const isAllRead = !todo.some(({ what }) => what === 'new');
  const left = (head?.verified.carriedOver ?? 0) + records.archived - (totals.read.objects - totals.read.old);
  const all = totals.all ?? head?.verified.all ?? null;
  return {
    ...totals.read,
    carriedOver: isAllRead ? 0 : Math.max(0, left),
    carriedOverRecords: records.carriedOver + records.unread.length,
    expired: totals.expired.size,
    all,
    notReadSince: plan.rereadDays === undefined ? (all?.to ?? seals[0]?.seal ?? own.seal) : null,
  };
}

/** What a mail tells, since the newest seal that was mailed. */
function summaryOf(
  { own, plan, chain, members }: SealContext,
  { records, due, totals, clusters, habits }: Looked,
  {
    repaired,
    absent,
    failing,
  }: Pick<Summary, 'repaired'> & {
    readonly absent: SealState['findings'];
    readonly failing: readonly FailingCluster[];
  },
): Summary {
  const lastRun = [...records.runs.keys()].at(-1);
  const failures = failing.map(({ cluster, failure }) => failure ?? { cluster, error: 'no new run covers it' });
  const isTold = chain.stateOf === undefined || chain.state.logs.isMailed;
  return toldSince(isTold ? undefined : chain.state.summary, {
    ...clusters.summary(),
    read: totals.read,
    unusual: habits.unusual(),
    ...(members && { clusters: membersOf(members) }),
    repaired,
    lastRun: lastRun === undefined ? null : new Date(lastRun).toISOString(),
    reasons: groupReasons(failures),
    ...(!plan.schedule.enabled && { pausedSince: chain.state.summary.pausedSince ?? own.seal }),
    absent: { count: due.absent.length, first: absent.map(({ key, problem }) => ({ key, problem })) },
  });
}

function membersOf({ runs, joined, left, away, lessened, anew }: ListMembers): Summary['clusters'] {
  const first = <One>(all: readonly One[]) => counted(all, mostMembers);
  const members = { joined: first(joined), left: first(left), away: first(away), lessened: first(lessened) };
  return { runs, ...members, anew: first(anew) };
}

/**
 * What the next audit has to do beside what is open. What no state has room for is found again by judging everything again.
 * @param isMore whether there is such a thing
 */
function todoOf(left: readonly Work[], isMore: boolean, now: Date): SealState['todo'] {
  const todo = left.flatMap(({ what, clusters, ...one }) => (what === 'open' ? [] : { what, ...one }));
  return isMore ? [...todo.filter(({ what }) => what !== 'reading'), dueFrom('reading', now)] : todo;
}

/** What is open. What the state before had no room for counts until all was read again. */
function openOf(own: SealState['open'], { state }: SealChain, todo: SealState['todo']): SealState['open'] {
  const isReading = todo.some(({ what, isDone }) => what === 'reading' && !isDone);
  const more = isReading ? Math.max(moreOf(own), moreOf(state.open)) : 0;
  return { ...own, count: own.first.length + more };
}

/** Whether people know already that a cluster fails since a run. */
function isMailedBefore({ cluster, since }: Failing, { failing, logs }: SealState): boolean {
  const before = failing.find((one) => one.cluster === cluster && one.since === since);
  return before !== undefined && (logs.isMailed || before.isMailed === true);
}

/**
 * What a seal has of what the audit was deployed with. An erasure without an end ends with the first seal that has it.
 * @param before the seal before
 * @param seal the time of the audit
 */
export function sealedPlan(
  { erased, ...plan }: AuditPlan,
  before: Pick<Seal, 'plan'> | undefined,
  seal: string,
): Seal['plan'] {
  const endOf = ({ cluster, from, why }: NonNullable<typeof erased>[number]) =>
    before?.plan.erased?.find((one) => one.cluster === cluster && one.from === from && one.why === why)?.to ?? seal;
  const ended = erased?.map((one) => ({ ...one, to: one.to ?? endOf(one) }));
  return sealSchema.shape.plan.parse({ ...plan, ...(ended && { erased: ended }), clusters: plan.clusters.length });
}
