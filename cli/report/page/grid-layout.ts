/** Height of a row, in CSS pixels; the style sheet has it too. */
export const rowHeight = 26;

const narrowestCell = 14;
const widestCell = 64;
const widestLabel = 260;

/** What of a large grid is in view. */
export interface GridWindow {
  readonly firstRow: number;
  readonly endRow: number;
  readonly firstColumn: number;
  readonly endColumn: number;
}

/** Where everything in the grid lies, in CSS pixels. */
export interface GridLayout {
  readonly labelWidth: number;
  readonly cellWidth: number;
}

export function layOut(width: number, columns: number): GridLayout {
  const labelWidth = Math.round(Math.min(widestLabel, width * 0.34));
  const room = Math.floor((width - labelWidth - 1) / Math.max(1, columns));
  return { labelWidth, cellWidth: Math.min(widestCell, Math.max(narrowestCell, room)) };
}

/** The rows and columns in view, with a few around them so that scrolling does not show gaps. */
export function windowOf(
  view: { readonly left: number; readonly top: number; readonly width: number; readonly height: number },
  { labelWidth, cellWidth }: GridLayout,
  rows: number,
  columns: number,
): GridWindow {
  const around = 4;
  return {
    firstRow: Math.max(0, Math.floor(view.top / rowHeight) - around),
    endRow: Math.min(rows, Math.ceil((view.top + view.height) / rowHeight) + around),
    firstColumn: Math.max(0, Math.floor(view.left / cellWidth) - around),
    endColumn: Math.min(columns, Math.ceil((view.left + view.width - labelWidth) / cellWidth) + around),
  };
}
