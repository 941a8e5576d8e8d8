import { formatTime } from '../../terminal/format';
import { describeCell, outcomeSign } from './cell-details';
import { element } from './dom';
import type { GridLayout, GridWindow } from './grid-layout';
import { type Model, type Row, resources } from './model';
import type { ReportRun } from './report-data';
import type { RunLabel } from './run-labels';

/** Room for the label of a run, in CSS pixels: a date takes it. */
const labelRoom = 76;

export interface GridPosition {
  readonly row: number;
  readonly column: number;
}

/** The cells above the columns in view. Labels are as dense as they fit; the newest run always has one. */
export function headCells(
  runs: readonly ReportRun[],
  labels: readonly RunLabel[],
  { cellWidth }: GridLayout,
  { firstColumn, endColumn, firstShown }: GridWindow,
): HTMLElement[] {
  const corner = element('div', 'label', 'Cluster');
  corner.setAttribute('role', 'columnheader');
  const line = element('div', 'cells', padding(firstColumn * cellWidth));
  const every = Math.ceil(labelRoom / cellWidth);
  let group: string | undefined;
  for (let column = firstColumn; column < endColumn; column += 1) {
    const [run, label] = [runs[column], labels[column]];
    if (run === undefined || label === undefined) break;
    const cell = element('div', `run ${run.status}`);
    cell.setAttribute('role', 'columnheader');
    cell.setAttribute('aria-colindex', String(column + 2));
    cell.setAttribute('aria-label', formatTime(run.time));
    cell.dataset.run = String(column);
    const isLabelled = (runs.length - 1 - column) % every === 0;
    // A label ends at the right edge of its column. Where that would hide its beginning, it begins at the left edge.
    const isCut = (column + 1 - firstShown) * cellWidth < labelRoom;
    const hasRoom = !isCut || (column >= firstShown && (every + 1) * cellWidth >= 2 * labelRoom) || runs.length === 1;
    if (isLabelled && hasRoom) {
      if (isCut) cell.classList.add('first');
      if (label.group !== group) cell.append(element('span', 'group', label.group));
      group = label.group;
      cell.append(element('span', 'own', label.own));
    }
    line.append(cell);
  }
  return [corner, line];
}

/** The rows in view. The cell at `focusable` is the only one in the tab order. */
export function gridRows(
  model: Model,
  rows: readonly Row[],
  { cellWidth, rowHeight }: GridLayout,
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
    const cells = element('div', 'cells', padding(firstColumn * cellWidth));
    for (let column = firstColumn; column < endColumn; column += 1) {
      const cell = cellElement(model, data, { row, column });
      cell.tabIndex = row === focusable.row && column === focusable.column ? 0 : -1;
      cells.append(cell);
    }
    line.append(rowLabel(data), cells);
  }
  return made;
}

function rowLabel({ cluster, failures }: Row): HTMLElement {
  const label = element('div', 'label', element('span', 'uid', cluster.uid));
  label.setAttribute('role', 'rowheader');
  if (failures > 0) {
    const badge = element('span', 'badge', String(failures));
    badge.title = `not archived: ${failures}`;
    label.append(badge);
  }
  return label;
}

function cellElement(model: Model, data: Row, { row, column }: GridPosition): HTMLElement {
  const cell = element('div', 'cell');
  const descriptions: string[] = [];
  for (const resource of resources) {
    const details = model.details(data, column, resource);
    cell.append(outcomeSign(details));
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
