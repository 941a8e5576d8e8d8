import { parseRunRecordKey } from '../archive/archive-layout';
import { groupReasons } from '../run/group-reasons';
import { CronError } from '../schedule/cron';
import { longestGap } from '../schedule/cron-gap';
import type { AuditPlan } from '../stack-contract';
import type { Stop } from '../stop';
import type { ArchiveReader } from '../verify/archive-reader';
import { Expiry } from '../verify/expiry';
import { findAbsentSeals } from '../verify/seals/absent-seals';
import type { Seal } from '../verify/seals/seal';
import { earlierRuns, type SealChain } from '../verify/seals/seal-chain';
import { SealedArchive } from '../verify/seals/sealed-archive';
import { StoredConfigurations } from '../verify/stored-configurations';
import { clockSlackMs, hourMs, underWayMs } from '../verify/time-limits';
import { type AuditWalk, findLacking } from './audit-walk';
import { checkOpen } from './check-open';
import { findUnrecorded, findUnvouched } from './find-unrecorded';
import type { Findings } from './findings';
import type { FailingCluster } from './freshness';
import { judgeDue } from './judge-due';
import { LogSeams } from './log-seams';
import { isMailDue } from './mail';
import { type SealedRuns, sealRuns } from './seal-runs';
import { stoppableReader } from './stoppable-reader';
import { Tally } from './tally';
import { start, verifySealed } from './verify-sealed';

export interface ExamineContext {
  readonly plan: AuditPlan;
  readonly reader: ArchiveReader;
  readonly sink: { readonly bucket: string };
  readonly signer: { readonly keyArn: string };
  readonly stop: Stop;
  readonly chain: SealChain;
  readonly findings: Findings;
  /** The audit's time. */
  readonly named: string;
  readonly listedFrom: Date;
  readonly collectorVersion: string;
}

/**
 * Works through the archive in the order of what matters: hashes run records, looks for what is gone and what no record
 * has, reads objects with the time that is left.
 * @returns what it computed, to be signed
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function examine(context: ExamineContext): Promise<Seal> {
  const { plan, chain, findings, listedFrom, named, stop } = context;
  const reader = stoppableReader(context.reader, stop.working);
  const { head, next } = chain;
  const { find } = findings;
  const tally = new Tally(chain.newest.failing, plan.clusters);
  const sealed = new SealedArchive(chain, find, { now: listedFrom, plan });
  const configurations = new StoredConfigurations(context.reader, find, tally.sharedName);
  const expiry = new Expiry({ reader: context.reader, configurations, now: listedFrom });
  const mayHaveRemoved = async (writtenAt: Date, key?: string) =>
    sealed.mayHaveRemoved(writtenAt, key) ?? expiry.mayHaveRemoved(writtenAt);
  const { searchedTo = null } = head?.cursor ?? {};
  const search = { from: searchedTo === null ? undefined : new Date(searchedTo), to: settled(listedFrom) };
  const incomplete = new Map<number, string>();
  const common = { plan, chain, reader, stop: stop.working, find, now: listedFrom, incomplete };
  const walk: AuditWalk = { ...common, sealed, configurations, expiry, mayHaveRemoved };
  const runs = await sealRuns(walk, { search, sharedName: tally.sharedName, onRun: tally.add });
  if (head === undefined) findEarlier(context, runs);
  else
    findAbsentSeals(
      find,
      [...chain.seals, { seal: named, listedFrom: listedFrom.toISOString(), plan }],
      { from: settled(new Date(head.listedFrom)) },
      search.to,
    );
  for (const gone of sealed.gone({})) {
    const run = parseRunRecordKey(gone.key)?.run;
    if (run !== undefined && (await findLacking(walk, gone))) incomplete.set(run.getTime(), gone.key);
  }
  await findUnvouched(walk, tally.clusters);
  for (const one of runs.lacking) await findLacking(walk, one);
  const due = await judgeDue(walk, runs);
  const { records, objects, recorded } = runs;
  const unrecorded =
    runs.lastKey === null ? await findUnrecorded(walk, { ...search, clusters: tally.clusters, recorded }) : undefined;
  // Reading the objects takes longest.
  recorded.clear();
  const checked = await checkOpen(walk);
  const logs = new LogSeams(reader, chain.newest.logs, plan.clusters.length, plan.frozenAfterHours);
  const verified = await verifySealed(walk, next.number, runs, logs);
  const { repaired, ...left } = findings.settle(chain, checked, named);
  // What no seal has room for is found again by reading everything again.
  const { reread } =
    left.openMore === 0 ? verified.cursor : { reread: { position: start, since: listedFrom.toISOString() } };
  const isAllRead = (reread?.position ?? null) === null;
  const failing = tally.freshness.failing(plan.clusters);
  const flapping = tally.freshness.flapping(plan.clusters);
  const lastRun = [...runs.runs].at(-1);
  const seal: Seal = {
    version: 1,
    archive: context.sink.bucket,
    seal: named,
    previous: head === undefined ? null : { key: head.key, sha256: head.sha256 },
    ...next,
    listedFrom: listedFrom.toISOString(),
    records,
    objects: [...objects, ...(unrecorded ?? [])],
    plan: planned(plan),
    configurations: runs.configurations,
    due: { runs: due.runs, absent: due.absent.map((time) => time.toISOString()) },
    verified: verified.verified,
    ...left,
    openMore: isAllRead ? 0 : Math.max(left.openMore, head?.openMore ?? 0),
    news: {
      ...tally.result(),
      repaired,
      lastRun: lastRun === undefined ? null : new Date(lastRun).toISOString(),
      reasons: groupReasons(onePerCluster(failing)).map((group) => ({ ...group, clusters: [...group.clusters] })),
      flapping: { count: flapping.length, first: flapping.slice(0, mostFlapping) },
    },
    failing: failing.map(({ failures, ...one }) => one),
    cursor: {
      records: runs.lastKey,
      searchedTo: unrecorded === undefined ? searchedTo : search.to.toISOString(),
      verified: verified.cursor.verified,
      reread,
    },
    keyArn: context.signer.keyArn,
    collectorVersion: context.collectorVersion,
  };
  const configured = plan.clusters.map(({ uid }) => uid);
  return { ...seal, logs: logs.result(configured, isMailDue(seal, head)) };
}

/** Most clusters that fail now and then that are named. */
const mostFlapping = 50;

