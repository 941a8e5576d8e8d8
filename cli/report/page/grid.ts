import { formatTime } from '../../terminal/format';
import { cellDetails, runDetails } from './cell-details';
import { describeCell } from './describe';
import { element } from './dom';
import { type GridLayout, layOut, rowHeight, windowOf } from './grid-layout';
import { type Model, type Row, resources } from './model';
import type { Popup } from './popup';
import type { ReportRun } from './report-data';

/** Between two dates over the columns, in CSS pixels. */
const dateRoom = 88;
/** The same between two times. */
const timeRoom = 40;

/**
 * Clusters down, runs across. Only what is in view is in the document, so that thousands of clusters scroll smoothly; one
 * cell is in the tab order, and the arrow keys move it.
 */
export class Grid {
  private rows: readonly Row[] = [];
  private layout: GridLayout = { labelWidth: 0, cellWidth: 1 };
  private at = { row: 0, column: 0 };
  private readonly head = element('div', 'row head');
  private readonly body = element('div', 'body');

  constructor(
    private readonly root: HTMLElement,
    private readonly model: Model,
    private readonly popup: Popup,
  ) {
    this.at.column = Math.max(0, this.runs.length - 1);
    root.setAttribute('role', 'grid');
    root.setAttribute(
      'aria-label',
      'Outcomes: clusters down, runs across; of each cell the log above, the manifest below',
    );
    root.setAttribute('aria-colcount', String(this.runs.length + 1));
    this.head.setAttribute('role', 'row');
    this.body.setAttribute('role', 'rowgroup');
    root.replaceChildren(this.head, this.body);
    root.addEventListener('scroll', () => this.render(), { passive: true });
    root.addEventListener('keydown', (event) => this.onKey(event));
    root.addEventListener('mouseover', (event) => this.point(event.target));
    root.addEventListener('focusin', (event) => this.point(event.target));
    root.addEventListener('mouseleave', () => popup.hide());
    root.addEventListener('focusout', () => popup.hide());
    root.addEventListener('mousedown', (event) => this.take(event));
    new ResizeObserver(() => this.resize()).observe(root);
    this.resize();
    root.scrollLeft = root.scrollWidth;
  }

  setRows(rows: readonly Row[]): void {
    this.rows = rows;
    this.at.row = 0;
    this.root.setAttribute('aria-rowcount', String(rows.length + 1));
    this.body.style.height = `${rows.length * rowHeight}px`;
    this.root.scrollTop = 0;
    this.render();
  }

  /** Moves the focus to a cell and brings it into view. */
  focusCell(row: number, column: number): void {
    if (this.rows.length === 0) return;
    this.at = {
      row: Math.min(Math.max(0, row), this.rows.length - 1),
      column: Math.min(Math.max(0, column), this.runs.length - 1),
    };
    this.reveal();
    this.render();
    this.cellAt(this.at.row, this.at.column)?.focus({ preventScroll: true });
  }

  private get runs(): readonly ReportRun[] {
    return this.model.data.runs;
  }

  private resize(): void {
    this.layout = layOut(this.root.clientWidth, this.runs.length);
    const { labelWidth, cellWidth } = this.layout;
    this.root.style.setProperty('--label', `${labelWidth}px`);
    this.root.style.setProperty('--cell', `${cellWidth}px`);
    const width = `${labelWidth + cellWidth * this.runs.length}px`;
    this.head.style.width = width;
    this.body.style.width = width;
    this.render();
  }

  private render(): void {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.root;
    const view = { left: scrollLeft, top: scrollTop, width: clientWidth, height: clientHeight };
    const shown = windowOf(view, this.layout, this.rows.length, this.runs.length);
    const hasFocus = this.body.contains(document.activeElement);
    this.head.replaceChildren(...this.headCells(shown.firstColumn, shown.endColumn));
    const rows: HTMLElement[] = [];
    for (let row = shown.firstRow; row < shown.endRow; row++)
      rows.push(this.rowElement(row, shown.firstColumn, shown.endColumn));
    this.body.replaceChildren(...rows);
    // Replacing what has the focus takes it away: the new element of the same cell gets it, if it is still in view.
    if (hasFocus) this.cellAt(this.at.row, this.at.column)?.focus({ preventScroll: true });
  }

