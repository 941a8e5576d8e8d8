import { settled } from '../../archive/format/clocks';
import { parseRunRecordKey } from '../../archive/format/keys';
import type { AuditPlan } from '../../archive/format/plan';
import { firingsOfSchedule } from '../../archive/format/schedule/firings';
import { type Hashed, mostNamed, type Seal, sealSchema } from '../../archive/format/seal';
import type { Failing, SealState, Summary } from '../../archive/format/seal-state';
import { Met, openDamage, type SealChain, unlessExpired } from '../../archive/prove/attest';
import type { ArchiveReader } from '../../archive/read';
import { groupReasons } from '../group-reasons';
import { type AuditJudge, auditJudge } from './audit-judge';
import { checkOpen } from './check-open';
import { ClusterOutcomes } from './cluster-outcomes';
import type { Findings } from './findings';
import type { FleetInForce } from './fleet-in-force';
import { judgeRuns, judgeSeals } from './judge-due';
import { listNew, readNew } from './judge-new';
import { judgeOld, newPass } from './judge-old';
import type { ListMembers } from './list-members';
import { LogSeams } from './log-seams';
import { sealRecords } from './seal-records';
import { toldSince } from './told-since';

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
  return makeSeal(context, await takeSteps(context));
}

/**
 * Works through the archive in the order of what matters, as far as there is time.
 */
async function takeSteps(context: ExamineContext) {
  const { reader: archive, plan, chain, findings } = context;
  const clusters = new ClusterOutcomes(chain.state.failing, plan.clusters);
  const judge = auditJudge({ ...context, archive, find: findings.find, keptName: clusters.sharedName });

  const { searchedTo, ...found } = await judgeNew(context, judge, clusters);
  const { expired } = judge.beside;
  // 4. What is open is looked at again.
  const checked = await checkOpen(judge);
  // 5. What is new is read.
  const logs = new LogSeams(judge.reader, chain.state.logs, plan.clusters.length, plan.frozenAfterHours);
  const read = await readNew(judge, chain.next.number, found.records, logs);
  // 6. What is old is listed and read again.
  const isDue = read.position.seal > chain.next.number;
  const old = await judgeOld(judge, { runs: [...found.records.runs], rereadDays: plan.rereadDays, isDue });

  for (const finding of judge.configurations.findings) judge.observe({ finding });
  const cursor = { verified: read.position, searchedTo, ...old.passes };
  return { ...found, expired, hashed: judge.beside.hashed, checked, read, old, logs, clusters, cursor };
}

/** Judges what is new, without its content. A call of its own: reading takes longest, and a run record needs the memory of what was met. */
async function judgeNew({ plan, chain, own, now }: ExamineContext, judge: AuditJudge, clusters: ClusterOutcomes) {
  const { searchedTo } = chain.state.cursor;
  const search = { from: searchedTo === null ? undefined : new Date(Date.parse(searchedTo) + 1), to: settled(now) };
  const met = new Met(clusters.sharedName);
  // 1. The run records that no seal has are hashed. What a seal has and the bucket has not is missing.
  const records = await sealRecords(judge, {
    ...{ clusters, met, search, most: mostListed },
    firings: firingsOfSchedule(plan.schedule),
  });
  const incomplete: Date[] = [];
  for (const gone of judge.sealed.gone({}, records.there)) {
    const run = parseRunRecordKey(gone.key)?.run;
    if (run === undefined) continue;
    const judged = await unlessExpired(judge, gone);
    judge.observe(judged);
    if ('finding' in judged) incomplete.push(run);
  }
  // 2. Seals and runs are compared with what was due.
  judgeSeals(judge, plan, own.seal, records);
  const due = await judgeRuns(judge, plan, records);
  // 3. What is new is listed: objects that no run record names.
  const isListed = await listNew(judge, met, records.behind === null ? search : undefined, incomplete);
  return { records, due, searchedTo: isListed ? search.to.toISOString() : searchedTo };
}

function firstOf({ runs, joined, left, away, lessened, anew }: ListMembers): Summary['clusters'] {
  const first = <One>(list: readonly One[]) => list.slice(0, mostMembers);
  return {
    runs,
    joined: first(joined),
    left: first(left),
    away: first(away),
    lessened: first(lessened),
    anew: first(anew),
  };
}

