import { formatBytes } from '../terminal/format';
import { type Html, html } from './html';
import { formatNumber, runTime } from './page-parts';
import { isPresent, type Report, type ReportCluster, type ReportRun } from './report';

/** The figures over all runs on the page. What was due in absent runs was not archived. */
export function totals({ runs: all, clusters }: Report): Html {
  const runs = all.filter(isPresent);
  const sum = (of: (run: ReportRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const count = (name: keyof ReportCluster['counts']) =>
    clusters.reduce((total, { counts }) => total + counts[name], 0);
  const absent = all.flatMap((run) => (isPresent(run) ? [] : run));
  const absentRuns = absent.reduce((total, { leftOut }) => total + 1 + leftOut, 0);
  const absentDue = absent.reduce((total, { due }) => total + due, 0);
  const archived = sum(({ counts }) => counts.archived);
  const failed = sum(({ counts }) => counts.failed);
  const notAttempted = sum(({ counts }) => counts.notAttempted);
  const due = archived + failed + notAttempted + absentDue;
  const complete = runs.filter(({ status }) => status === 'complete').length;
  return html`<section id="totals" class="card"><h2>All runs on this page</h2>
<p class="quiet">${runs[0] && runTime(runs[0].time)} to ${runs.at(-1) && runTime(runs.at(-1)?.time ?? new Date(0))}</p>
<dl>
${tile('Archived', percentage(archived, due), `${formatNumber(archived)} of ${formatNumber(due)} due`)}
${tile('Complete runs', complete, `of ${formatNumber(runs.length + absentRuns)}`, complete < runs.length + absentRuns)}
${absentRuns > 0 && tile('Absent runs', absentRuns, `${formatNumber(absentDue)} due in them`, true)}
${tile('Failed', failed, '', failed > 0)}
${tile('Not attempted', notAttempted, '', notAttempted > 0)}
${tile('With a doubt', count('doubts'))}
${tile('Late', count('late'))}
${tile('Clusters', clusters.length)}
${tile('Manifest changes', count('changes'))}
${tile('Content', formatBytes(sum(({ bytes }) => bytes)), `${formatBytes(sum((run) => run.storedBytes))} stored`)}
</dl></section>`;
}

function tile(name: string, value: number | string, note = '', isAlarming = false): Html {
  const shown = typeof value === 'string' ? value : formatNumber(value);
  return html`<div class="${isAlarming && 'bad'}"><dt>${name}</dt><dd>${shown}</dd><dd class="quiet">${note}</dd></div>`;
}

/** Rounded down: 100 % means that nothing is missing. */
function percentage(part: number, all: number): string {
  return all === 0 ? '-' : `${(Math.floor((part / all) * 1000) / 10).toFixed(part === all ? 0 : 1)} %`;
}
