import { parseRunRecordKey } from '../archive/archive-layout';
import type { AuditPlan } from '../stack-contract';
import type { ArchiveReader } from '../verify/archive-reader';
import type { SealChain } from '../verify/seals/seal-chain';
import { unsealedStamps } from '../verify/seals/seal-stamps';
import { auditJudge, settled } from './audit-judge';
import { checkOpen } from './check-open';
import { ClusterOutcomes } from './cluster-outcomes';
import type { Findings } from './findings';
import { judgeRuns, judgeSeals } from './judge-due';
import { listNew, readNew } from './judge-new';
import { judgeOld } from './judge-old';
import { LogSeams } from './log-seams';
import { type Claims, makeSeal, mostListed, type UnsignedSeal } from './make-seal';
import { sealRecords } from './seal-records';

export interface ExamineContext extends Pick<Claims, 'own' | 'members'> {
  readonly reader: ArchiveReader;
  readonly plan: AuditPlan;
  readonly chain: SealChain;
  readonly findings: Findings;
  /** The time by S3's own clock when the audit began to list. */
  readonly now: Date;
  /** Aborts when the audit's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Works through the archive in the order of what matters, as far as there is time.
 * @returns what it computed, to be signed
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function examine(context: ExamineContext): Promise<UnsignedSeal> {
  const { reader: archive, plan, chain, findings, own, now } = context;
  const { searchedTo } = chain.state.cursor;
  const clusters = new ClusterOutcomes(
    chain.state.failing,
    plan.clusters.map(({ uid }) => uid),
  );
  const judge = auditJudge({ ...context, archive, find: findings.find, keptName: clusters.sharedName });

  // 1. The run records that no seal has are hashed. What a seal has and the bucket has not is missing.
  const search = { from: searchedTo === null ? undefined : new Date(Date.parse(searchedTo) + 1), to: settled(now) };
  const records = await sealRecords(judge, clusters, { search, most: mostListed });
  const incomplete: Date[] = [];
  for (const gone of judge.sealed.gone({})) {
    const run = parseRunRecordKey(gone.key)?.run;
    if (run !== undefined && (await judge.findUnlessExpired(gone))) incomplete.push(run);
  }
  // 2. Seals and runs are compared with what was due.
  judgeSeals(judge, plan, own.seal, records);
  const due = await judgeRuns(judge, plan, records);
  // 3. What is new is listed: objects that no run record names.
  const listed = await listNew(judge, search, records, incomplete);
  // Reading takes longest, and a run record of a large fleet needs the memory.
  for (const recorded of [records.met.named, records.met.awaited]) recorded.clear();
  // 4. What is open is looked at again.
  const checked = await checkOpen(judge);
  // 5. What is new is read.
  const logs = new LogSeams(judge.reader, chain.state.logs, plan.clusters.length, plan.frozenAfterHours);
  const read = await readNew(judge, chain.next.number, records, logs);
  // 6. What is old is listed and read again.
  const isDue = read.position.seal > chain.next.number;
  const old = await judgeOld(judge, { runs: [...records.runs], rereadDays: plan.rereadDays, isDue });

  const stamps = await unsealedStamps(archive, chain);
  const cursor = {
    verified: read.position,
    searchedTo: listed === undefined ? searchedTo : search.to.toISOString(),
    ...old.passes,
  };
  return makeSeal({ ...context, records, due, listed, checked, read, old, logs, clusters, stamps, cursor });
}
