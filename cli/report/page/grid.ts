import { resourceNames } from '../../../lambda/resources';
import { formatTime } from '../../terminal/format';
import { cellDetails, chosenCell, describeCell, outcomeSign, runDetails } from './cell-details';
import { byId, element, hidePopup, showPopup } from './dom';
import { inView, labelRuns, layOut } from './grid-layout';
import type { Model, Row } from './model';

/** Room for the label of a run, in CSS pixels: a date takes it. */
const labelRoom = 76;

/**
 * Clusters down, runs across. Only what is in view is in the document, so that thousands of clusters scroll smoothly. One
 * cell is in the tab order; the arrow keys choose which.
 */
export class Grid {
  #rows: readonly Row[] = [];
  #layout = layOut(0, 1, 0);
  #at: { row: number; column: number };
  readonly #root = byId('grid');
  readonly #head = byId('head');
  readonly #body = byId('body');
  readonly #chosen = byId('chosen');
  readonly #model: Model;
  readonly #runs: Model['data']['runs'];
  readonly #labels;
  /** Width of the longest name, in CSS pixels. */
  readonly #nameWidth: number;

  constructor(model: Model) {
    const { runs } = model.data;
    this.#model = model;
    this.#runs = runs;
    this.#labels = labelRuns(runs.map(({ time }) => time));
    this.#at = { row: 0, column: runs.length - 1 };
    const root = this.#root;
    [root.role, this.#head.role, this.#body.role] = ['grid', 'row', 'rowgroup'];
    root.ariaColCount = String(runs.length + 1);
    const names = element('pre.uid', model.rows.map(({ uid }) => uid).join('\n'));
    names.style.position = 'absolute';
    root.append(names);
    this.#nameWidth = names.getBoundingClientRect().width;
    names.remove();
    root.addEventListener('scroll', () => this.#render(), { passive: true });
    root.addEventListener('keydown', (event) => this.#onKey(event));
    root.addEventListener('mouseover', (event) => this.#point(event.target));
    root.addEventListener('focusin', (event) => this.#point(event.target));
    root.addEventListener('mouseleave', hidePopup);
    root.addEventListener('focusout', hidePopup);
    root.addEventListener('mousedown', (event) => this.#take(event));
    new ResizeObserver(() => this.#resize()).observe(root);
    this.#resize();
    root.scrollLeft = root.scrollWidth;
  }

  setRows(rows: readonly Row[]): void {
    this.#rows = rows;
    this.#at.row = 0;
    this.#root.ariaRowCount = String(rows.length + 1);
    this.#root.scrollTop = 0;
    this.#chosen.hidden = true;
    this.#resize();
  }

  /** Moves the focus to a cell and brings it into view. */
  focusCell(row: number, column: number): void {
    if (this.#rows.length === 0) return;
    this.#at = {
      row: Math.min(Math.max(0, row), this.#rows.length - 1),
      column: Math.min(Math.max(0, column), this.#runs.length - 1),
    };
    if (this.#focusable === null) {
      this.#root.scrollTop = this.#at.row * this.#layout.rowHeight;
      this.#root.scrollLeft = this.#at.column * this.#layout.cellWidth;
    }
    this.#render();
    this.#focusable?.focus({ preventScroll: true });
    this.#focusable?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (!this.#chosen.hidden) this.#choose();
  }

  /** Shows more of the cell that has the focus, below the grid. */
  #choose(): void {
    const row = this.#rows[this.#at.row];
    if (row === undefined) return;
    this.#chosen.replaceChildren(chosenCell(this.#model, row, this.#at.column));
    this.#chosen.hidden = false;
    this.#chosen.scrollIntoView({ block: 'nearest' });
  }

  /** The one cell in the tab order, if it is near what is in view. */
  get #focusable(): HTMLElement | null {
    return this.#body.querySelector(`[data-row="${this.#at.row}"][data-column="${this.#at.column}"]`);
  }

  #resize(): void {
    const room = this.#root.clientWidth;
    const columns = this.#runs.length;
    this.#layout = layOut(room, columns, this.#nameWidth);
    const { labelWidth, cellWidth: cell, rowHeight: row } = this.#layout;
    const [width, height] = [labelWidth + cell * columns, row * this.#rows.length];
    for (const [name, size] of Object.entries({ label: labelWidth || room, cell, row, width, height }))
      this.#root.style.setProperty(`--${name}`, `${size}px`);
    this.#root.classList.toggle('stacked', labelWidth === 0);
    this.#render();
  }

  #render(): void {
    const { labelWidth, cellWidth, rowHeight } = this.#layout;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#root;
    const rows = inView(scrollTop, clientHeight, rowHeight, this.#rows.length);
    const columns = inView(scrollLeft, clientWidth - labelWidth, cellWidth, this.#runs.length);
    const hasFocus = this.#body.contains(document.activeElement);
    this.#head.replaceChildren(element('div.label', { role: 'columnheader' }, 'Cluster'), this.#headCells(columns));
    this.#body.style.paddingTop = `${(rows[0] ?? 0) * rowHeight}px`;
    this.#body.replaceChildren(...rows.map((row) => this.#rowElement(row, columns)));
    if (this.#focusable !== null) this.#focusable.tabIndex = 0;
    // Replacing what has the focus takes it away: the new element of the same cell gets it, if it is still in view.
    if (hasFocus) this.#focusable?.focus({ preventScroll: true });
  }

  /** The cells above the columns. Labels are as dense as they fit; the newest run always has one. */
  #headCells(columns: readonly number[]): HTMLElement {
    const { cellWidth } = this.#layout;
    const every = Math.ceil(labelRoom / cellWidth);
    const firstShown = Math.ceil(this.#root.scrollLeft / cellWidth);
    let lastGroup: string | undefined;
    return this.#cells(columns, (column) => {
      const { time, status } = this.#runs[column] ?? {};
      const attributes = { role: 'columnheader', 'aria-colindex': column + 2, 'data-column': column };
      const cell = element(`div.run.${status}`, { ...attributes, 'aria-label': formatTime(time ?? '') });
      const { group = '', own = '' } = this.#labels[column] ?? {};
      // A label ends at the right edge of its column. It may begin left of it, but not behind the names.
      const hasRoom = (column + 1 - firstShown) * cellWidth >= labelRoom;
      if (!hasRoom || (this.#runs.length - 1 - column) % every !== 0) return cell;
      if (group !== lastGroup) cell.append(element('span.group', group));
      lastGroup = group;
      cell.append(element('span.own', own));
      return cell;
    });
  }

  #rowElement(row: number, columns: readonly number[]): HTMLElement {
    const cluster = this.#rows[row] as Row;
    const label = element('div.label', { role: 'rowheader' }, element('span.uid', cluster.uid));
    const count = String(cluster.failures);
    if (cluster.failures > 0) label.append(element('span.badge', { title: `not archived: ${count}` }, count));
    const cells = this.#cells(columns, (column) => this.#cellElement(cluster, row, column));
    return element('div.row', { role: 'row', 'aria-rowindex': row + 2 }, label, cells);
  }

  #cellElement(cluster: Row, row: number, column: number): HTMLElement {
    const model = this.#model;
    const said = resourceNames.map((resource) => describeCell(model, cluster, column, resource)).join('; ');
    const name = `${cluster.uid}, ${model.timeOf(column)}: ${said}`;
    return element(
      'div.cell',
      { role: 'gridcell', 'aria-colindex': column + 2, 'aria-label': name, tabindex: -1 },
      { 'data-row': row, 'data-column': column },
      ...resourceNames.map((resource) => outcomeSign(model.cellOf(cluster, column, resource))),
    );
  }

  /** The cells of the columns, in their place. */
  #cells(columns: readonly number[], cellOf: (column: number) => HTMLElement): HTMLElement {
    const cells = element('div.cells', ...columns.map(cellOf));
    cells.style.paddingLeft = `${(columns[0] ?? 0) * this.#layout.cellWidth}px`;
    return cells;
  }

  #onKey(event: KeyboardEvent): void {
    const { row, column } = this.#at;
    const page = Math.max(1, Math.floor(this.#root.clientHeight / this.#layout.rowHeight) - 3);
    const all = event.ctrlKey || event.metaKey;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
      Home: [all ? 0 : row, 0],
      End: [all ? this.#rows.length - 1 : row, this.#runs.length - 1],
    };
    const to = moves[event.key];
    const isChoice = event.key === 'Enter' || event.key === ' ';
    if (isChoice) this.#choose();
    else if (to !== undefined) this.focusCell(...to);
    if (isChoice || to !== undefined) event.preventDefault();
  }

  #take(event: MouseEvent): void {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.cell') : null;
    if (cell === null) return;
    event.preventDefault();
    this.focusCell(Number(cell.dataset.row), Number(cell.dataset.column));
    this.#choose();
  }

  /** Says more of the cell, or of the run, that is pointed at. */
  #point(target: EventTarget | null): void {
    const pointed = target instanceof Element ? target.closest<HTMLElement>('.cell, .run') : null;
    const column = Number(pointed?.dataset.column);
    const [row, run] = [this.#rows[Number(pointed?.dataset.row)], this.#runs[column]];
    const details = row ? cellDetails(this.#model, row, column) : run && runDetails(run);
    if (pointed === null || details === undefined) hidePopup();
    else showPopup(pointed.getBoundingClientRect(), details);
  }
}
