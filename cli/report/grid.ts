import { type Resource, resourceNames } from '../../archive/format/resources';
import { byName, formatCount, formatDuration, formatTime } from '../terminal/format';
import { type Commands, command, type Html, html, runTime } from './html';
import { type AbsentStretch, type Cell, isPresent, type Report, type ReportCluster, type ReportRun } from './report';

/** Most cells that the page has without `--all`: a browser needs seconds for more of them. */
const mostCells = 20_000;

/** Most reasons that are given for one run. */
export const mostReasons = 5;

/** The clusters of the table, by name. Of a large fleet those that have anything to say, the worst first, as far as there is room. */
export function clustersToShow(clusters: Iterable<ReportCluster>, runs: number, isAll: boolean): ReportCluster[] {
  const sorted = [...clusters].sort((a, b) => byName(a.uid, b.uid));
  if (isAll || sorted.length * runs <= mostCells) return sorted;
  return sorted
    .filter(({ failures, marks }) => failures + marks > 0)
    .sort((a, b) => b.failures - a.failures || b.marks - a.marks)
    .slice(0, Math.max(1, Math.floor(mostCells / runs)));
}

/** Clusters down, runs across, in parts: a large fleet's table is many megabytes long. @param about clusters with a remark */
export function* grid(
  report: Report,
  shown: readonly ReportCluster[],
  about: ReadonlyMap<string, string>,
  commands: Commands,
): Generator<Html> {
  const { runs } = report;
  yield html`<div id="grid" tabindex="0"><table>
<thead><tr><th scope="col">Cluster</th>${runs.map((run, at) => runHead(run, runs[at - 1]?.time, commands))}</tr></thead>
<tbody>`;
  for (const cluster of shown) {
    const { failures } = cluster;
    const missing = failures > 0 && html`<b title="not archived: ${failures}">${failures}</b>`;
    yield html`<tr><th scope="row"><span title="${about.get(cluster.uid)}">${cluster.uid}</span>${missing}</th>${runs.map((run, at) => gridCell(cluster, run, at, commands))}</tr>`;
  }
  yield html`</tbody></table></div>`;
}

function runHead(run: ReportRun | AbsentStretch, before: Date | undefined, commands: Commands): Html {
  const [day = '', time = ''] = run.time.toISOString().split('T');
  const isNewDay = before?.toISOString().startsWith(day) !== true;
  const label = html`<span>${time.slice(0, 5)}${isNewDay && html` <b>${day.slice(5)}</b>`}</span>`;
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
    `${status}: ${archived} archived, ${failed} failed, ${notAttempted} not attempted`,
    `${formatCount(attempts, 'attempt')}, ${formatDuration(durationMs)}`,
    ...reasons.slice(0, mostReasons).map(({ reason, count }) => `${count} × ${reason}`),
  ];
}

function absentWords({ runs, last }: AbsentStretch): string {
  if (runs === 1) return 'absent: the run was scheduled, and left no record';
  return `absent: ${runs} runs up to ${formatTime(last)} were scheduled, and left no record`;
}

/** A cell: the log above, the manifest below. One that has anything to say opens to its words and a command. */
function gridCell(
  cluster: ReportCluster,
  { status, time }: ReportRun | AbsentStretch,
  at: number,
  commands: Commands,
): Html {
  if (status === 'absent') return html`<td class="absent"></td>`;
  const found = resourceNames.map((resource) => ({ resource, cell: cluster.cells[resource][at] }));
  if (found.every(({ cell }) => cell?.kind === 'archived')) return html`<td></td>`;
  if (found.every(({ cell }) => cell === undefined)) return html`<td class="none"></td>`;
  const { uid } = cluster;
  const next = found.map(({ resource, cell }) => {
    if (cell === undefined || cell.kind === 'archived' || isMissing(cell)) return false;
    if (cell.kind === 'changed') return command('What changed', commands.change(uid, time));
    return command(`The ${resource}`, commands.content(uid, resource, time));
  });
  const why = found.some(({ cell }) => isMissing(cell)) && command('Since when, and why', commands.cluster(uid));
  const about = html`<p><strong>${uid}</strong>, run ${runTime(time)}</p>
${found.map(({ resource, cell }) => html`<p>${describe(resource, cell)}</p>`)}${why || next}`;
  const title = found.map(({ resource, cell }) => describe(resource, cell)).join('; ');
  return html`<td>${opened(html`${found.map(({ cell }) => sign(cell?.kind ?? 'none'))}`, title, about)}</td>`;
}

function isMissing(cell: Cell | undefined): boolean {
  return cell?.kind === 'missing' || cell?.kind === 'failed' || cell?.kind === 'not-attempted';
}

/** What opens below the window's lower edge; opening another one closes it. */
function opened(label: Html, title: string, about: Html): Html {
  return html`<details name="cell"><summary title="${title}">${label}</summary><div class="card">${about}</div></details>`;
}

/** Letters and shapes beside colours. A cell that was not attempted is hatched. */
const signs = {
  missing: '!',
  failed: '×',
  'not-attempted': '',
  doubt: '?',
  late: 'L',
  changed: '◆',
  archived: '',
  none: '',
};

export function sign(kind: keyof typeof signs): Html {
  return html`<i class="${kind}">${signs[kind]}</i>`;
}

function describe(resource: Resource, cell: Cell | undefined): string {
  if (cell === undefined) return `${resource}: not covered`;
  const { kind, isChanged, state, reason } = cell;
  const what = isMissing(cell) || kind === 'archived' ? kind.replace('-', ' ') : 'archived';
  const parts = [what, isChanged && 'changed', kind === 'late' && kind, state !== undefined && `state ${state}`];
  if (reason !== undefined) parts.push(kind === 'doubt' ? `doubt: ${reason}` : reason);
  return `${resource}: ${parts.filter((part) => typeof part === 'string').join(', ')}`;
}
