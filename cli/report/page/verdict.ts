import { formatAge, formatCount, formatDuration, formatSecond, formatTime } from '../../terminal/format';
import type { Commands } from './commands';
import { byId, commandElement, element, formatNumber, timeElement } from './dom';
import type { Model } from './model';
import type { ReportRun } from './report-data';

/** Most stale clusters that the verdict names. */
const namedStale = 3;

/** Says first whether it is well now: the last run, how long ago it was, why it is not complete, and what is stale. */
export function showVerdict(model: Model, commands: Commands, now: Date): void {
  const { archive, createdAt, runs, isNewest, overdue, badRecords } = model.data;
  const run = runs.at(-1);
  if (run === undefined) return;
  const { archived, failed, notAttempted, optionalMissing, doubts } = run.counts;
  const isComplete = run.status === 'complete';
  const verdict = byId('verdict');
  verdict.classList.add(isComplete ? (overdue === undefined ? 'well' : 'doubtful') : 'ill');
  const all = formatNumber(archived + failed + notAttempted + optionalMissing);
  const additions = [counted(optionalMissing, 'optional missing'), counted(doubts, 'with a doubt')].flat();
  const about = ` · ${formatCount(run.attempts, 'attempt')}, ${formatDuration(run.durationMs)} · `;
  verdict.replaceChildren(
    element(
      'h2',
      `${isNewest ? 'Last run' : 'Last run on this page'}, ${formatAge(now.getTime() - Date.parse(run.time))}: `,
      element('strong', `${formatNumber(archived)} of ${all} archived`),
      ...additions.map((addition) => `, ${addition}`),
    ),
    ...(overdue === undefined ? [] : [element('p.overdue', `Not well: ${overdue}.`)]),
    ...(isComplete ? [] : whyIncomplete(run)),
    ...whatIsStale(model),
    element('p.quiet', 'Run ', timeElement(formatTime(run.time)), about, ...streakOf(runs)),
    ...(isComplete ? [] : [commandElement('Complete it', commands.complete(run.time))]),
    ...(isComplete ? [] : [commandElement('Every outcome', commands.outcomes(run.time))]),
  );
  byId('about').replaceChildren(`${archive} · written `, timeElement(formatSecond(createdAt)));
  const damaged = badRecords.map(({ key, problem }) => element('li', element('code', key), ` ${problem}`));
  byId('bad-records').replaceChildren(...damaged);
  byId('bad').hidden = damaged.length === 0;
}

/** `3 failed`; nothing if there are none. */
function counted(count: number, what: string): string[] {
  return count > 0 ? [`${formatNumber(count)} ${what}`] : [];
}

/** `300 failed, one reason: 503 Service Unavailable`, or the reasons as a list. */
function whyIncomplete({ counts, reasons, reasonsLeftOut }: ReportRun): HTMLElement[] {
  const missing = [counted(counts.failed, 'failed'), counted(counts.notAttempted, 'not attempted')].flat().join(', ');
  if (missing === '' || reasons.length === 0)
    return [element('p', 'The records of some attempts or shards are missing or damaged.')];
  const lines = reasons.map(({ reason, count }) => [`${formatNumber(count)} × `, element('strong', reason)]);
  if (lines.length === 1)
    return [element('p', `${missing}, one reason: `, element('strong', reasons[0]?.reason ?? ''))];
  const heading = `${missing}, ${lines.length + reasonsLeftOut} reasons:`;
  return [element('p', heading), list(lines, reasonsLeftOut, 'more reason')];
}

/** The clusters that have not been archived for longest, whatever the last run covers. */
function whatIsStale(model: Model): HTMLElement[] {
  const { stale, notCovered } = model.data;
  const lines = stale.slice(0, namedStale).map(({ cluster }) => {
    const row = model.rowOf(cluster);
    return [element('strong', row.cluster.uid), `: ${row.stale?.text}`];
  });
  const uncovered = element('p', `No run here covers ${formatCount(notCovered, 'configured cluster')}.`);
  const named =
    lines.length > 1
      ? [element('p', 'Stalest clusters:'), list(lines, stale.length - lines.length, 'more stale cluster')]
      : lines.map((line) => element('p', 'Stalest cluster: ', ...line));
  return [...named, ...(notCovered === 0 ? [] : [uncovered])];
}

function list(lines: readonly (Node | string)[][], leftOut: number, what: string): HTMLElement {
  const made = element('ul', ...lines.map((line) => element('li', ...line)));
  if (leftOut > 0) made.append(element('li.quiet', `and ${formatCount(leftOut, what)}`));
  return made;
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
