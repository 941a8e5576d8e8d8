import { cellDetails, chosenCell, runDetails } from './cell-details';
import type { Commands } from './commands';
import { byId, element, type Popup } from './dom';
import { gridRows, headCells } from './grid-elements';
import { type GridLayout, labelRuns, layOut, type RunLabel, windowOf } from './grid-layout';
import type { Model, Row } from './model';

/**
 * Clusters down, runs across. Only what is in view is in the document, so that thousands of clusters scroll smoothly. One
 * cell is in the tab order; the arrow keys choose which.
 */
export class Grid {
  #rows: readonly Row[] = [];
  #layout: GridLayout = { labelWidth: 0, cellWidth: 1, rowHeight: 1 };
  #at = { row: 0, column: 0 };
  readonly #head = element('div.row.head', { role: 'row' });
  readonly #body = element('div.body', { role: 'rowgroup' });
  readonly #root: HTMLElement;
  readonly #model: Model;
  readonly #popup: Popup;
  readonly #commands: Commands;
  readonly #labels: readonly RunLabel[];
  /** Width of the longest name, in CSS pixels. */
  readonly #nameWidth: number;
  readonly #chosen = byId('chosen');

  constructor(root: HTMLElement, model: Model, popup: Popup, commands: Commands) {
    this.#root = root;
    this.#model = model;
    this.#popup = popup;
    this.#commands = commands;
    this.#labels = labelRuns(this.#runs.map(({ time }) => time));
    this.#at.column = Math.max(0, this.#runs.length - 1);
    root.setAttribute('role', 'grid');
    root.setAttribute(
      'aria-label',
      'Outcomes: clusters down, runs across; of each cell the log above, the manifest below',
    );
    root.setAttribute('aria-colcount', String(this.#runs.length + 1));
    root.replaceChildren(this.#head, this.#body);
    this.#nameWidth = this.#widest(model.rows.map(({ cluster }) => cluster.uid));
    root.addEventListener('scroll', () => this.#render(), { passive: true });
    root.addEventListener('keydown', (event) => this.#onKey(event));
    root.addEventListener('mouseover', (event) => this.#point(event.target));
    root.addEventListener('focusin', (event) => this.#point(event.target));
    root.addEventListener('mouseleave', () => popup.hide());
    root.addEventListener('focusout', () => popup.hide());
    root.addEventListener('mousedown', (event) => this.#take(event));
    new ResizeObserver(() => this.#resize()).observe(root);
    this.#resize();
    root.scrollLeft = root.scrollWidth;
  }

  setRows(rows: readonly Row[]): void {
    this.#rows = rows;
    this.#at.row = 0;
    this.#root.setAttribute('aria-rowcount', String(rows.length + 1));
    this.#body.style.height = `${rows.length * this.#layout.rowHeight}px`;
    this.#root.scrollTop = 0;
    this.#chosen.hidden = true;
    this.#render();
  }

  /** Moves the focus to a cell and brings it into view. */
  focusCell(row: number, column: number): void {
    if (this.#rows.length === 0) return;
    this.#at = {
      row: Math.min(Math.max(0, row), this.#rows.length - 1),
      column: Math.min(Math.max(0, column), this.#runs.length - 1),
    };
    this.#reveal();
    this.#render();
    this.#cellAt(this.#at.row, this.#at.column)?.focus({ preventScroll: true });
    if (!this.#chosen.hidden) this.#choose();
  }

  /** Shows more of the cell that has the focus, below the grid. */
  #choose(): void {
    const row = this.#rows[this.#at.row];
    if (row === undefined) return;
    this.#chosen.replaceChildren(chosenCell(this.#model, row, this.#at.column, this.#commands));
    this.#chosen.hidden = false;
  }

  get #runs(): Model['data']['runs'] {
    return this.#model.data.runs;
  }

  #resize(): void {
    const room = this.#root.clientWidth;
    this.#layout = layOut(room, this.#runs.length, this.#nameWidth);
    const { labelWidth, cellWidth, rowHeight } = this.#layout;
    this.#root.classList.toggle('stacked', labelWidth === 0);
    this.#root.style.setProperty('--label', `${labelWidth === 0 ? room : labelWidth}px`);
    this.#root.style.setProperty('--cell', `${cellWidth}px`);
    this.#root.style.setProperty('--row', `${rowHeight}px`);
    const width = `${labelWidth + cellWidth * this.#runs.length}px`;
    this.#head.style.width = width;
    this.#body.style.width = width;
    this.#body.style.height = `${this.#rows.length * rowHeight}px`;
    this.#render();
  }

  #render(): void {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#root;
    const view = { left: scrollLeft, top: scrollTop, width: clientWidth, height: clientHeight };
    const shown = windowOf(view, this.#layout, this.#rows.length, this.#runs.length);
    const hasFocus = this.#body.contains(document.activeElement);
    this.#head.replaceChildren(...headCells(this.#runs, this.#labels, this.#layout, shown));
    this.#body.replaceChildren(...gridRows(this.#model, this.#rows, this.#layout, shown, this.#at));
    // Replacing what has the focus takes it away: the new element of the same cell gets it, if it is still in view.
    if (hasFocus) this.#cellAt(this.#at.row, this.#at.column)?.focus({ preventScroll: true });
  }

  #cellAt(row: number, column: number): HTMLElement | null {
    return this.#body.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`);
  }

  #reveal(): void {
    const { labelWidth, cellWidth, rowHeight } = this.#layout;
    const root = this.#root;
    const top = this.#at.row * rowHeight;
    const left = this.#at.column * cellWidth;
    const height = root.clientHeight - this.#head.offsetHeight;
    const width = root.clientWidth - labelWidth;
    if (top < root.scrollTop) root.scrollTop = top;
    else if (top + rowHeight > root.scrollTop + height) root.scrollTop = top + rowHeight - height;
    if (left < root.scrollLeft) root.scrollLeft = left;
    else if (left + cellWidth > root.scrollLeft + width) root.scrollLeft = left + cellWidth - width;
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
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.#choose();
      this.#chosen.scrollIntoView({ block: 'nearest' });
    }
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.focusCell(...to);
  }

  #take(event: MouseEvent): void {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.cell') : null;
    if (cell === null) return;
    event.preventDefault();
    this.focusCell(Number(cell.dataset.row), Number(cell.dataset.column));
    this.#choose();
    this.#chosen.scrollIntoView({ block: 'nearest' });
  }

  #point(target: EventTarget | null): void {
    if (!(target instanceof Element)) return;
    const cell = target.closest<HTMLElement>('.cell');
    const head = target.closest<HTMLElement>('.run');
    const row = this.#rows[Number(cell?.dataset.row)];
    const run = this.#runs[Number(head?.dataset.run)];
    if (cell !== null && row !== undefined)
      this.#popup.show(cell.getBoundingClientRect(), cellDetails(this.#model, row, Number(cell.dataset.column)));
    else if (head !== null && run !== undefined) this.#popup.show(head.getBoundingClientRect(), runDetails(run));
    else this.#popup.hide();
  }

  /** Width of the widest text in the font of the names, in CSS pixels. */
  #widest(texts: readonly string[]): number {
    const sample = element('span.uid');
    this.#body.append(sample);
    const { font } = getComputedStyle(sample);
    const context = document.createElement('canvas').getContext('2d');
    if (context === null) return 0;
    context.font = font;
    return texts.reduce((widest, text) => Math.max(widest, context.measureText(text).width), 0);
  }
}
