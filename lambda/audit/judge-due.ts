import { clockSlackMs, hourMs, settled } from '../../archive/format/clocks';
import type { AuditPlan } from '../../archive/format/plan';
import { CronError } from '../../archive/format/schedule/cron';
import { longestGap } from '../../archive/format/schedule/cron-gap';
import { firingsOfSchedule } from '../../archive/format/schedule/firings';
import type { Seal } from '../../archive/format/seal';
import {
  absentFindings,
  absentSeals,
  dueIn,
  type Expiry,
  earlierRuns,
  type SealChain,
  shorterRetentions,
} from '../../archive/prove/attest';
import type { Findings } from './findings';
import type { NewRecords } from './seal-records';

/** What an audit compares with what was due. */
interface Judging {
  readonly chain: SealChain;
  readonly plan: AuditPlan;
  readonly findings: Findings;
  /** The time by S3's own clock when the audit began to list. */
  readonly now: Date;
}

/**
 * Finds a retention that became shorter, and firings of the audit that should have a seal and do not. What was there before an
 * audit could have begun should have been sealed: maybe it was, and all seals were removed.
 * @param seal the time of this audit
 */
export function judgeSeals(
  { chain, plan, findings: { find }, now }: Judging,
  seal: string,
  { oldestWrittenAt }: NewRecords,
): void {
  if (chain.head !== undefined) {
    const seals = [...chain.seals, { number: chain.next.number, seal, listedFrom: now.toISOString(), plan }];
    const absent = absentSeals(seals, { from: settled(new Date(chain.head.listedFrom)) }, settled(now));
    for (const { kind, key, problem } of [...shorterRetentions(chain, seals, now), ...absent]) find(kind, key, problem);
    return;
  }
  const oldest = oldestWrittenAt ?? now;
  if (now.getTime() - oldest.getTime() <= intervalMs(plan, now) + clockSlackMs) return;
  const since = `run records are there since ${oldest.toISOString()}, longer than one interval of the audit`;
  const problem = `FIRST SEAL, and ${since}: an earlier seal was never made, or all were removed`;
  find('seal-broken', earlierRuns, problem);
}

/** The longest time between two audits; infinite for a schedule that does not fire again. */
function intervalMs({ auditSchedule: { expression, timeZone, enabled } }: AuditPlan, now: Date): number {
  try {
    return enabled ? longestGap(expression, timeZone, now).hours * hourMs : Number.POSITIVE_INFINITY;
  } catch (error) {
    if (error instanceof CronError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/**
 * Finds what was due since the last audit that judged, is settled, and left no record. What was due before the first seal
 * nobody attests. While the plan changed, only what all plans have was due for sure. An audit that did not read all run
 * records cannot judge.
 */
export async function judgeRuns(
  { chain, plan, findings: { find }, now }: Judging,
  expiry: Expiry,
  { runs, behind }: NewRecords,
): Promise<Seal['due']> {
  const [firstSeal] = chain.seals;
  const before = chain.seals.findLast(({ unread }) => unread.behind === null) ?? firstSeal;
  const times = [...runs.keys()];
  const [firstRun] = times;
  if (firstSeal === undefined || before === undefined || firstRun === undefined || behind !== null)
    return { runs: 0, absent: [], notJudged: null };
  const judged = settled(new Date(before.listedFrom)).getTime();
  const from = Math.max(judged, Date.parse(firstSeal.listedFrom), firstRun);
  const known = chain.seals.findLastIndex((seal) => Date.parse(seal.listedFrom) <= from);
  // Not those that run records name: whoever may write records could silence the schedule.
  const schedules = [plan.schedule, ...chain.seals.slice(known).map((seal) => seal.plan.schedule)];
  const due = dueIn(schedules.map(firingsOfSchedule), { from: new Date(from + 1), to: settled(now) }, new Set(times));
  const absent: Date[] = [];
  for (const time of due.times) if (!(await expiry.mayHaveRemoved({ writtenAt: time }))) absent.push(time);
  for (const { kind, key, problem } of absentFindings({ times: absent, areMore: false })) find(kind, key, problem);
  const notJudged = due.notJudged && { from: due.notJudged.from.toISOString(), to: due.notJudged.to.toISOString() };
  return { runs: due.runs, absent: absent.map((time) => time.toISOString()), notJudged: notJudged ?? null };
}
