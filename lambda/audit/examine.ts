import { isOptional } from '../../archive/format/configuration';
import { counted, moreOf } from '../../archive/format/counted';
import { parseRunRecordKey } from '../../archive/format/keys';
import type { AuditPlan } from '../../archive/format/plan';
import { resources } from '../../archive/format/resources';
import type { RunOutcome } from '../../archive/format/run-record';
import { firingsOfSchedule } from '../../archive/format/schedule/firings';
import { type Hashed, mostNamed, type Seal, sealSchema } from '../../archive/format/seal';
import type { Failing, SealState, Summary } from '../../archive/format/seal-state';
import { checkObject, openDamage, type SealChain, unlessExpired } from '../../archive/prove/attest';
import type { ArchiveReader } from '../../archive/read';
import { groupReasons } from '../group-reasons';
import { agendaOf, dueFrom, type Work } from './agenda';
import { auditWorld } from './audit-world';
import { ClusterOutcomes } from './cluster-outcomes';
import type { Findings } from './findings';
import type { FleetInForce } from './fleet-in-force';
import { Habits } from './habits';
import { judgeRuns, judgeSeals } from './judge-due';
import type { ListMembers } from './list-members';
import { LogSeams } from './log-seams';
import { OpenChecks } from './open-checks';
import { sealRecords } from './seal-records';
import { toldSince } from './told-since';
import { Totals } from './totals';
import { walk } from './walk';

/** A seal that still has to name its state, and that state. */
export interface UnsignedSeal {
  readonly seal: Omit<Seal, 'state'>;
  readonly state: SealState;
}

export interface ExamineContext {
  /** What is known of the seal beforehand. */
  readonly own: Pick<Seal, 'archive' | 'seal' | 'keyArn' | 'collectorVersion'>;
  readonly members?: FleetInForce['members'];
  readonly reader: ArchiveReader;
  readonly plan: AuditPlan;
  readonly chain: SealChain;
  readonly findings: Findings;
  /** Stamps that were judged and are right; those that no seal names yet are sealed. */
  readonly stamps: readonly Hashed[];
  /** The time by S3's own clock when the audit began to list. */
  readonly now: Date;
  /** Aborts when the audit's time is over. */
  readonly stop: AbortSignal;
}

/** Run records and objects that a seal lists. Each takes at most 1,200 bytes, and a seal is read up to 64 MiB. */
const mostListed = 50_000;

/** Clusters that joined, and that left, that a state names. */
const mostMembers = 50;

/**
 * Audits the archive.
 * @returns what it computed, to be signed
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function examine(context: ExamineContext): Promise<UnsignedSeal> {
  return makeSeal(context, await look(context));
}

/** Looks at the archive in the order of what matters, as far as there is time. */
async function look(context: ExamineContext) {
  const { reader: archive, plan, chain, findings, own, now, stop } = context;
  const habits = new Habits(chain.state.habits, plan.clusters, now);
  const clusters = new ClusterOutcomes(chain.state.failing, plan.clusters, habits);
  const world = auditWorld({ archive, chain, plan, now, stop, keptName: clusters.sharedName });
  const totals = new Totals(world);
  const checks = new OpenChecks(chain.state.open.first, world);
  const logs = new LogSeams(world.reader, chain.state.logs, plan.clusters.length, plan.frozenAfterHours);

  const firings = firingsOfSchedule(plan.schedule);
  const records = await sealRecords(world, { ...context, archive, clusters, totals, most: mostListed, firings });
  const lost: Date[] = [];
  for (const gone of world.sealed.gone({}, records.there)) {
    const run = parseRunRecordKey(gone.key)?.run;
    if (run === undefined) continue;
    const judged = await unlessExpired(world, gone);
    totals.take(judged);
    if (!('finding' in judged)) continue;
    findings.add(judged.finding);
    lost.push(run);
  }
  judgeSeals(context, own.seal, records);
  const due = await judgeRuns(context, world.expiry, records);
  await checks.lookBeside(stop, findings.find);
  const agenda = agendaOf(chain.state.todo, {
    ...{ now, lost, open: checks.runs },
    before: chain.stateOf && new Date(chain.stateOf.listedFrom),
    added: records.span && { ...records.span, seal: (chain.stateOf?.number ?? 0) + 1 },
  });
  const left = await walk(agenda, world, {
    ...{ stop, findings, observers: [totals, checks, logs], rereadDays: plan.rereadDays, runs: records.runs },
    checkNew: (reader, key, outcome) => (isLog(outcome) ? logs.check(outcome) : checkObject(reader, key, outcome)),
  });
  for (const finding of world.configurations.findings) findings.add(finding);
  return { records, due, clusters, habits, totals, checked: checks.checked, logs, left };
}

