import { formatTime } from '../../terminal/format';
import { describeCell } from './cell-details';
import { element } from './dom';
import { type GridLayout, type GridWindow, rowHeight } from './grid-layout';
import { type Model, type Row, resources } from './model';
import type { ReportRun } from './report-data';

/** Room for a date above the columns, in CSS pixels. */
const dateRoom = 88;
/** The same for a time of day. */
const timeRoom = 40;

export interface GridPosition {
  readonly row: number;
  readonly column: number;
}

/** The cells above the columns in view: the dates and times of the runs. */
export function headCells(
  runs: readonly ReportRun[],
  { cellWidth }: GridLayout,
  { firstColumn, endColumn }: GridWindow,
): HTMLElement[] {
  const corner = element('div', 'label', 'Cluster');
  corner.setAttribute('role', 'columnheader');
  const cells = [corner, padding(firstColumn * cellWidth)];
  const every = Math.max(1, Math.ceil(timeRoom / cellWidth));
  let dateUntil = Number.NEGATIVE_INFINITY;
  for (let column = firstColumn; column < endColumn; column += 1) {
    const run = runs[column];
    if (run === undefined) break;
    const cell = element('div', `run ${run.status}`);
    cell.setAttribute('role', 'columnheader');
    cell.setAttribute('aria-colindex', String(column + 2));
    cell.dataset.run = String(column);
    const isNewDay = column === firstColumn || runs[column - 1]?.time.slice(0, 10) !== run.time.slice(0, 10);
    if (isNewDay && column * cellWidth >= dateUntil) {
      cell.append(element('span', 'date', run.time.slice(0, 10)));
      dateUntil = column * cellWidth + dateRoom;
    }
    if (column % every === 0) cell.append(element('span', 'time', run.time.slice(11, 16)));
    cells.push(cell);
  }
  return cells;
}

/** The rows in view. The cell at `focusable` is the only one in the tab order. */
export function gridRows(
  model: Model,
  rows: readonly Row[],
  layout: GridLayout,
  { firstRow, endRow, firstColumn, endColumn }: GridWindow,
  focusable: GridPosition,
): HTMLElement[] {
  const made: HTMLElement[] = [];
  for (let row = firstRow; row < endRow; row += 1) {
    const line = element('div', 'row');
    line.setAttribute('role', 'row');
    line.setAttribute('aria-rowindex', String(row + 2));
    line.style.top = `${row * rowHeight}px`;
    made.push(line);
    const data = rows[row];
    if (data === undefined) continue;
    line.append(rowLabel(data), padding(firstColumn * layout.cellWidth));
    for (let column = firstColumn; column < endColumn; column += 1) {
      const cell = cellElement(model, data, { row, column });
      cell.tabIndex = row === focusable.row && column === focusable.column ? 0 : -1;
      line.append(cell);
    }
  }
  return made;
}

function rowLabel({ cluster, failures }: Row): HTMLElement {
  const label = element('div', 'label', element('span', 'uid', cluster.uid));
  label.setAttribute('role', 'rowheader');
  label.title = cluster.uid;
  if (failures > 0) label.append(element('span', 'badge', String(failures)));
  return label;
}

function cellElement(model: Model, data: Row, { row, column }: GridPosition): HTMLElement {
  const cell = element('div', 'cell');
  const descriptions: string[] = [];
  for (const resource of resources) {
    const details = model.details(data, column, resource);
    const half = element('i', details.outcome);
    if (details.isChanged) half.classList.add('changed');
    if (details.isLate) half.classList.add('late');
    cell.append(half);
    descriptions.push(describeCell(resource, details));
  }
  const run = formatTime(model.data.runs[column]?.time ?? '');
  cell.setAttribute('role', 'gridcell');
  cell.setAttribute('aria-colindex', String(column + 2));
  cell.setAttribute('aria-label', `${data.cluster.uid}, ${run}: ${descriptions.join('; ')}`);
  cell.dataset.row = String(row);
  cell.dataset.column = String(column);
  return cell;
}

function padding(width: number): HTMLElement {
  const made = element('div', 'padding');
  made.style.width = `${width}px`;
  return made;
}
