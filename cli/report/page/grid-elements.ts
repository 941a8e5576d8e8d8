import { formatTime } from '../../terminal/format';
import { describeCell, outcomeSign } from './cell-details';
import { element } from './dom';
import type { GridLayout, GridWindow, RunLabel } from './grid-layout';
import { type Model, type Row, resources } from './model';

/** Room for the label of a run, in CSS pixels: a date takes it. */
const labelRoom = 76;

/** The cells above the columns in view. Labels are as dense as they fit; the newest run always has one. */
export function headCells(
  { data: { runs } }: Model,
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
    const label = labels[column];
    // A label ends at the right edge of its column. It may begin left of it, but not behind the names.
    const hasRoom = (column + 1 - firstShown) * cellWidth >= labelRoom;
    if (label === undefined || !hasRoom || (runs.length - 1 - column) % every !== 0) return cell;
    if (label.group !== group) cell.append(element('span.group', label.group));
    group = label.group;
    cell.append(element('span.own', label.own));
    return cell;
  });
  return [element('div.label', { role: 'columnheader' }, 'Cluster'), inPlace(cells, firstColumn * cellWidth)];
}

/** The rows in view. */
export function gridRows(
  model: Model,
  rows: readonly Row[],
  { cellWidth, rowHeight }: GridLayout,
  { firstRow, endRow, firstColumn, endColumn }: GridWindow,
): HTMLElement[] {
  const columns = [...model.data.runs.keys()].slice(firstColumn, endColumn);
  return rows.slice(firstRow, endRow).map((data, at) => {
    const row = firstRow + at;
    const cells = columns.map((column) => cellElement(model, data, row, column));
    const attributes = { role: 'row', 'aria-rowindex': row + 2 };
    const line = element('div.row', attributes, rowLabel(data), inPlace(cells, firstColumn * cellWidth));
    line.style.top = `${row * rowHeight}px`;
    return line;
  });
}

function rowLabel({ uid, failures }: Row): HTMLElement {
  const label = element('div.label', { role: 'rowheader' }, element('span.uid', uid));
  if (failures > 0) label.append(element('span.badge', { title: `not archived: ${failures}` }, String(failures)));
  return label;
}

function cellElement(model: Model, data: Row, row: number, column: number): HTMLElement {
  const said = resources.map((resource) => describeCell(model, data, column, resource)).join('; ');
  const name = `${data.uid}, ${model.timeOf(column)}: ${said}`;
  return element(
    'div.cell',
    { role: 'gridcell', 'aria-colindex': column + 2, 'aria-label': name, tabindex: -1 },
    { 'data-row': row, 'data-column': column },
    ...resources.map((resource) => outcomeSign(model.cellOf(data, column, resource))),
  );
}

/** @param left width of the columns before them, in CSS pixels */
function inPlace(cells: readonly HTMLElement[], left: number): HTMLElement {
  const made = element('div.cells', ...cells);
  made.style.paddingLeft = `${left}px`;
  return made;
}
