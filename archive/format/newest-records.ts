import { dayMs } from './clocks';
import { dateOf, type RunRecordName, runsPrefix } from './keys';

/**
 * The run records up to a time, newest first: the order in which a collector looks for what was collected before, and by which
 * it is judged.
 * @param names lists those below a prefix
 */
export async function* newestRecords<Name extends RunRecordName>(
  names: (prefix: string) => Promise<readonly Name[]>,
  at: Date,
): AsyncGenerator<Name> {
  const yesterday = dateOf(new Date(at.getTime() - dayMs));
  let before = at.getTime() + 1;
  // Then the month, the year and all: most archives have a run of today, and to list the others takes long.
  for (const date of [dateOf(at), yesterday, yesterday.slice(0, 8), yesterday.slice(0, 5), '']) {
    const found = (await names(`${runsPrefix}date=${date}`)).filter(({ run }) => run.getTime() < before);
    yield* found.toSorted((a, b) => compareAge(b, a));
    for (const { run } of found) before = Math.min(before, run.getTime());
  }
}

/** Of two records the one that counts as newer is greater: by run, attempt and shard. */
export function compareAge(a: RunRecordName, b: RunRecordName): number {
  const index = ({ shard }: RunRecordName) => shard?.index ?? -1;
  return a.run.getTime() - b.run.getTime() || a.attempt - b.attempt || index(a) - index(b);
}
