import { formatBytes, formatDuration, formatTime } from '../../terminal/format';
import type { Commands } from './commands';
import { commandElement, element } from './dom';
import { type CellDetails, type Model, type Resource, type Row, resources } from './model';
import type { ReportRun } from './report-data';

/** A cell in words, as the popup shows it. */
export function cellDetails(model: Model, row: Row, column: number): HTMLElement {
  return element(
    'div',
    element('strong', row.cluster.uid),
    element('div.quiet', `run ${formatTime(model.data.runs[column]?.time ?? '')}`),
    ...(row.stale === undefined ? [] : [element('div.quiet', `stale: ${row.stale.text}`)]),
    ...resources.map((resource) => {
      const details = model.details(row, column, resource);
      return element('div', outcomeSign(details), describeCell(resource, details));
    }),
  );
}

/** A cell in words, with the commands that show what it stands for. */
export function chosenCell(model: Model, row: Row, column: number, commands: Commands): HTMLElement {
  const content = cellDetails(model, row, column);
  const time = model.data.runs[column]?.time ?? '';
  for (const resource of resources) {
    const { outcome, isChanged } = model.details(row, column, resource);
    if (outcome !== 'archived' && outcome !== 'already-archived') continue;
    if (isChanged) content.append(commandElement('What changed', commands.change(row.cluster.uid, time)));
    content.append(commandElement(`The ${resource}`, commands.content(row.cluster.uid, resource, time)));
  }
  return content;
}

/** The popup's content for a run. */
export function runDetails({ time, status, attempts, durationMs, counts, reasons }: ReportRun): HTMLElement {
  const { archived, failed, notAttempted } = counts;
  return element(
    'div',
    element('strong', `Run ${formatTime(time)}`),
    element('div.quiet', `${status}, attempts: ${attempts}, ${formatDuration(durationMs)}`),
    element('div', `${archived} archived, ${failed} failed, ${notAttempted} not attempted`),
    ...reasons.map(({ reason, count }) => element('div', `${count} × ${reason}`)),
  );
}

/** The sign of an outcome. Its shape says what its colour says. */
export function outcomeSign({ outcome, isChanged, isLate, hasDoubt }: CellDetails): HTMLElement {
  return element(`i.${outcome}${isChanged ? '.changed' : ''}${isLate ? '.late' : ''}${hasDoubt ? '.doubt' : ''}`);
}

/** One resource of a cell in words, for the popup and for screen readers. */
export function describeCell(resource: Resource, details: CellDetails): string {
  const { outcome, isLate, isChanged, hasDoubt, size, state, reason } = details;
  if (outcome === 'none') return `${resource}: not covered`;
  const parts = [outcome === 'not-attempted' ? 'not attempted' : outcome === 'already-archived' ? 'archived' : outcome];
  if (size !== undefined) parts.push(formatBytes(size));
  if (state !== undefined) parts.push(`state ${state}`);
  if (isChanged) parts.push('changed');
  if (isLate) parts.push('late');
  if (reason !== undefined && reason !== '') parts.push(hasDoubt ? `doubt: ${reason}` : reason);
  return `${resource}: ${parts.join(', ')}`;
}