/** Whether a record names a log. */
function isLog(outcome: RunOutcome | undefined): outcome is RunOutcome & { readonly key: string } {
  return outcome?.key !== undefined && resources[outcome.resource].holdsLog;
}

function membersOf({ runs, joined, left, away, lessened, anew }: ListMembers): Summary['clusters'] {
  const first = <One>(all: readonly One[]) => counted(all, mostMembers);
  const members = { joined: first(joined), left: first(left), away: first(away), lessened: first(lessened) };
  return { runs, ...members, anew: first(anew) };
}

/** Puts together what an audit signs. */
function makeSeal(context: ExamineContext, claims: Awaited<ReturnType<typeof look>>): UnsignedSeal {
  const { own, plan, chain, now, findings, members, stamps } = context;
  const { records, due, totals } = claims;
  const { head, next } = chain;
  const required = plan.clusters.filter((cluster) => !isOptional(cluster, now)).map(({ uid }) => uid);
  const failing = claims.clusters.failing(required);
  const failures = failing.map(({ cluster, failure }) => failure ?? { cluster, error: 'no new run covers it' });
  const lastRun = [...records.runs.keys()].at(-1);
  const configured = plan.clusters.map(({ uid }) => uid);
  const { repaired, found, ...kept } = findings.settle(chain, claims.checked, own.seal);
  const todo = todoOf(claims.left, moreOf(kept.open) > 0, now);
  const isReading = todo.some(({ what, isDone }) => what === 'reading' && !isDone);
  const more = isReading ? Math.max(moreOf(kept.open), moreOf(chain.state.open)) : 0;
  const open = { ...kept.open, count: kept.open.first.length + more };
  const absent = kept.findings.filter(({ kind }) => kind === 'absent');
  const isTold = chain.stateOf === undefined || chain.state.logs.isMailed;
  const summary = toldSince(isTold ? undefined : chain.state.summary, {
    ...claims.clusters.summary(),
    read: { objects: totals.read.new + totals.read.old, old: totals.read.old, bytes: totals.read.bytes },
    unusual: claims.habits.unusual(),
    ...(members && { clusters: membersOf(members) }),
    repaired,
    lastRun: lastRun === undefined ? null : new Date(lastRun).toISOString(),
    reasons: groupReasons(failures),
    ...(!plan.schedule.enabled && { pausedSince: chain.state.summary.pausedSince ?? own.seal }),
    absent: { count: due.absent.length, first: absent.map(({ key, problem }) => ({ key, problem })) },
  });
  const sealed = sealedPlan(plan, head, own.seal);
  const damage = openDamage({ seal: own.seal, plan: sealed, open });
  // Once a day, whatever the audit's schedule is, and while damage is open, and when some was repaired.
  const isMailed = head?.seal.slice(0, 10) !== own.seal.slice(0, 10) || damage.count > 0 || repaired.count > 0;
  const isAllRead = !todo.some(({ what }) => what === 'new');
  const all = totals.all ?? head?.verified.all ?? null;
  const seal: UnsignedSeal['seal'] = {
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
    verified: {
      objects: totals.read.new + totals.read.old,
      old: totals.read.old,
      bytes: totals.read.bytes,
      carriedOver: isAllRead ? 0 : Math.max(0, (head?.verified.carriedOver ?? 0) + records.archived - totals.read.new),
      carriedOverRecords: records.carriedOver + records.unread.length,
      expired: totals.expired.size,
      all,
      notReadSince: plan.rereadDays === undefined ? (all?.to ?? chain.seals[0]?.seal ?? own.seal) : null,
    },
    found,
    open: { damage: damage.count, acknowledged: damage.acknowledged.length, unreadable: damage.unreadable.length },
  };
  const state = {
    findings: kept.findings,
    open,
    summary,
    failing: failing.map(({ failure, ...one }) => ({ ...one, isMailed: isMailedBefore(one, chain.state) })),
    logs: claims.logs.summary.result(configured, isMailed),
    habits: claims.habits.state(),
    todo,
  };
  return { seal, state };
}

/**
 * What the next audit has to do beside what is open. What no state has room for is found again by judging everything again.
 * @param isMore whether there is such a thing
 */
function todoOf(left: readonly Work[], isMore: boolean, now: Date): SealState['todo'] {
  const todo = left.flatMap(({ what, clusters, ...one }) => (what === 'open' ? [] : { what, ...one }));
  return isMore ? [...todo.filter(({ what }) => what !== 'reading'), dueFrom('reading', now)] : todo;
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
