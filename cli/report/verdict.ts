import type { FlappingCluster, StaleCluster } from '../../lambda/audit/freshness';
import { formatAge, formatCount, formatDuration, formatStale } from '../terminal/format';
import type { Commands } from './commands';
import { type Html, html } from './html';
import { command, formatNumber, runTime } from './page-parts';
import { isPresent, type Report, type ReportRun } from './report';

/** Most clusters of a kind that the verdict names. */
const mostNamed = 3;

/** Says first how the last run ended, then why it is not complete, which clusters are stale, and what to do. */
export function verdict(report: Report, commands: Commands): Html {
  const { runs, createdAt, isNewest, overdue, badRecords } = report;
  const run = runs.findLast(isPresent);
  if (run === undefined) return html``;
  const { archived, failed, notAttempted, optionalMissing, doubts } = run.counts;
  const isComplete = run.status === 'complete';
  const isCertain = overdue === undefined && badRecords.length === 0;
  const all = archived + failed + notAttempted + optionalMissing;
  const additions = [...counted(optionalMissing, 'optional missing'), ...counted(doubts, 'with a doubt')];
  const age = formatAge(createdAt.getTime() - run.time.getTime()).replace(/ago$/, 'before this page was written');
  const what = `${isNewest ? 'the last run' : 'the last run on this page'}${additions.map((one) => `, ${one}`).join('')}`;
  return html`<section id="verdict" class="card ${isComplete ? (isCertain ? 'well' : 'unclear') : 'ill'}">
<h2><strong>${formatNumber(archived)} of ${formatNumber(all)}</strong> archived by ${what}</h2>
<p class="quiet">Run ${runTime(run.time)}, ${age} · ${formatCount(run.attempts, 'attempt')}, ${formatDuration(run.durationMs)} · ${streakOf(report)}</p>
${overdue !== undefined && html`<p class="bad">Overdue: ${overdue}.</p>`}
${!isComplete && whyIncomplete(run)}
${absentBefore(report)}
${staleClusters(report)}
${
  badRecords.length > 0 &&
  listed(
    'Damaged run records',
    badRecords.map(({ key, problem }) => html`<code>${key}</code> ${problem}`),
  )
}
${whatToDo(report, run, commands)}
</section>`;
}

/** `3 failed`; nothing if there are none. */
function counted(count: number, what: string): string[] {
  return count > 0 ? [`${formatNumber(count)} ${what}`] : [];
}

function whyIncomplete({ counts, reasons, reasonsLeftOut }: ReportRun): Html {
  const missing = [...counted(counts.failed, 'failed'), ...counted(counts.notAttempted, 'not attempted')].join(', ');
  if (missing === '' || reasons.length === 0)
    return html`<p>The records of some attempts or shards are missing or damaged.</p>`;
  const lines = reasons.map(({ reason, count }) =>
    reasons.length === 1 ? html`<strong>${reason}</strong>` : html`${formatNumber(count)} × <strong>${reason}</strong>`,
  );
  return listed(missing, lines, reasonsLeftOut, 'more reason');
}

/** Absent runs before the last run. */
function absentBefore({ runs }: Report): Html | undefined {
  const absent = runs.slice(0, runs.findLastIndex(isPresent)).filter((run) => !isPresent(run));
  const count = absent.reduce((total, run) => total + (isPresent(run) ? 0 : 1 + run.leftOut), 0);
  const last = absent.at(-1);
  if (last === undefined) return undefined;
  return html`<p>${formatCount(count, 'scheduled run')} before it left no record, the last ${runTime(last.time)}.</p>`;
}

/** The clusters that have not been archived for longest, whatever the last run covers, and those that fail often. */
function staleClusters({ stale, flapping, notCovered }: Report): Html {
  const staleLines = stale.map((one) => {
    const last = one.lastArchived !== null && html`; last archived by the run ${runTime(new Date(one.lastArchived))}`;
    return html`<strong>${one.cluster}</strong>: ${staleText(one)}${last}`;
  });
  const flappingLines = flapping.map((one) => html`<strong>${one.cluster}</strong>: ${flappingText(one)}`);
  return html`${named(stale.length === 1 ? 'Stalest cluster' : 'Stalest clusters', staleLines)}
${named(flapping.length === 1 ? 'Fails now and then' : 'Fail now and then', flappingLines)}
${notCovered.length > 0 && html`<p>No run on this page covers ${formatCount(notCovered.length, 'configured cluster')}.</p>`}`;
}

export function staleText({ runs, hours, lastArchived }: StaleCluster): string {
  return `not archived for ${formatStale(runs, hours, lastArchived === null)}`;
}

/** `30 of 60 runs did not archive all of it`. */
export function flappingText({ failed, runs }: FlappingCluster): string {
  return `${failed} of ${formatCount(runs, 'run')} did not archive all of it`;
}

/** The first clusters of several. */
function named(heading: string, all: readonly Html[]): Html {
  return listed(heading, all.slice(0, mostNamed), all.length - mostNamed, 'more cluster');
}

/** Lines below their heading, or the only one beside it. */
function listed(heading: string, lines: readonly Html[], leftOut = 0, what = ''): Html {
  if (lines.length < 2) return html`${lines.map((line) => html`<p>${heading}: ${line}</p>`)}`;
  const more = leftOut > 0 && html`<li class="quiet">and ${formatCount(leftOut, what)}</li>`;
  return html`<p>${heading}:</p><ul>${lines.map((line) => html`<li>${line}</li>`)}${more}</ul>`;
}

function whatToDo({ runs, overdue, badRecords }: Report, run: ReportRun, commands: Commands): Html | undefined {
  const absent = runs.findLast((one) => !isPresent(one));
  const steps = [
    ...(overdue === undefined ? [] : [command('Find out why', 'npm run collector -- doctor --stack NAME')]),
    ...(run.status === 'complete' ? [] : [command('Complete the run', commands.complete(run.time))]),
    ...(run.status === 'complete' ? [] : [command('See every outcome', commands.run(run.time))]),
    ...(absent === undefined ? [] : [command('Collect the last absent run late', commands.collectLate(absent.time))]),
    ...(badRecords.length === 0 ? [] : [command('Find all damage', commands.verify)]),
  ];
  return steps.length === 0 ? undefined : html`<h3>What to do</h3>${steps}`;
}

/** For how many runs it has been as it is. An absent run is not a complete one. */
function streakOf({ runs }: Report): Html {
  const last = runs.findLastIndex(isPresent);
  const isComplete = runs[last]?.status === 'complete';
  const turned = runs.slice(0, last).findLastIndex(({ status }) => (status === 'complete') !== isComplete);
  const begin = runs[turned + 1];
  const streak = runs.slice(turned + 1, last + 1);
  const count = streak.reduce((total, run) => total + (isPresent(run) ? 1 : 1 + run.leftOut), 0);
  const what = isComplete ? 'complete' : 'incomplete or absent';
  if (runs.length === 1 || begin === undefined) return html`the only run on this page`;
  if (turned < 0) return html`all ${count} runs on this page are ${what}`;
  if (count > 1) return html`${what} for ${count} runs, since ${runTime(begin.time)}`;
  return html`the run before it was ${runs[turned]?.status}`;
}
