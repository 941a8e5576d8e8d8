import { formatBytes, formatDuration, formatTime } from '../../terminal/format';
import { element } from './dom';
import { type CellDetails, type Model, type Resource, type Row, resources } from './model';
import type { ReportRun } from './report-data';

/** The popup's content for a cell. */
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

/** The popup's content for a run. */
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

/** One resource of a cell in words, for the popup and for screen readers. */
export function describeCell(resource: Resource, details: CellDetails): string {
  const { outcome, isLate, isChanged, size, state, reason } = details;
  if (outcome === 'none') return `${resource}: not covered`;
  const parts = [outcome === 'not-attempted' ? 'not attempted' : outcome === 'already-archived' ? 'archived' : outcome];
  if (size !== undefined) parts.push(formatBytes(size));
  if (state !== undefined) parts.push(`state ${state}`);
  if (isChanged) parts.push('changed');
  if (isLate) parts.push('late');
  if (reason !== undefined && reason !== '') parts.push(reason);
  return `${resource}: ${parts.join(', ')}`;
}
