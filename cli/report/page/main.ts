import { formatCount } from '../../terminal/format';
import { byId, hidePopup } from './dom';
import { Grid } from './grid';
import { listSections } from './lists';
import { Model, type Order, type Row, type Show } from './model';
import type { ReportData } from './report-data';
import { showTotals } from './totals';
import { showVerdict } from './verdict';

const model = new Model(JSON.parse(byId('data').textContent ?? '') as ReportData, new Date());
const filter = byId<HTMLInputElement>('filter');
const show = byId<HTMLSelectElement>('show');
const order = byId<HTMLSelectElement>('order');
const lastColumn = model.data.runs.length - 1;
showVerdict(model);
const grid = new Grid(model);
let rows: Row[] = [];

function update(): void {
  const wanted = filter.value.trim().toLowerCase();
  rows = model.select(wanted, show.value as Show, order.value as Order);
  grid.setRows(rows);
  byId('lists').replaceChildren(...listSections(model, wanted, goTo));
  const all = formatCount(model.rows.length, 'cluster');
  byId('shown').textContent = rows.length === model.rows.length ? all : `${rows.length} of ${all}`;
  byId('nothing').hidden = rows.length > 0;
}

/** Shows a cell, whatever was filtered. */
function goTo(row: Row, run: number): void {
  if (!rows.includes(row)) {
    filter.value = '';
    show.value = 'all';
    update();
  }
  grid.focusCell(rows.indexOf(row), run);
}

showTotals(model);
for (const input of [filter, show, order]) input.addEventListener('input', update);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault();
    filter.focus();
    filter.select();
  } else if (event.key === 'Escape') {
    hidePopup();
    byId('chosen').hidden = true;
    if (event.target !== filter) return;
    filter.value = '';
    update();
    grid.focusCell(0, lastColumn);
  } else if (event.key === 'Enter' && event.target === filter) {
    grid.focusCell(0, lastColumn);
  }
});
update();
