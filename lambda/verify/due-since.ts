import { firingsOf } from '../schedule/firings';
import type { Collection } from '../stack-contract';

/** Firings of a schedule. */
export interface DueSince {
  /** How many were due. */
  readonly runs: number;
  /** Those of them that nothing is of. */
  readonly absent: readonly Date[];
}

/** Most absent firings that are listed. */
const mostAbsent = 1000;

/**
 * What was due after one time and up to another. While the configuration changed, only what all schedules have was due for
 * sure.
 * @param runs times of the runs that have a record, or of the audits that have a seal
 * @throws CronError
 */
export function dueSince(
  schedules: readonly Collection['schedule'][],
  { from, to }: { readonly from: Date; readonly to: Date },
  runs: ReadonlySet<number>,
): DueSince {
  if (from >= to || schedules.some(({ enabled }) => !enabled)) return { runs: 0, absent: [] };
  const [first, ...others] = schedules.map(({ expression, timeZone }) => firingsOf(expression, timeZone));
  const absent: Date[] = [];
  let count = 0;
  for (const { at, orAt = at } of first?.between(new Date(from.getTime() + 1), to) ?? []) {
    if (!others.every((other) => other.includes(at))) continue;
    count += 1;
    const isThere = runs.has(at.getTime()) || runs.has(orAt.getTime());
    if (!isThere && absent.length < mostAbsent) absent.push(at);
  }
  return { runs: count, absent };
}
