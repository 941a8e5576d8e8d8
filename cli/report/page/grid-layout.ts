/** Height of the cells of a row, in CSS pixels; the style sheet has it too. */
const cellHeight = 26;
/** Height of one line of a name above its cells; the style sheet has it too. */
const lineHeight = 17;
/** Room beside a name for margins and the count of failures. */
const besideName = 56;

const narrowestCell = 14;
const narrowestLabel = 110;

/** Largest share of the width for names beside the cells. Longer names stand above them. */
const labelShare = 0.45;

/**
 * Lays the grid out so that every name is whole, and that few runs fill the width. All sizes are in CSS pixels.
 * @param nameWidth of the longest name
 * @returns a `labelWidth`, of the names beside the cells, that is 0 where they stand above
 */
export function layOut(width: number, columns: number, nameWidth: number) {
  const wanted = Math.max(narrowestLabel, Math.ceil(nameWidth) + besideName);
  if (wanted <= width * labelShare) {
    // Names take what is left of a whole number of pixels.
    const cellWidth = Math.max(narrowestCell, Math.floor((width - wanted) / columns));
    return { labelWidth: Math.max(wanted, width - cellWidth * columns), cellWidth, rowHeight: cellHeight };
  }
  // One line more than the bare width needs: a line may break early.
  const lines = Math.ceil(nameWidth / Math.max(1, width - besideName) + (nameWidth > width - besideName ? 0.2 : 0));
  const rowHeight = cellHeight + Math.max(1, lines) * lineHeight + 8;
  return { labelWidth: 0, cellWidth: Math.max(narrowestCell, width / columns), rowHeight };
}

/**
 * The indices of the rows or columns in view, with a few around them so that scrolling does not show gaps.
 * @param scrolled how far, in CSS pixels as `room` and the size of one of them
 */
export function inView(scrolled: number, room: number, size: number, count: number): number[] {
  const around = 4;
  const first = Math.max(0, Math.floor(scrolled / size) - around);
  const end = Math.min(count, Math.ceil((scrolled + room) / size) + around);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}

/**
 * Labels the columns of runs by their times of day, to the second or the millisecond where the run beside it has the same
 * minute or second: no two runs look the same. Runs of which each has a day of its own are labelled by their dates.
 * @param times ISO 8601 in UTC, in order
 * @returns for each its `own` label, and in `group` what it has in common with those beside it: their date, or their year
 */
export function labelRuns(times: readonly string[]) {
  const days = new Set(times.map((time) => time.slice(0, 10)));
  if (times.length > 1 && days.size === times.length)
    return times.map((time) => ({ group: time.slice(0, 4), own: time.slice(5, 10) }));
  return times.map((time, at) => {
    const isLike = (length: number) =>
      [times[at - 1], times[at + 1]].some((other) => other?.startsWith(time.slice(0, length)));
    const end = isLike(19) ? 23 : isLike(16) ? 19 : 16;
    return { group: time.slice(0, 10), own: time.slice(11, end) };
  });
}
