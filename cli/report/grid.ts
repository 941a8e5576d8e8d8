import { type Resource, resourceNames, resources } from '../../lambda/resources';
import { formatCount, formatDuration, formatTime } from '../terminal/format';
import type { Commands } from './commands';
import { type Html, html } from './html';
import { command, formatNumber, runTime } from './page-parts';
import {
  type AbsentRun,
  type Cell,
  cellAt,
  hasDoubt,
  isPresent,
  type Report,
  type ReportCluster,
  type ReportRun,
} from './report';
import { flappingText, staleText } from './verdict';

/** Most cells that the page has without `--all`: a browser needs seconds for more of them. */
const mostCells = 20_000;

/** The clusters of the table, by name. Of a large fleet those that have anything to say, the worst first, as far as there is room. */
export function clustersToShow({ clusters, runs }: Pick<Report, 'clusters' | 'runs'>, isAll: boolean): ReportCluster[] {
  const byName = new Intl.Collator('en', { numeric: true });
  const sorted = clusters.toSorted((a, b) => byName.compare(a.uid, b.uid));
  if (isAll || clusters.length * runs.length <= mostCells) return sorted;
  return sorted
    .filter(({ counts }) => Object.values(counts).some((count) => count > 0))
    .sort(
      ({ counts: a }, { counts: b }) =>
        b.failures - a.failures || b.doubts - a.doubts || b.late - a.late || b.changes - a.changes,
    )
    .slice(0, Math.max(1, Math.floor(mostCells / runs.length)));
}

/** Clusters down, runs across, in parts: a large fleet's table is many megabytes long. */
export function* grid(report: Report, shown: readonly ReportCluster[], commands: Commands): Generator<Html> {
  const stale = new Map(report.stale.map((one) => [one.cluster, staleText(one)]));
  const flapping = new Map(report.flapping.map((one) => [one.cluster, flappingText(one)]));
  yield html`<div id="grid" tabindex="0"><table>
<thead><tr><th scope="col">Cluster</th>${report.runs.map((run, at) => runHead(run, report.runs[at - 1]?.time, commands))}</tr></thead>
<tbody>`;
  for (const cluster of shown) {
    const { uid, counts } = cluster;
    const about = [stale.get(uid), flapping.get(uid)].filter((text) => text !== undefined).join('; ');
    const { failures, changes, late, doubts } = counts;
    const sign = failures > 0 && html`<b title="not archived: ${failures}">${formatNumber(failures)}</b>`;
    yield html`<tr data-failures="${failures}" data-changes="${changes}" data-late="${late}" data-doubts="${doubts}">
<th scope="row"><div><span title="${about}">${uid}</span>${sign}</div></th>${report.runs.map((_, run) => gridCell(report, cluster, run, commands))}</tr>`;
  }
  yield html`</tbody></table></div>`;
}

function runHead(run: ReportRun | AbsentRun, before: Date | undefined, commands: Commands): Html {
  const [day = '', time = ''] = run.time.toISOString().split('T');
  const isNewDay = before?.toISOString().startsWith(day) !== true;
  const label = html`<span class="label">${time.slice(0, 5)}${isNewDay && html` <b>${day.slice(5)}</b>`}</span>`;
  const words = isPresent(run) ? runWords(run) : [absentWords(run)];
  const next = isPresent(run)
    ? command('Every outcome', commands.run(run.time))
    : command('Collect it late', commands.collectLate(run.time));
  const about = html`<p><strong>Run ${runTime(run.time)}</strong></p>${words.map((line) => html`<p>${line}</p>`)}${next}`;
  return html`<th scope="col" class="${run.status}">${opened(label, `Run ${formatTime(run.time)}: ${words[0] ?? ''}`, about)}</th>`;
}

function runWords({ status, attempts, durationMs, counts, reasons }: ReportRun): string[] {
  const { archived, failed, notAttempted } = counts;
  return [
    `${status}: ${formatNumber(archived)} archived, ${formatNumber(failed)} failed, ${formatNumber(notAttempted)} not attempted`,
    `${formatCount(attempts, 'attempt')}, ${formatDuration(durationMs)}`,
    ...reasons.map(({ reason, count }) => `${formatNumber(count)} × ${reason}`),
  ];
}

function absentWords({ leftOut }: AbsentRun): string {
  const more = leftOut === 0 ? '' : `; so are the next ${formatCount(leftOut, 'run')}`;
  return `absent: the run was scheduled, and left no record${more}`;
}

/** A cell: the log above, the manifest below. One that has anything to say opens to its words and a command. */
function gridCell(report: Report, cluster: ReportCluster, at: number, commands: Commands): Html {
  const run = report.runs[at];
  if (run === undefined || !isPresent(run)) return html`<td class="absent"></td>`;
  const found = resourceNames.map((resource) => {
    const cell = cellAt(report, cluster, resource, at);
    return { resource, cell, kind: kindOf(resource, cell) };
  });
  if (found.every(({ kind }) => kind === 'archived')) return html`<td></td>`;
  if (found.every(({ kind }) => kind === 'none')) return html`<td class="none"></td>`;
  const { uid } = cluster;
  const isMissing = found.some(({ kind }) => kind === 'failed' || kind === 'not-attempted');
  const next = isMissing
    ? command('Since when, and why', commands.cluster(uid))
    : found.flatMap(({ resource, kind }) => {
        if (kind === 'changed') return command('What changed', commands.change(uid, run.time));
        if (kind === 'archived' || kind === 'none') return [];
        return command(`The ${resource}`, commands.content(uid, resource, run.time));
      });
  const about = html`<p><strong>${uid}</strong>, run ${runTime(run.time)}</p>
${found.map(({ resource, cell }) => html`<p>${describeCell(resource, cell, cell?.reason)}</p>`)}${next}`;
  const title = found.map(({ resource, cell }) => describeCell(resource, cell, cell?.group)).join('; ');
  return html`<td>${opened(html`${found.map(({ kind }) => sign(kind))}`, title, about)}</td>`;
}

/** What opens below the window's lower edge; opening another one closes it. */
function opened(label: Html, title: string, about: Html): Html {
  return html`<details name="cell"><summary title="${title}">${label}</summary><div class="card">${about}</div></details>`;
}

/** Letters and shapes beside colours. A cell that was not attempted is hatched. */
const signs = { failed: '×', 'not-attempted': '', doubt: '?', late: 'L', changed: '◆', archived: '', none: '' };

type Kind = keyof typeof signs;

export function sign(kind: Kind): Html {
  return html`<i class="${kind}">${signs[kind]}</i>`;
}

function kindOf(resource: Resource, cell: Cell | undefined): Kind {
  if (cell === undefined) return 'none';
  if (cell.outcome !== 'archived') return cell.outcome;
  if (hasDoubt(cell)) return 'doubt';
  if (cell.isLate) return 'late';
  return cell.isChanged && !resources[resource].isAlwaysNew ? 'changed' : 'archived';
}

function describeCell(resource: Resource, cell: Cell | undefined, reason: string | undefined): string {
  if (cell === undefined) return `${resource}: not covered`;
  const { outcome, isLate, isChanged, state } = cell;
  const parts = [
    outcome.replace('-', ' '),
    isChanged && 'changed',
    isLate && 'late',
    state !== undefined && `state ${state}`,
  ];
  if (reason !== undefined) parts.push(hasDoubt(cell) ? `doubt: ${reason}` : reason);
  return `${resource}: ${parts.filter((part) => typeof part === 'string').join(', ')}`;
}
