import { formatBytes, formatTime } from '../../terminal/format';
import { byId, element, formatNumber, type Popup } from './dom';
import type { Model, Resource, Row } from './model';
import type { ReportRun } from './report-data';

/** The figures over all runs on the page. */
export function showTotals({ data, rows, runs }: Model): void {
  const sum = (of: (run: ReportRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const count = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);
  const archived = sum((run) => run.counts.archived);
  const failed = sum((run) => run.counts.failed);
  const notAttempted = sum((run) => run.counts.notAttempted);
  const all = archived + failed + notAttempted;
  const absent = data.runs.reduce((total, run) => total + (run.status === 'absent' ? 1 + run.leftOut : 0), 0);
  const complete = runs.filter(({ status }) => status === 'complete').length;
  const content = sum((run) => run.bytes.log + run.bytes.manifest);
  const stored = sum((run) => run.storedBytes);
  byId('totals').replaceChildren(
    tile('Clusters', data.clusters.length),
    tile('Complete runs', complete, `of ${formatNumber(runs.length)}`, complete < runs.length),
    ...(absent === 0 ? [] : [tile('Absent runs', absent, '', true)]),
    tile('Archived', percentage(archived, all), `${formatNumber(archived)} of ${formatNumber(all)}`),
    tile('Failed', failed, '', failed > 0),
    tile('Not attempted', notAttempted, '', notAttempted > 0),
    tile(
      'Late',
      count(({ late }) => late),
    ),
    tile(
      'With a doubt',
      sum((run) => run.counts.doubts),
    ),
    tile(
      'Manifest changes',
      count(({ changes }) => changes),
    ),
    tile('Content', formatBytes(content), `${formatBytes(stored)} stored`),
  );
  byId('period').textContent = [runs[0], runs.at(-1)].map((run) => formatTime(run?.time ?? '')).join(' to ');
}

function tile(name: string, value: number | string, note = '', isAlarming = false): HTMLElement {
  return element(
    isAlarming ? 'div.tile.alarming' : 'div.tile',
    element('dt', name),
    element('dd', typeof value === 'string' ? value : formatNumber(value)),
    element('small', note),
  );
}

/** Rounded down, so that it says 100 % only if nothing is missing. */
function percentage(part: number, all: number): string {
  return all === 0 ? '-' : `${(Math.floor((part / all) * 1000) / 10).toFixed(part === all ? 0 : 1)} %`;
}

/** The content that each run archived of one resource, over time. */
export function drawSizes(resource: Resource, runs: readonly ReportRun[], popup: Popup): void {
  const sizes = runs.map(({ bytes }) => bytes[resource]);
  const most = sizes.reduce((a, b) => Math.max(a, b), 1);
  const times = runs.map(({ time }) => Date.parse(time));
  const [begin = 0, end = 0] = [times[0], times.at(-1)];
  // Runs lie where their time is: a gap in the schedule is a gap in the plot.
  const places = times.map((time) => (time - begin) / Math.max(1, end - begin));
  const points = sizes.map((size, at) => `${100 * (places[at] ?? 0)}% ${100 * (1 - size / most)}%`);
  const area = element('div.area');
  area.style.clipPath = `polygon(0 100%, ${points.join(', ')}, 100% 100%)`;
  const label = `${resource} content per run, at most ${formatBytes(most)}`;
  const plot = element(`div.plot.${resource}`, { role: 'img', 'aria-label': label }, area);
  plot.addEventListener('mousemove', ({ clientX }) => {
    const { left, top, width, height } = plot.getBoundingClientRect();
    const distance = (place: number) => Math.abs(left + place * width - clientX);
    const nearest = places.reduce((best, place, at) => (distance(place) < distance(places[best] ?? 0) ? at : best), 0);
    const run = element('div.quiet', `run ${formatTime(runs[nearest]?.time ?? '')}`);
    const place = new DOMRect(left + (places[nearest] ?? 0) * width, top, 0, height);
    popup.show(place, element('div', element('strong', formatBytes(sizes[nearest])), run));
  });
  plot.addEventListener('mouseleave', () => popup.hide());
  const title = resource === 'log' ? 'Log content per run' : 'Manifest content per run';
  const range = `${formatBytes(sizes.at(-1))} in the last, ${formatBytes(most)} at most`;
  const edges = [runs[0], runs.at(-1)].map((run) => element('span', formatTime(run?.time ?? '').slice(0, 16)));
  byId(`${resource}-sizes`).replaceChildren(
    element('figcaption', element('span', title), element('span.quiet', range)),
    plot,
    element('div.axis.quiet', ...edges),
  );
}
