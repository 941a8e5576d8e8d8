import { formatAge, formatCount, formatDuration, formatSecond, formatTime } from '../../terminal/format';
import { flappingText } from './cell-details';
import { byId, commandElement, element, formatNumber, timeElement } from './dom';
import type { Model } from './model';
import type { ReportRun } from './report-data';

/** Most clusters of a kind that the verdict names. */
const mostNamed = 3;

/** Says first whether it is well now: the last run, how long ago it was, why it is not complete, and what is stale. */
export function showVerdict(model: Model): void {
  const { commands, now } = model;
  const { archive, createdAt, isNewest, overdue, badRecords } = model.data;
  const run = model.runs.at(-1);
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
    ...whatIsAbsent(model),
    ...whatIsStale(model),
    ...whatFlaps(model),
    element('p.quiet', 'Run ', timeElement(formatTime(run.time)), about, ...streakOf(model)),
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
  const times = (count: number) => (reasons.length === 1 ? '' : `${formatNumber(count)} × `);
  const lines = reasons.map(({ reason, count }) => [times(count), element('strong', reason)]);
  const headings = [`${missing}, one reason`, `${missing}, ${lines.length + reasonsLeftOut} reasons`] as const;
  return listed(headings, lines, reasonsLeftOut, 'more reason');
}

/** Runs that were due before the last run. */
function whatIsAbsent({ data, lastRun }: Model): HTMLElement[] {
  const absent = data.runs.slice(0, lastRun).filter((run) => run.status === 'absent');
  const count = absent.reduce((total, { leftOut }) => total + 1 + leftOut, 0);
  const last = absent.at(-1);
  if (last === undefined) return [];
  const text = `${formatCount(count, 'run')} before it ${count === 1 ? 'was' : 'were'} due and left no record, the last `;
  return [element('p', text, timeElement(formatTime(last.time)))];
}

/** The clusters that have not been archived for longest, whatever the last run covers. */
function whatIsStale(model: Model): HTMLElement[] {
  const { stale, notCovered } = model.data;
  const lines = stale.map((one) => [element('strong', one.cluster), `: ${model.staleText(one)}`]);
  const uncovered = element('p', `No run here covers ${formatCount(notCovered, 'configured cluster')}.`);
  return [...named(['Stalest cluster', 'Stalest clusters'], lines), ...(notCovered === 0 ? [] : [uncovered])];
}

function whatFlaps({ data }: Model): HTMLElement[] {
  const lines = data.flapping.map((one) => [element('strong', one.cluster), `: ${flappingText(one)}`]);
  return named(['Fails now and then', 'Fail now and then'], lines);
}

type Lines = readonly (Node | string)[][];
type Headings = readonly [ofOne: string, ofMany: string];

/** The first clusters of several, or the only one. */
function named(headings: Headings, all: Lines): HTMLElement[] {
  return listed(headings, all.slice(0, mostNamed), all.length - mostNamed, 'more cluster');
}

/** Lines below their heading, or the only one beside it. */
function listed([ofOne, ofMany]: Headings, lines: Lines, leftOut: number, what: string): HTMLElement[] {
  if (lines.length < 2) return lines.map((line) => element('p', `${ofOne}: `, ...line));
  const list = element('ul', ...lines.map((line) => element('li', ...line)));
  if (leftOut > 0) list.append(element('li.quiet', `and ${formatCount(leftOut, what)}`));
  return [element('p', `${ofMany}:`), list];
}

/** For how many runs it has been as it is. */
function streakOf(model: Model): (Node | string)[] {
  const { data, lastRun } = model;
  const runs = data.runs.slice(0, lastRun + 1);
  const { status } = runs[lastRun] ?? { status: 'complete' };
  const turned = runs.findLastIndex((run) => run.status !== status);
  const length = lastRun - turned;
  if (turned < 0) return [length === 1 ? 'the only run on this page' : `all ${length} runs on this page are ${status}`];
  if (length > 1) return [`${status} for ${length} runs, since `, timeElement(model.timeOf(turned + 1))];
  return [`the run before it was ${runs[turned]?.status}`];
}
