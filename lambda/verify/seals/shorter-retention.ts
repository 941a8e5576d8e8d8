import { parseRunRecordKey, sealKey } from '../../archive/archive-layout';
import { dayMs, formerVersionDays } from '../../time-limits';
import type { Find } from '../finding';
import type { Seal } from './seal';
import type { SealChain } from './seal-chain';

/** A seal, or the audit that is about to make one. */
type PlannedSeal = Pick<Seal, 'number' | 'listedFrom'> & {
  readonly plan: Pick<Seal['plan'], 'retentionDays'> & {
    readonly shorterRetentions?: readonly { readonly retentionDays: number }[] | undefined;
  };
};

/** How its problem begins: a mail says this first. */
export const shorterRetention = 'the retention was shortened';

/**
 * Finds a retention that is shorter than one before it, until the plan acknowledges it: a slip would delete most of an
 * archive, and everything that is gone would be expired.
 * @param seals of a chain, in order
 */
export function findShorterRetention(
  find: Find,
  { records }: Pick<SealChain, 'records'>,
  seals: readonly PlannedSeal[],
  now: Date,
): void {
  const daysOf = ({ plan }: PlannedSeal) => plan.retentionDays ?? Number.POSITIVE_INFINITY;
  const last = seals.at(-1);
  const days = last && daysOf(last);
  if (last === undefined || days === undefined || !Number.isFinite(days)) return;
  if (last.plan.shorterRetentions?.some(({ retentionDays }) => retentionDays === days)) return;
  const at = seals.findLastIndex((seal) => daysOf(seal) > days);
  const [before, first] = [seals[at], seals[at + 1]];
  if (before === undefined || first === undefined) return;
  const removedTo = now.getTime() - days * dayMs;
  let removed = 0;
  for (const key of records.keys()) if ((parseRunRecordKey(key)?.run.getTime() ?? removedTo) < removedTo) removed += 1;
  const until = new Date(Date.parse(before.listedFrom) + formerVersionDays * dayMs).toISOString().slice(0, 10);
  const from = Number.isFinite(daysOf(before)) ? `${daysOf(before)}` : 'no end';
  const problem =
    `${shorterRetention} from ${from} to ${days} days: ${removed} of ${records.size} sealed run records, and what they archived, go now; ` +
    `earlier versions bring them back until ${until} at least. If it is meant, acknowledge it: { "retentionDays": ${days}, "why": "…" }`;
  find('contradiction', sealKey(first.number), problem);
}
