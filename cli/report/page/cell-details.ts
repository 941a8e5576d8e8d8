import { formatBytes, formatCount, formatDuration, formatTime } from '../../terminal/format';
import type { Commands } from './commands';
import { commandElement, element } from './dom';
import { type CellDetails, type Model, type Resource, type Row, resources } from './model';
import type { AbsentRun, ReportFlapping, ReportRun } from './report-data';

/** A cell in words, as the popup shows it. */
export function cellDetails(model: Model, row: Row, column: number): HTMLElement {
  return element(
    'div',
    element('strong', row.cluster.uid),
    element('div.quiet', `run ${model.timeOf(column)}`),
    ...(row.stale === undefined ? [] : [element('div.quiet', `stale: ${row.stale.text}`)]),
    ...(row.flapping === undefined ? [] : [element('div.quiet', `fails now and then: ${flappingText(row.flapping)}`)]),
    ...resources.map((resource) => {
      const details = model.details(row, column, resource);
      return element('div', outcomeSign(details), describeCell(resource, details));
    }),
  );
}

/** A cell in words, with the commands that show what it stands for. */
export function chosenCell(model: Model, row: Row, column: number, commands: Commands): HTMLElement {
  const content = cellDetails(model, row, column);
  const time = model.timeOf(column);
  if (model.data.runs[column]?.status === 'absent')
    content.append(commandElement('Make the run up', commands.makeUp(time)));
  for (const resource of resources) {
    const { outcome, isChanged } = model.details(row, column, resource);
    if (outcome !== 'archived' && outcome !== 'already-archived') continue;
    if (isChanged) content.append(commandElement('What changed', commands.change(row.cluster.uid, time)));
    content.append(commandElement(`The ${resource}`, commands.content(row.cluster.uid, resource, time)));
  }
  return content;
}

/** The popup's content for a run. */
export function runDetails(run: ReportRun | AbsentRun): HTMLElement {
  if (run.status === 'absent') return absentRun(run);
  const { time, status, attempts, durationMs, counts, reasons } = run;
  const { archived, failed, notAttempted } = counts;
  return element(
    'div',
    element('strong', `Run ${formatTime(time)}`),
    element('div.quiet', `${status}, attempts: ${attempts}, ${formatDuration(durationMs)}`),
    element('div', `${archived} archived, ${failed} failed, ${notAttempted} not attempted`),
    ...reasons.map(({ reason, count }) => element('div', `${count} × ${reason}`)),
  );
}

function absentRun({ time, leftOut }: AbsentRun): HTMLElement {
  const more = leftOut === 0 ? '' : `; so are ${formatCount(leftOut, 'run')} or more behind it`;
  return element(
    'div',
    element('strong', `Run ${formatTime(time)}`),
    element('div', `absent: the schedule was due, and no record is there${more}`),
  );
}

/** `30 of 60 runs did not archive all of it`. */
export function flappingText({ failed, runs }: ReportFlapping): string {
  return `${failed} of ${formatCount(runs, 'run')} did not archive all of it`;
}

/** The sign of an outcome. Its shape says what its colour says. */
export function outcomeSign({ outcome, isChanged, isLate, hasDoubt }: CellDetails): HTMLElement {
  return element(`i.${outcome}${isChanged ? '.changed' : ''}${isLate ? '.late' : ''}${hasDoubt ? '.doubt' : ''}`);
}

/** One resource of a cell in words, for the popup and for screen readers. */
export function describeCell(resource: Resource, details: CellDetails): string {
  const { outcome, isLate, isChanged, hasDoubt, size, state, reason } = details;
  if (outcome === 'none') return `${resource}: not covered`;
  if (outcome === 'absent') return `${resource}: no run`;
  const parts = [outcome === 'not-attempted' ? 'not attempted' : outcome === 'already-archived' ? 'archived' : outcome];
  if (size !== undefined) parts.push(formatBytes(size));
  if (state !== undefined) parts.push(`state ${state}`);
  if (isChanged) parts.push('changed');
  if (isLate) parts.push('late');
  if (reason !== undefined && reason !== '') parts.push(hasDoubt ? `doubt: ${reason}` : reason);
  return `${resource}: ${parts.join(', ')}`;
}
