import { formatCount } from '../../terminal/format';
import { showChanges } from './change-list';
import { Commands } from './commands';
import { byId, Popup } from './dom';
import { FailureList } from './failure-list';
import { Grid } from './grid';
import { Model, type Order, type Row, resources, type Show } from './model';
import type { ReportData } from './report-data';
import { drawSizes, showTotals } from './totals';
import { showVerdict } from './verdict';

const now = new Date();
const model = new Model(JSON.parse(byId('data').textContent ?? '') as ReportData, now);
const commands = new Commands(model.data);
const popup = new Popup();
const filter = byId<HTMLInputElement>('filter');
const show = byId<HTMLSelectElement>('show');
const order = byId<HTMLSelectElement>('order');
showVerdict(model, commands, now);
const grid = new Grid(byId('grid'), model, popup, commands);
const lists = [new FailureList('failures', model, false, goTo), new FailureList('doubts', model, true, goTo)];
let rows: Row[] = [];

function update(): void {
  rows = model.select(filter.value, show.value as Show, order.value as Order);
  grid.setRows(rows);
  for (const list of lists) list.filter(filter.value);
  showChanges(model, commands, filter.value);
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
  byId('grid').scrollIntoView({ block: 'center' });
  grid.focusCell(rows.indexOf(row), run);
}

showTotals(model);
// One run makes no curve.
if (model.runs.length > 1) for (const resource of resources) drawSizes(resource, model.runs, popup);
filter.addEventListener('input', update);
show.addEventListener('change', update);
order.addEventListener('change', update);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault();
    filter.focus();
    filter.select();
  } else if (event.key === 'Escape') {
    popup.hide();
    byId('chosen').hidden = true;
    if (event.target !== filter) return;
    filter.value = '';
    update();
    grid.focusCell(0, model.data.runs.length - 1);
  } else if (event.key === 'Enter' && event.target === filter) {
    grid.focusCell(0, model.data.runs.length - 1);
  }
});
update();
