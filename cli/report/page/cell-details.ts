import type { FlappingCluster } from '../../../lambda/audit/freshness';
import { type Resource, resourceNames } from '../../../lambda/resources';
import { formatBytes, formatCount, formatDuration, formatTime } from '../../terminal/format';
import { commandElement, element } from './dom';
import { hasDoubt, type Model, type Row } from './model';
import type { AbsentRun, Cell, ReportRun } from './report-data';

/** A cell in words, as the popup shows it. */
export function cellDetails(model: Model, row: Row, run: number): HTMLElement {
  const { uid, stale, flapping } = row;
  return element(
    'div',
    element('strong', uid),
    element('div.quiet', `run ${model.timeOf(run)}`),
    ...(stale === undefined ? [] : [element('div.quiet', `stale: ${model.staleText(stale)}`)]),
    ...(flapping === undefined ? [] : [element('div.quiet', `fails now and then: ${flappingText(flapping)}`)]),
    ...resourceNames.map((resource) =>
      element('div', outcomeSign(model.cellOf(row, run, resource)), describeCell(model, row, run, resource)),
    ),
  );
}

/** A cell in words, with the commands that show what it stands for. */
export function chosenCell(model: Model, row: Row, run: number): HTMLElement {
  const { commands, data } = model;
  const content = cellDetails(model, row, run);
  const time = model.timeOf(run);
  if (data.runs[run]?.status === 'absent') content.append(commandElement('Make the run up', commands.makeUp(time)));
  for (const resource of resourceNames) {
    const { outcome, isChanged } = model.cellOf(row, run, resource);
    if (outcome !== 'archived') continue;
    if (isChanged && resource === 'manifest')
      content.append(commandElement('What changed', commands.change(row.uid, time)));
    content.append(commandElement(`The ${resource}`, commands.content(row.uid, resource, time)));
  }
  return content;
}

/** The popup's content for a run. */
export function runDetails(run: ReportRun | AbsentRun): HTMLElement {
  const lines = run.status === 'absent' ? [absentText(run)] : runTexts(run);
  return element('div', element('strong', `Run ${formatTime(run.time)}`), ...lines.map((line) => element('div', line)));
}

function runTexts({ status, attempts, durationMs, counts, reasons }: ReportRun): string[] {
  return [
    `${status}, attempts: ${attempts}, ${formatDuration(durationMs)}`,
    `${counts.archived} archived, ${counts.failed} failed, ${counts.notAttempted} not attempted`,
    ...reasons.map(({ reason, count }) => `${count} × ${reason}`),
  ];
}

function absentText({ leftOut }: AbsentRun): string {
  const more = leftOut === 0 ? '' : `; so are ${formatCount(leftOut, 'run')} or more behind it`;
  return `absent: the schedule was due, and no record is there${more}`;
}

/** `30 of 60 runs did not archive all of it`. */
export function flappingText({ failed, runs }: FlappingCluster): string {
  return `${failed} of ${formatCount(runs, 'run')} did not archive all of it`;
}

/** The sign of an outcome. Its shape says what its colour says. */
export function outcomeSign(cell: Cell): HTMLElement {
  const { outcome, isChanged, isLate } = cell;
  return element(`i.${outcome}${isChanged ? '.changed' : ''}${isLate ? '.late' : ''}${hasDoubt(cell) ? '.doubt' : ''}`);
}

/** One resource of a cell in words, for the popup and for screen readers. */
export function describeCell(model: Model, row: Row, run: number, resource: Resource): string {
  const cell = model.cellOf(row, run, resource);
  const { outcome, isLate, isChanged, state, reason } = cell;
  if (outcome === 'none') return `${resource}: not covered`;
  if (outcome === 'absent') return `${resource}: no run`;
  const parts = [outcome.replace('-', ' '), formatBytes(row[resource].sizes[run] ?? undefined)];
  if (state !== undefined) parts.push(`state ${state}`);
  if (isChanged) parts.push('changed');
  if (isLate) parts.push('late');
  if (reason !== undefined) parts.push(hasDoubt(cell) ? `doubt: ${reason}` : reason);
  return `${resource}: ${parts.filter((part) => part !== '').join(', ')}`;
}
