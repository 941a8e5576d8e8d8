/** What stands above the column of a run, so that no two runs look the same. */
export interface RunLabel {
  /** What runs beside each other have in common: their date, or their year. */
  readonly group: string;
  /** What tells the run from its neighbours. */
  readonly own: string;
}

/**
 * Labels runs by their times of day, to the second or the millisecond where the run beside it has the same minute or
 * second. Runs of which each has a day of its own are labelled by their dates.
 * @param times ISO 8601 in UTC, in order
 */
export function labelRuns(times: readonly string[]): RunLabel[] {
  const days = new Set(times.map((time) => time.slice(0, 10)));
  if (times.length > 1 && days.size === times.length)
    return times.map((time) => ({ group: time.slice(0, 4), own: time.slice(5, 10) }));
  return times.map((time, at) => {
    const isLike = (length: number) =>
      [times[at - 1], times[at + 1]].some((other) => other?.slice(0, length) === time.slice(0, length));
    const end = isLike(19) ? 23 : isLike(16) ? 19 : 16;
    return { group: time.slice(0, 10), own: time.slice(11, end) };
  });
}
