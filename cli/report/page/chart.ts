import { formatBytes, formatTime } from '../../terminal/format';
import { byId, element, svg } from './dom';
import type { Resource } from './model';
import type { Popup } from './popup';
import type { ReportRun } from './report-data';

const width = 560;
const height = 90;
const top = 8;

/** The content that each run archived of one resource, over time. */
export function drawSizes(resource: Resource, runs: readonly ReportRun[], popup: Popup): void {
  const values = runs.map(({ bytes }) => bytes[resource]);
  const most = Math.max(1, ...values);
  const times = runs.map(({ time }) => Date.parse(time));
  const [begin = 0] = times;
  const span = Math.max(1, (times.at(-1) ?? 0) - begin);
  // Runs lie where their time is: a gap in the schedule is a gap in the plot.
  const x = (at: number) => (((times[at] ?? 0) - begin) / span) * width;
  const y = (value: number) => top + (1 - value / most) * (height - top);
  const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  const marker = svg('line', { class: 'marker', y1: 0, y2: height, visibility: 'hidden' });
  const plot = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: resource, preserveAspectRatio: 'none', role: 'img' },
    svg('line', { class: 'base', x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
    svg('polygon', { class: 'area', points: `${x(0)},${height} ${points.join(' ')} ${x(runs.length - 1)},${height}` }),
    svg('polyline', { class: 'curve', points: points.join(' ') }),
    marker,
  );
  plot.setAttribute('aria-label', `${resource} content per run, at most ${formatBytes(most)}`);
  plot.addEventListener('mousemove', (event) => {
    const box = plot.getBoundingClientRect();
    const wanted = ((event.clientX - box.left) / box.width) * width;
    let nearest = 0;
    for (let at = 1; at < runs.length; at += 1)
      if (Math.abs(x(at) - wanted) < Math.abs(x(nearest) - wanted)) nearest = at;
    marker.setAttribute('x1', String(x(nearest)));
    marker.setAttribute('x2', String(x(nearest)));
    marker.setAttribute('visibility', 'visible');
    const place = new DOMRect(box.left + (x(nearest) / width) * box.width, box.top, 0, box.height);
    popup.show(
      place,
      element(
        'div',
        '',
        element('strong', '', formatBytes(values[nearest])),
        element('div', 'quiet', `run ${formatTime(runs[nearest]?.time ?? '')}`),
      ),
    );
  });
  plot.addEventListener('mouseleave', () => {
    popup.hide();
    marker.setAttribute('visibility', 'hidden');
  });
  const figure = byId(`${resource}-sizes`);
  figure.replaceChildren(
    element(
      'figcaption',
      '',
      element('span', '', resource === 'log' ? 'Log content per run' : 'Manifest content per run'),
      element('span', 'quiet', `${formatBytes(values.at(-1))} in the last, ${formatBytes(most)} at most`),
    ),
    plot,
    element(
      'div',
      'axis quiet',
      element('span', '', formatTime(runs[0]?.time ?? '').slice(0, 16)),
      element('span', '', formatTime(runs.at(-1)?.time ?? '').slice(0, 16)),
    ),
  );
}
