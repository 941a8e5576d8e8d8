import { formatBytes, formatTime } from '../../terminal/format';
import { byId, element } from './dom';
import type { Model } from './model';

const number = new Intl.NumberFormat('en-US');

/** The figures over all runs on the page. */
export function showTotals({ data, rows }: Model): void {
  const { runs, clusters } = data;
  const sum = (of: (run: (typeof runs)[number]) => number) => runs.reduce((total, run) => total + of(run), 0);
  const count = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  const archived = sum((run) => run.counts.archived);
  const failed = sum((run) => run.counts.failed);
  const notAttempted = sum((run) => run.counts.notAttempted);
  const all = archived + failed + notAttempted;
  const complete = runs.filter(({ status }) => status === 'complete').length;
  const content = sum((run) => run.bytes.log + run.bytes.manifest);
  const tiles: [string, string, string, boolean?][] = [
    ['Clusters', number.format(clusters.length), ''],
    ['Complete runs', number.format(complete), `of ${number.format(runs.length)}`, complete < runs.length],
    ['Archived', percentage(archived, all), `${number.format(archived)} of ${number.format(all)}`],
    ['Failed', number.format(failed), '', failed > 0],
    ['Not attempted', number.format(notAttempted), '', notAttempted > 0],
    ['Late', number.format(count((row) => row.late)), ''],
    ['With a doubt', number.format(sum((run) => run.counts.doubts)), ''],
    ['Manifest changes', number.format(count((row) => row.changes)), ''],
    ['Content', formatBytes(content), `${formatBytes(sum((run) => run.storedBytes))} stored`],
  ];
  byId('totals').replaceChildren(
    ...tiles.map(([name, value, note, isAlarming]) =>
      element(
        'div',
        isAlarming === true ? 'tile alarming' : 'tile',
        element('dt', '', name),
        element('dd', '', value),
        element('small', '', note),
      ),
    ),
  );
  const period = [runs[0], runs.at(-1)].map((run) => formatTime(run?.time ?? '')).join(' to ');
  byId('period').textContent = period;
  byId('bad-records').replaceChildren(
    ...data.badRecords.map(({ key, problem }) => element('li', '', element('code', '', key), ` ${problem}`)),
  );
  byId('bad').hidden = data.badRecords.length === 0;
}

/** Rounded down, so that it says 100 % only if nothing is missing. */
function percentage(part: number, all: number): string {
  return all === 0 ? '-' : `${(Math.floor((part / all) * 1000) / 10).toFixed(part === all ? 0 : 1)} %`;
}
