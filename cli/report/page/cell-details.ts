import { formatDuration, formatTime } from '../../terminal/format';
import { describeCell } from './describe';
import { element } from './dom';
import { type Model, type Row, resources } from './model';
import type { ReportRun } from './report-data';

/** What the popup says of a cell. */
export function cellDetails(model: Model, row: Row | undefined, column: number): Node {
  if (row === undefined) return element('div');
  return element(
    'div',
    '',
    element('strong', '', row.cluster.uid),
    element('div', 'quiet', `run ${formatTime(model.data.runs[column]?.time ?? '')}`),
    ...resources.map((resource) => {
      const details = model.details(row, column, resource);
      return element('div', 'line', element('i', details.outcome), describeCell(resource, details));
    }),
  );
}

/** What the popup says of a run. */
export function runDetails(run: ReportRun | undefined): Node {
  if (run === undefined) return element('div');
  const { archived, failed, notAttempted } = run.counts;
  return element(
    'div',
    '',
    element('strong', '', `Run ${formatTime(run.time)}`),
    element('div', 'quiet', `${run.status}, attempts: ${run.attempts}, ${formatDuration(run.durationMs)}`),
    element('div', '', `${archived} archived, ${failed} failed, ${notAttempted} not attempted`),
  );
}
