import { cellDetails, chosenCell, runDetails } from './cell-details';
import { byId, element, hidePopup, showPopup } from './dom';
import { gridRows, headCells } from './grid-elements';
import { labelRuns, layOut, windowOf } from './grid-layout';
import type { Model, Row } from './model';

/**
 * Clusters down, runs across. Only what is in view is in the document, so that thousands of clusters scroll smoothly. One
 * cell is in the tab order; the arrow keys choose which.
 */
export class Grid {
  #rows: readonly Row[] = [];
  #layout = layOut(0, 0, 0);
  #at: { row: number; column: number };
  readonly #root = byId('grid');
  readonly #head = byId('head');
  readonly #body = byId('body');
  readonly #chosen = byId('chosen');
  readonly #model: Model;
  readonly #labels;
  /** Width of the longest name, in CSS pixels. */
  readonly #nameWidth: number;

  constructor(model: Model) {
    this.#model = model;
    this.#labels = labelRuns(this.#runs.map(({ time }) => time));
    this.#at = { row: 0, column: this.#runs.length - 1 };
    const root = this.#root;
    root.role = 'grid';
    this.#head.role = 'row';
    this.#body.role = 'rowgroup';
    root.setAttribute('aria-colcount', String(this.#runs.length + 1));
    const names = element('pre.uid', model.rows.map(({ uid }) => uid).join('\n'));
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
    this.#root.setAttribute('aria-rowcount', String(rows.length + 1));
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

  get #runs(): Model['data']['runs'] {
    return this.#model.data.runs;
  }

  /** The one cell in the tab order, if it is near what is in view. */
  get #focusable(): HTMLElement | null {
    return this.#body.querySelector(`[data-row="${this.#at.row}"][data-column="${this.#at.column}"]`);
  }

  #resize(): void {
    const room = this.#root.clientWidth;
    this.#layout = layOut(room, this.#runs.length, this.#nameWidth);
    const { labelWidth, cellWidth, rowHeight } = this.#layout;
    this.#root.classList.toggle('stacked', labelWidth === 0);
    this.#root.style.setProperty('--label', `${labelWidth === 0 ? room : labelWidth}px`);
    this.#root.style.setProperty('--cell', `${cellWidth}px`);
    this.#root.style.setProperty('--row', `${rowHeight}px`);
    this.#head.style.width = `${labelWidth + cellWidth * this.#runs.length}px`;
    this.#body.style.width = this.#head.style.width;
    this.#body.style.height = `${this.#rows.length * rowHeight}px`;
    this.#render();
  }

  #render(): void {
    const shown = windowOf(this.#root, this.#layout, this.#rows.length, this.#runs.length);
    const hasFocus = this.#body.contains(document.activeElement);
    this.#head.replaceChildren(...headCells(this.#model, this.#labels, this.#layout, shown));
    this.#body.replaceChildren(...gridRows(this.#model, this.#rows, this.#layout, shown));
    if (this.#focusable !== null) this.#focusable.tabIndex = 0;
    // Replacing what has the focus takes it away: the new element of the same cell gets it, if it is still in view.
    if (hasFocus) this.#focusable?.focus({ preventScroll: true });
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

  #point(target: EventTarget | null): void {
    const pointed = target instanceof Element ? target.closest<HTMLElement>('.cell, .run') : null;
    const row = this.#rows[Number(pointed?.dataset.row)];
    const run = this.#runs[Number(pointed?.dataset.run)];
    const details = row ? cellDetails(this.#model, row, Number(pointed?.dataset.column)) : run && runDetails(run);
    if (pointed === null || details === undefined) hidePopup();
    else showPopup(pointed.getBoundingClientRect(), details);
  }
}
