import { type Resource, resourceNames } from '../../../lambda/resources';
import { formatBytes, formatTime } from '../../terminal/format';
import { byId, element, formatNumber, hidePopup, showPopup } from './dom';
import type { Model } from './model';
import type { ReportRun } from './report-data';

type Tile = readonly [name: string, value: number | string, note?: string, isAlarming?: boolean];

/** The figures over all runs on the page. */
export function showTotals({ data, rows, runs }: Model): void {
  const sum = (of: (run: ReportRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const count = (name: 'late' | 'changes') => rows.reduce((total, row) => total + row[name], 0);
  const [archived, failed] = [sum((run) => run.counts.archived), sum((run) => run.counts.failed)];
  const notAttempted = sum((run) => run.counts.notAttempted);
  const all = archived + failed + notAttempted;
  const absent = data.runs.reduce((total, run) => total + (run.status === 'absent' ? 1 + run.leftOut : 0), 0);
  const complete = runs.filter(({ status }) => status === 'complete').length;
  const content = formatBytes(sum((run) => run.bytes.log + run.bytes.manifest));
  const tiles: readonly Tile[] = [
    ['Clusters', data.clusters.length],
    ['Complete runs', complete, `of ${formatNumber(runs.length)}`, complete < runs.length],
    ...(absent === 0 ? [] : [['Absent runs', absent, '', true] as const]),
    ['Archived', percentage(archived, all), `${formatNumber(archived)} of ${formatNumber(all)}`],
    ['Failed', failed, '', failed > 0],
    ['Not attempted', notAttempted, '', notAttempted > 0],
    ['Late', count('late')],
    ['With a doubt', sum((run) => run.counts.doubts)],
    ['Manifest changes', count('changes')],
    ['Content', content, `${formatBytes(sum((run) => run.storedBytes))} stored`],
  ];
  byId('totals').replaceChildren(...tiles.map(tileElement));
  // One run makes no curve.
  if (runs.length > 1)
    byId('totals').after(element('div', { id: 'charts' }, ...resourceNames.map((one) => sizesFigure(one, runs))));
  byId('period').textContent = [runs[0], runs.at(-1)].map((run) => formatTime(run?.time ?? '')).join(' to ');
}

function tileElement([name, value, note = '', isAlarming = false]: Tile): HTMLElement {
  return element(
    isAlarming ? 'div.tile.alarming' : 'div.tile',
    element('dt.quiet.small', name),
    element('dd', typeof value === 'string' ? value : formatNumber(value)),
    element('small.quiet', note),
  );
}

/** Rounded down, so that it says 100 % only if nothing is missing. */
function percentage(part: number, all: number): string {
  return all === 0 ? '-' : `${(Math.floor((part / all) * 1000) / 10).toFixed(part === all ? 0 : 1)} %`;
}

/** The content that each run archived of one resource, over time. The pointer reads it. */
function sizesFigure(resource: Resource, runs: readonly ReportRun[]): HTMLElement {
  const sizes = runs.map(({ bytes }) => bytes[resource]);
  const most = sizes.reduce((a, b) => Math.max(a, b), 1);
  const times = runs.map(({ time }) => Date.parse(time));
  const [begin = 0, end = 0] = [times[0], times.at(-1)];
  // Runs lie where their time is: a gap in the schedule is a gap in the plot.
  const places = times.map((time) => (time - begin) / Math.max(1, end - begin));
  const points = sizes.map((size, at) => `${100 * (places[at] ?? 0)}% ${100 * (1 - size / most)}%`);
  const plot = element(`div.area.${resource}`);
  plot.style.clipPath = `polygon(0 100%, ${points.join(', ')}, 100% 100%)`;
  plot.addEventListener('mousemove', ({ clientX }) => {
    const { left, top, width, height } = plot.getBoundingClientRect();
    const distances = places.map((place) => Math.abs(left + place * width - clientX));
    const nearest = distances.indexOf(Math.min(...distances));
    const run = element('div.quiet', `run ${formatTime(runs[nearest]?.time ?? '')}`);
    const place = new DOMRect(left + (places[nearest] ?? 0) * width, top, 0, height);
    showPopup(place, element('div', element('strong', formatBytes(sizes[nearest])), run));
  });
  plot.addEventListener('mouseleave', hidePopup);
  const range = element('span.quiet', `${formatBytes(sizes.at(-1))} in the last, ${formatBytes(most)} at most`);
  const name = `${resource === 'log' ? 'Log' : 'Manifest'} content per run`;
  return element('figure', element('figcaption.line', name, range), plot);
}
