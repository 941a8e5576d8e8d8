import { formatTime } from '../../terminal/format';
import { describeCell, outcomeSign } from './cell-details';
import { element } from './dom';
import type { GridLayout, GridWindow, RunLabel } from './grid-layout';
import { type Model, type Row, resources } from './model';

/** Room for the label of a run, in CSS pixels: a date takes it. */
const labelRoom = 76;

export interface GridPosition {
  readonly row: number;
  readonly column: number;
}

/** The cells above the columns in view. Labels are as dense as they fit; the newest run always has one. */
export function headCells(
  runs: Model['data']['runs'],
  labels: readonly RunLabel[],
  { cellWidth }: GridLayout,
  { firstColumn, endColumn, firstShown }: GridWindow,
): HTMLElement[] {
  const every = Math.ceil(labelRoom / cellWidth);
  let group: string | undefined;
  const cells = runs.slice(firstColumn, endColumn).map(({ time, status }, at) => {
    const column = firstColumn + at;
    const attributes = { role: 'columnheader', 'aria-colindex': column + 2, 'aria-label': formatTime(time) };
    const cell = element(`div.run.${status}`, attributes, { 'data-run': column });
    // A label ends at the right edge of its column. Where that would hide its beginning, it begins at the left edge.
    const isCut = (column + 1 - firstShown) * cellWidth < labelRoom;
    const hasRoom = !isCut || (column >= firstShown && (every + 1) * cellWidth >= 2 * labelRoom) || runs.length === 1;
    const label = labels[column];
    if (label === undefined || !hasRoom || (runs.length - 1 - column) % every !== 0) return cell;
    if (isCut) cell.classList.add('first');
    if (label.group !== group) cell.append(element('span.group', label.group));
    group = label.group;
    cell.append(element('span.own', label.own));
    return cell;
  });
  const corner = element('div.label', { role: 'columnheader' }, 'Cluster');
  return [corner, element('div.cells', padding(firstColumn * cellWidth), ...cells)];
}

/** The rows in view. The cell at `focusable` is the only one in the tab order. */
export function gridRows(
  model: Model,
  rows: readonly Row[],
  { cellWidth, rowHeight }: GridLayout,
  { firstRow, endRow, firstColumn, endColumn }: GridWindow,
  focusable: GridPosition,
): HTMLElement[] {
  const columns = model.data.runs.map((_, column) => column).slice(firstColumn, endColumn);
  return rows.slice(firstRow, endRow).map((data, at) => {
    const row = firstRow + at;
    const cells = columns.map((column) => {
      const cell = cellElement(model, data, { row, column });
      cell.tabIndex = row === focusable.row && column === focusable.column ? 0 : -1;
      return cell;
    });
    const whole = element('div.cells', padding(firstColumn * cellWidth), ...cells);
    const line = element('div.row', { role: 'row', 'aria-rowindex': row + 2 }, rowLabel(data), whole);
    line.style.top = `${row * rowHeight}px`;
    return line;
  });
}

function rowLabel({ cluster, failures }: Row): HTMLElement {
  const label = element('div.label', { role: 'rowheader' }, element('span.uid', cluster.uid));
  if (failures > 0) label.append(element('span.badge', { title: `not archived: ${failures}` }, String(failures)));
  return label;
}

function cellElement(model: Model, data: Row, { row, column }: GridPosition): HTMLElement {
  const both = resources.map((resource) => ({ resource, details: model.details(data, column, resource) }));
  const said = both.map(({ resource, details }) => describeCell(resource, details)).join('; ');
  const name = `${data.cluster.uid}, ${model.timeOf(column)}: ${said}`;
  return element(
    'div.cell',
    { role: 'gridcell', 'aria-colindex': column + 2, 'aria-label': name, 'data-row': row, 'data-column': column },
    ...both.map(({ details }) => outcomeSign(details)),
  );
}

function padding(width: number): HTMLElement {
  const made = element('div.padding');
  made.style.width = `${width}px`;
  return made;
}
