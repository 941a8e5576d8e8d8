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

/** What of a large grid is in view. */
export interface GridWindow {
  readonly firstRow: number;
  readonly endRow: number;
  readonly firstColumn: number;
  readonly endColumn: number;
  /** The first column that is not behind the names. */
  readonly firstShown: number;
}

/** Where everything in the grid lies, in CSS pixels. */
export interface GridLayout {
  /** Width of the names beside the cells; 0 where they stand above. */
  readonly labelWidth: number;
  readonly cellWidth: number;
  readonly rowHeight: number;
}

/** Lays the grid out so that every name is whole, and that few runs fill the width. @param nameWidth of the longest name */
export function layOut(width: number, columns: number, nameWidth: number): GridLayout {
  const wanted = Math.max(narrowestLabel, Math.ceil(nameWidth) + besideName);
  const isBeside = wanted <= width * labelShare;
  // Names beside the cells take what is left of a whole number of pixels.
  const room = isBeside ? Math.floor((width - wanted) / Math.max(1, columns)) : width / Math.max(1, columns);
  const cellWidth = Math.max(narrowestCell, room);
  if (isBeside) {
    const labelWidth = Math.max(wanted, width - cellWidth * columns);
    return { labelWidth, cellWidth, rowHeight: cellHeight };
  }
  // One line more than the bare width needs: a line may break early.
  const lines = Math.ceil(nameWidth / Math.max(1, width - besideName) + (nameWidth > width - besideName ? 0.2 : 0));
  return { labelWidth: 0, cellWidth, rowHeight: cellHeight + Math.max(1, lines) * lineHeight + 8 };
}

/** The part of an element that is in view, in CSS pixels. */
type View = Readonly<Record<'scrollLeft' | 'scrollTop' | 'clientWidth' | 'clientHeight', number>>;

/** The rows and columns in view, with a few around them so that scrolling does not show gaps. */
export function windowOf(view: View, layout: GridLayout, rows: number, columns: number): GridWindow {
  const { labelWidth, cellWidth, rowHeight } = layout;
  const around = 4;
  const firstShown = Math.ceil(view.scrollLeft / cellWidth);
  return {
    firstRow: Math.max(0, Math.floor(view.scrollTop / rowHeight) - around),
    endRow: Math.min(rows, Math.ceil((view.scrollTop + view.clientHeight) / rowHeight) + around),
    firstColumn: Math.max(0, firstShown - around),
    endColumn: Math.min(columns, Math.ceil((view.scrollLeft + view.clientWidth - labelWidth) / cellWidth) + around),
    firstShown,
  };
}

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