/** What was there before an audit could have begun should have been sealed: maybe it was, and all seals were removed. */
function findEarlier({ plan, findings, listedFrom }: ExamineContext, { oldestWrittenAt }: SealedRuns): void {
  const { expression, timeZone, enabled } = plan.auditSchedule;
  const intervalMs = enabled ? gapMs(expression, timeZone, listedFrom) : Number.POSITIVE_INFINITY;
  if (oldestWrittenAt === undefined || listedFrom.getTime() - oldestWrittenAt.getTime() <= intervalMs + clockSlackMs)
    return;
  const since = oldestWrittenAt.toISOString();
  findings.find(
    'seal-broken',
    earlierRuns,
    `FIRST SEAL, and run records are there since ${since}, longer than one interval of the audit: an earlier seal was never made, or all were removed`,
  );
}

/** The longest time between two audits; infinite for a schedule that does not fire again. */
function gapMs(expression: string, timeZone: string, now: Date): number {
  try {
    return longestGap(expression, timeZone, now).hours * hourMs;
  } catch (error) {
    if (error instanceof CronError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function planned({ clusters, acknowledged, ...plan }: AuditPlan): Seal['plan'] {
  const { schedule, auditSchedule, retentionDays, shards } = plan;
  const known = acknowledged?.map(({ kind, key, why }) => ({ kind, key, why }));
  return { clusters: clusters.length, schedule, auditSchedule, retentionDays, shards, acknowledged: known };
}

/** A cluster whose two resources fail counts once; one that no new run has covered keeps its place. */
function* onePerCluster(failing: readonly FailingCluster[]) {
  for (const { cluster, failures } of failing) {
    const [first = { cluster, resource: '', error: 'no new run covers it' }] = failures;
    yield first;
  }
}

/** What was due or written up to this time, before another, does not change any more. */
function settled(time: Date): Date {
  return new Date(time.getTime() - underWayMs);
}
