import { sealKey } from '../archive/archive-layout';
import { CronError } from '../schedule/cron';
import { firingsOfSchedule } from '../schedule/firings';
import { dueIn, findAbsent } from '../verify/due-runs';
import { underWayMs } from '../verify/time-limits';
import type { AuditWalk } from './audit-walk';
import type { SealedRuns } from './seal-runs';

/** Firings of the schedule since the audit before. */
interface DueSince {
  /** How many were due. */
  readonly runs: number;
  /** Those of them that no run is of. */
  readonly absent: readonly Date[];
}

/**
 * Finds what was due since the last audit that judged, is settled, and left no record. What was due before the first seal
 * nobody attests. While the plan changed, only what all plans have was due for sure. An audit that did not read all run
 * records cannot judge: one that it did not read may name another schedule.
 */
export async function judgeDue(
  { plan, chain, now, find, mayHaveRemoved }: AuditWalk,
  { runs, lastKey, configurations }: Pick<SealedRuns, 'runs' | 'lastKey' | 'configurations'>,
): Promise<DueSince> {
  const [firstSeal] = chain.seals;
  const before = chain.seals.findLast(({ cursor }) => cursor.records === null) ?? firstSeal;
  const [firstRun = Number.NaN] = runs;
  if (firstSeal === undefined || before === undefined || Number.isNaN(firstRun) || lastKey !== null)
    return { runs: 0, absent: [] };
  const settled = (time: number) => time - underWayMs;
  const from = Math.max(settled(Date.parse(before.listedFrom)), Date.parse(firstSeal.listedFrom), firstRun);
  const to = new Date(settled(now.getTime()));
  const known = chain.seals.findLastIndex((seal) => Date.parse(seal.listedFrom) <= from);
  const schedules = [
    plan.schedule,
    ...chain.seals.slice(known).map((seal) => seal.plan.schedule),
    // A plan may have been in force between two audits only.
    ...[...chain.seals.slice(known + 1), { configurations }].flatMap((seal) =>
      seal.configurations.map(({ schedule }) => schedule),
    ),
  ];
  try {
    const due = dueIn(schedules.map(firingsOfSchedule), { from: new Date(from + 1), to }, runs);
    const absent: Date[] = [];
    for (const time of due.times) if (!(await mayHaveRemoved(time))) absent.push(time);
    findAbsent(find, { times: absent, areMore: false });
    return { runs: due.runs, absent };
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    find('unreadable', sealKey(chain.next.number), error.message);
    return { runs: 0, absent: [] };
  }
}