function countsOf({ joined, left, away, lessened }: ListMembers): Seal['clusters'] {
  return { joined: joined.length, left: left.length, away: away.length, lessened: lessened.length };
}

/** Puts together what an audit signs. */
function makeSeal(context: ExamineContext, claims: Awaited<ReturnType<typeof takeSteps>>): UnsignedSeal {
  const { own, plan, chain, now, findings, members, stamps } = context;
  const { records, read, old } = claims;
  const { head, next } = chain;
  const required = plan.clusters.filter(({ optional }) => !optional).map(({ uid }) => uid);
  const failing = claims.clusters.failing(required);
  const failures = failing.map(({ cluster, failure }) => failure ?? { cluster, error: 'no new run covers it' });
  const lastRun = [...records.runs].at(-1);
  const configured = plan.clusters.map(({ uid }) => uid);
  const { repaired, found, ...left } = findings.settle(chain, claims.checked, own.seal);
  // What no state has room for is found again by judging everything again.
  const reading = left.openMore === 0 ? claims.cursor.reading : newPass(now, 'reading');
  const open = { ...left, openMore: reading?.isDone ? 0 : Math.max(left.openMore, chain.state.openMore) };
  const absent = left.findings.filter(({ kind }) => kind === 'absent');
  const notCollected = claims.clusters.notCollected();
  const isTold = chain.stateOf === undefined || chain.state.logs.isMailed;
  const summary = toldSince(isTold ? undefined : chain.state.summary, {
    ...claims.clusters.summary(),
    ...(members && { clusters: firstOf(members) }),
    repaired,
    lastRun: lastRun === undefined ? null : new Date(lastRun).toISOString(),
    reasons: groupReasons(failures),
    notCollected: { count: notCollected.length, first: notCollected.slice(0, mostMembers) },
    ...(!plan.schedule.enabled && { pausedSince: chain.state.summary.pausedSince ?? own.seal }),
    absent: { runs: claims.due.absent.length, first: absent.map(({ key, problem }) => ({ key, problem })) },
  });
  const sealed = sealedPlan(plan, head, own.seal);
  const damage = openDamage({ seal: own.seal, plan: sealed, ...open });
  // Once a day, whatever the audit's schedule is, and while damage is open, and when some was repaired.
  const isMailed = head?.seal.slice(0, 10) !== own.seal.slice(0, 10) || damage.count > 0 || repaired.count > 0;
  const isAllRead = read.position.seal > next.number;
  const seal: UnsignedSeal['seal'] = {
    version: 1,
    ...own,
    previous: head === undefined ? null : { key: head.key, sha256: head.sha256 },
    ...next,
    listedFrom: now.toISOString(),
    records: records.records,
    objects: [...claims.hashed.values()].slice(0, mostListed - records.records.length),
    stamps: stamps.filter(({ key }) => !chain.sealedStamps.has(key)),
    unread: { behind: records.behind, keys: records.unread.slice(0, mostNamed) },
    plan: sealed,
    configurations: records.configurations,
    due: claims.due,
    verified: {
      objects: read.objects + old.objects,
      old: old.objects,
      bytes: read.bytes + old.bytes,
      carriedOver: isAllRead ? 0 : Math.max(0, (head?.verified.carriedOver ?? 0) + records.archived - read.objects),
      carriedOverRecords: records.carriedOver + records.unread.length,
      expired: claims.expired,
      all: old.all,
      notReadSince: plan.rereadDays === undefined ? (old.all?.to ?? chain.seals[0]?.seal ?? own.seal) : null,
    },
    found,
    ...(members && { clusters: countsOf(members) }),
    open: { damage: damage.count, acknowledged: damage.acknowledged.length, unreadable: damage.unreadable.length },
  };
  const state = {
    ...open,
    summary,
    failing: failing.map(({ failure, ...one }) => ({ ...one, isMailed: isMailedBefore(one, chain.state) })),
    logs: claims.logs.summary.result(configured, isMailed),
    cursor: { ...claims.cursor, reading },
  };
  return { seal, state };
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