  private headCells(first: number, end: number): HTMLElement[] {
    const { cellWidth } = this.layout;
    const corner = element('div', 'label', 'Cluster');
    corner.setAttribute('role', 'columnheader');
    const cells = [corner, this.padding(first)];
    const every = Math.max(1, Math.ceil(timeRoom / cellWidth));
    let dateUntil = Number.NEGATIVE_INFINITY;
    for (let column = first; column < end; column++) {
      const run = this.runs[column];
      if (run === undefined) break;
      const cell = element('div', `run ${run.status}`);
      cell.setAttribute('role', 'columnheader');
      cell.setAttribute('aria-colindex', String(column + 2));
      cell.dataset.run = String(column);
      const isNewDay = column === first || this.runs[column - 1]?.time.slice(0, 10) !== run.time.slice(0, 10);
      if (isNewDay && column * cellWidth >= dateUntil) {
        cell.append(element('span', 'date', run.time.slice(0, 10)));
        dateUntil = column * cellWidth + dateRoom;
      }
      if (column % every === 0) cell.append(element('span', 'time', run.time.slice(11, 16)));
      cells.push(cell);
    }
    return cells;
  }

  private rowElement(row: number, first: number, end: number): HTMLElement {
    const made = element('div', 'row');
    made.setAttribute('role', 'row');
    made.setAttribute('aria-rowindex', String(row + 2));
    made.style.top = `${row * rowHeight}px`;
    const data = this.rows[row];
    if (data === undefined) return made;
    const label = element('div', 'label', element('span', 'uid', data.cluster.uid));
    label.setAttribute('role', 'rowheader');
    label.title = data.cluster.uid;
    if (data.failures > 0) label.append(element('span', 'badge', String(data.failures)));
    made.append(label, this.padding(first));
    for (let column = first; column < end; column++) made.append(this.cellElement(data, row, column));
    return made;
  }

  private cellElement(data: Row, row: number, column: number): HTMLElement {
    const cell = element('div', 'cell');
    const said: string[] = [];
    for (const resource of resources) {
      const details = this.model.details(data, column, resource);
      const half = element('i', details.outcome);
      if (details.isChanged) half.classList.add('changed');
      if (details.isLate) half.classList.add('late');
      cell.append(half);
      said.push(describeCell(resource, details));
    }
    cell.setAttribute('role', 'gridcell');
    cell.setAttribute('aria-colindex', String(column + 2));
    cell.setAttribute(
      'aria-label',
      `${data.cluster.uid}, ${formatTime(this.runs[column]?.time ?? '')}: ${said.join('; ')}`,
    );
    cell.dataset.row = String(row);
    cell.dataset.column = String(column);
    cell.tabIndex = row === this.at.row && column === this.at.column ? 0 : -1;
    return cell;
  }

  private padding(columns: number): HTMLElement {
    const made = element('div', 'padding');
    made.style.width = `${columns * this.layout.cellWidth}px`;
    return made;
  }

  private cellAt(row: number, column: number): HTMLElement | null {
    return this.body.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`);
  }

  private reveal(): void {
    const { labelWidth, cellWidth } = this.layout;
    const { root } = this;
    const top = this.at.row * rowHeight;
    const left = this.at.column * cellWidth;
    const height = root.clientHeight - this.head.offsetHeight;
    const width = root.clientWidth - labelWidth;
    if (top < root.scrollTop) root.scrollTop = top;
    else if (top + rowHeight > root.scrollTop + height) root.scrollTop = top + rowHeight - height;
    if (left < root.scrollLeft) root.scrollLeft = left;
    else if (left + cellWidth > root.scrollLeft + width) root.scrollLeft = left + cellWidth - width;
  }

  private onKey(event: KeyboardEvent): void {
    const { row, column } = this.at;
    const page = Math.max(1, Math.floor(this.root.clientHeight / rowHeight) - 3);
    const all = event.ctrlKey || event.metaKey;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
      Home: [all ? 0 : row, 0],
      End: [all ? this.rows.length - 1 : row, this.runs.length - 1],
    };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.focusCell(...to);
  }

  private take(event: MouseEvent): void {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.cell') : null;
    if (cell === null) return;
    event.preventDefault();
    this.focusCell(Number(cell.dataset.row), Number(cell.dataset.column));
  }

  private point(target: EventTarget | null): void {
    if (!(target instanceof Element)) return;
    const cell = target.closest<HTMLElement>('.cell');
    const head = target.closest<HTMLElement>('.run');
    if (cell !== null) this.popup.show(cell.getBoundingClientRect(), this.detailsOf(cell));
    else if (head !== null)
      this.popup.show(head.getBoundingClientRect(), runDetails(this.runs[Number(head.dataset.run)]));
    else this.popup.hide();
  }

  private detailsOf(cell: HTMLElement): Node {
    return cellDetails(this.model, this.rows[Number(cell.dataset.row)], Number(cell.dataset.column));
  }
}
