import { formatAge, formatCount, formatDuration, formatSecond, formatTime } from '../../terminal/format';
import type { Commands } from './commands';
import { byId, commandElement, element, timeElement } from './dom';
import type { Model } from './model';
import type { ReportRun } from './report-data';

/** Most stale clusters that the verdict names. */
const namedStale = 3;

/** Says first whether it is well now: the last run, how long ago it was, why it is not complete, and what is stale. */
export function showVerdict(model: Model, commands: Commands, now: Date): void {
  const { data } = model;
  const { runs, isNewest, overdue } = data;
  const run = runs.at(-1);
  if (run === undefined) return;
  const isComplete = run.status === 'complete';
  const { archived, optionalMissing, doubts } = run.counts;
  const verdict = byId('verdict');
  verdict.classList.add(isComplete ? (overdue === undefined ? 'well' : 'doubtful') : 'ill');
  const which = isNewest ? 'Last run' : 'Last run on this page';
  const additions = [
    optionalMissing > 0 ? `${optionalMissing} optional missing` : '',
    doubts > 0 ? `${doubts} with a doubt` : '',
  ].filter((text) => text !== '');
  verdict.replaceChildren(
    element(
      'h2',
      '',
      `${which}, ${formatAge(now.getTime() - Date.parse(run.time))}: `,
      element('strong', '', `${counted(archived)} of ${counted(totalOf(run))} archived`),
      additions.length > 0 ? `, ${additions.join(', ')}` : '',
    ),
    ...(overdue === undefined ? [] : [element('p', 'overdue', `Not well: ${overdue}.`)]),
    ...(isComplete ? [] : whyIncomplete(run)),
    ...whatIsStale(model),
    element(
      'p',
      'quiet',
      'Run ',
      timeElement(formatTime(run.time)),
      ` · ${formatCount(run.attempts, 'attempt')}, ${formatDuration(run.durationMs)} · `,
      ...streakOf(runs),
    ),
    ...(isComplete ? [] : [commandElement('Complete it', commands.complete(run.time))]),
    ...(isComplete ? [] : [commandElement('Every outcome', commands.outcomes(run.time))]),
  );
  byId('about').replaceChildren(`${data.archive} · written `, timeElement(formatSecond(data.createdAt)));
}

/** `300 failed, one reason: 503 Service Unavailable`, or the reasons as a list. */
function whyIncomplete({ counts, reasons, reasonsLeftOut }: ReportRun): HTMLElement[] {
  const { failed, notAttempted } = counts;
  const missing = [
    failed > 0 ? `${counted(failed)} failed` : '',
    notAttempted > 0 ? `${counted(notAttempted)} not attempted` : '',
  ].filter((text) => text !== '');
  const [only, ...others] = reasons;
  if (missing.length === 0 || only === undefined)
    return [element('p', '', 'The records of some attempts or shards are missing or damaged.')];
  if (others.length === 0) return [element('p', '', `${missing.join(', ')}, one reason: `, strong(only.reason))];
  const items = reasons.map(({ reason, count }) => element('li', '', `${counted(count)} × `, strong(reason)));
  if (reasonsLeftOut > 0) items.push(element('li', 'quiet', `and ${formatCount(reasonsLeftOut, 'more reason')}`));
  return [
    element('p', '', `${missing.join(', ')}, ${reasons.length + reasonsLeftOut} reasons:`),
    element('ul', 'reasons', ...items),
  ];
}

/** The clusters that have not been archived for longest, whatever the last run covers. */
function whatIsStale({ data, rows }: Model): HTMLElement[] {
  const { stale, notCovered } = data;
  const lines = stale.slice(0, namedStale).flatMap(({ cluster }) => {
    const row = rows[cluster];
    return row?.stale === undefined ? [] : [[strong(row.cluster.uid), `: ${row.stale.text}`]];
  });
  const items = lines.map((line) => element('li', '', ...line));
  if (stale.length > namedStale)
    items.push(element('li', 'quiet', `and ${formatCount(stale.length - namedStale, 'more stale cluster')}`));
  const [only = [], ...others] = lines;
  const named =
    others.length === 0
      ? [element('p', '', 'Stalest cluster: ', ...only)]
      : [element('p', '', 'Stalest clusters:'), element('ul', 'reasons', ...items)];
  const uncovered = element('p', '', `No run here covers ${formatCount(notCovered, 'configured cluster')}.`);
  return [...(stale.length === 0 ? [] : named), ...(notCovered === 0 ? [] : [uncovered])];
}

/** For how many runs it has been as it is. */
function streakOf(runs: readonly ReportRun[]): (Node | string)[] {
  const status = runs.at(-1)?.status ?? 'complete';
  const turned = runs.findLastIndex((run) => run.status !== status);
  const length = runs.length - 1 - turned;
  if (turned < 0) return [length === 1 ? 'the only run on this page' : `all ${length} runs on this page are ${status}`];
  if (length > 1)
    return [`${status} for ${length} runs, since `, timeElement(formatTime(runs[turned + 1]?.time ?? ''))];
  return [status === 'complete' ? 'the run before it was incomplete' : 'the run before it was complete'];
}

function totalOf({ counts }: ReportRun): number {
  return counts.archived + counts.failed + counts.notAttempted + counts.optionalMissing;
}

function counted(count: number): string {
  return count.toLocaleString('en-US');
}

function strong(text: string): HTMLElement {
  return element('strong', '', text);
}
