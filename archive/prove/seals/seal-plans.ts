import { dayMs, formerVersionDays } from '../../format/clocks';
import type { Finding } from '../../format/finding';
import { parseRunRecordKey, sealKey, sealsPrefix } from '../../format/keys';
import type { LeavingRule } from '../../format/list-in-force';
import { problems } from '../../format/problems';
import { firingsOfSchedule } from '../../format/schedule/firings';
import type { Seal } from '../../format/seal';
import type { Period } from '../../read/run-keys';
import { dueIn } from '../due-runs';
import type { SealChain } from './seal-chain';
import type { OwnSeal } from './sealed-archive';

/** When runs are due, as a seal says it, and in how many shards. */
export function planOf({ plan, listedFrom }: Pick<Seal, 'plan' | 'listedFrom'>) {
  return { firings: firingsOfSchedule(plan.schedule), usedAt: new Date(listedFrom), shards: plan.shards ?? 1 };
}

/**
 * How clusters leave a list from outside, by the seals before and behind a time: while the plan changed, by what both allow.
 * Undefined: not both have a list, and the configuration decides.
 */
export function sealedRule(seals: readonly OwnSeal[], time: string): LeavingRule | undefined {
  const behind = seals.findIndex(({ listedFrom }) => listedFrom >= time);
  const [before, after] = [behind - 1, behind].map((at) => seals[at]?.plan.clusterList);
  if (before === undefined || after === undefined) return undefined;
  return {
    leaveAfterDays: Math.min(before.leaveAfterDays, after.leaveAfterDays),
    exclude: [...(before.exclude ?? []), ...(after.exclude ?? [])],
  };
}

/** A seal, or the audit that is about to make one. */
type PlannedSeal = Pick<Seal, 'number' | 'seal' | 'listedFrom'> & {
  readonly plan: Pick<Seal['plan'], 'auditSchedule' | 'retentionDays'> & {
    readonly shorterRetentions?: readonly { readonly retentionDays: number }[] | undefined;
  };
};

/**
 * Finds firings of the audit that no seal of the chain is of: the audit failed, or its seal was removed. While the plan
 * changed, only what both plans have was due for sure.
 * @param seals of a chain, in order
 * @param settled only what was due up to this time is judged: an audit may be under way
 */
export function absentSeals(
  seals: readonly PlannedSeal[],
  { from = new Date(0), to }: Period,
  settled: Date,
): Finding[] {
  const until = to === undefined || to > settled ? settled : to;
  const times = new Set(seals.map(({ seal }) => Date.parse(seal)));
  const absent = seals.flatMap(({ listedFrom, plan }, at) => {
    const next = seals[at + 1] ?? { plan, listedFrom: until };
    const schedules = [plan, next.plan].map((one) => firingsOfSchedule(one.auditSchedule));
    const began = new Date(Math.max(Date.parse(listedFrom), from.getTime()) + 1);
    const end = new Date(Math.min(until.getTime(), new Date(next.listedFrom).getTime()));
    return dueIn(schedules, { from: began, to: end }, times).times;
  });
  const [first, last] = [absent[0]?.toISOString(), absent.at(-1)?.toISOString()];
  const which = first === last ? `seal of ${first}` : `${absent.length} seals from ${first} to ${last}`;
  return first === undefined ? [] : [{ kind: 'absent', key: `${sealsPrefix}*`, problem: problems.absentSeals(which) }];
}

/** How its problem begins: a mail says this first. */
export const shorterRetention = 'the retention was shortened';

/**
 * Finds a retention that is shorter than one before it, until the plan acknowledges it: a slip would delete most of an
 * archive, and everything that is gone would be expired.
 * @param seals of a chain, in order
 */
export function shorterRetentions(
  { records }: Pick<SealChain, 'records'>,
  seals: readonly PlannedSeal[],
  now: Date,
): Finding[] {
  const daysOf = ({ plan }: PlannedSeal) => plan.retentionDays ?? Number.POSITIVE_INFINITY;
  const last = seals.at(-1);
  const days = last && daysOf(last);
  if (last === undefined || days === undefined || !Number.isFinite(days)) return [];
  if (last.plan.shorterRetentions?.some(({ retentionDays }) => retentionDays === days)) return [];
  const at = seals.findLastIndex((seal) => daysOf(seal) > days);
  const [before, first] = [seals[at], seals[at + 1]];
  if (before === undefined || first === undefined) return [];
  const removedTo = now.getTime() - days * dayMs;
  let removed = 0;
  for (const key of records.keys()) if ((parseRunRecordKey(key)?.run.getTime() ?? removedTo) < removedTo) removed += 1;
  const until = new Date(Date.parse(before.listedFrom) + formerVersionDays * dayMs).toISOString().slice(0, 10);
  const from = Number.isFinite(daysOf(before)) ? `${daysOf(before)}` : 'no end';
  const problem =
    `${shorterRetention} from ${from} to ${days} days: ${removed} of ${records.size} sealed run records, and what they archived, go now; ` +
    `earlier versions bring them back until ${until} at least. If it is meant, acknowledge it: { "retentionDays": ${days}, "why": "…" }`;
  return [{ kind: 'contradiction', key: sealKey(first.number), problem }];
}
