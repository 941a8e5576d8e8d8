import { sealsPrefix } from '../../archive/archive-layout';
import { firingsOfSchedule } from '../../schedule/firings';
import { dueIn } from '../due-runs';
import type { Find } from '../finding';
import type { Period } from '../run-keys';
import type { Seal } from './seal';

/** When runs are due, as a seal says it, and in how many shards. */
export function planOf({ plan, listedFrom }: Pick<Seal, 'plan' | 'listedFrom'>) {
  return { firings: firingsOfSchedule(plan.schedule), usedAt: new Date(listedFrom), shards: plan.shards ?? 1 };
}

/** A seal, or the audit that is about to make one. */
type PlannedSeal = Pick<Seal, 'seal' | 'listedFrom'> & { readonly plan: Pick<Seal['plan'], 'auditSchedule'> };

/**
 * Finds firings of the audit that no seal of the chain is of: the audit failed, or its seal was removed. While the plan
 * changed, only what both plans have was due for sure.
 * @param seals of a chain, in order
 * @param settled only what was due up to this time is judged: an audit may be under way
 */
export function findAbsentSeals(
  find: Find,
  seals: readonly PlannedSeal[],
  { from = new Date(0), to }: Period,
  settled: Date,
): void {
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
  if (first !== undefined) find('absent', `${sealsPrefix}*`, `${which}: never made, or removed`);
}
