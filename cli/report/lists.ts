import { type Resource, resourceNames, resources } from '../../lambda/resources';
import { formatCount } from '../terminal/format';
import type { Commands } from './commands';
import { type Html, html } from './html';
import { command, formatNumber, runTime } from './page-parts';
import { type Cell, cellAt, hasDoubt, isPresent, type Report, type ReportCluster } from './report';

/** Most entries of a list, and most clusters of an entry. */
const [mostEntries, mostClusters] = [100, 50];

/** What one cluster has of one reason. */
interface Affected {
  readonly uid: string;
  readonly resources: Set<Resource>;
  /** The newest run that has it, and its reason in that run's words. */
  readonly newest: number;
  readonly reason: string;
  /** The oldest run that was counted. */
  oldest: number;
  runs: number;
}

interface Group {
  readonly reason: string;
  /** Those with the newest runs first. */
  readonly clusters: Map<string, Affected>;
  count: number;
}

/** The sections below the table: what was not archived, what has a doubt, what changed. */
export function lists(report: Report, commands: Commands): Html {
  const [failures, doubts, changes] = [new Map<string, Group>(), new Map<string, Group>(), new Map<number, string[]>()];
  for (const { cluster, run, resource, cell } of newestFirst(report)) {
    if (cell.reason !== undefined) countReason(hasDoubt(cell) ? doubts : failures, cluster, run, resource, cell);
    if (cell.isChanged && !resources[resource].isAlwaysNew) {
      if (!changes.has(run)) changes.set(run, []);
      changes.get(run)?.push(cluster.uid);
    }
  }
  const changed = [...changes].map(([run, uids]) => changeEntry(report.runs[run]?.time ?? new Date(0), uids, commands));
  return html`${section('failures', 'Not archived', groupEntries(report, failures, commands))}
${section('doubts', 'Archived with a doubt', groupEntries(report, doubts, commands))}
${section('changes', 'Manifest changes', changed)}`;
}

/** Every cell that a run covers, the newest run first. */
function* newestFirst(
  report: Report,
): Generator<{ cluster: ReportCluster; run: number; resource: Resource; cell: Cell }> {
  for (let run = report.runs.length - 1; run >= 0; run -= 1)
    for (const cluster of report.clusters)
      for (const resource of resourceNames) {
        const cell = cellAt(report, cluster, resource, run);
        if (cell !== undefined) yield { cluster, run, resource, cell };
      }
}

function countReason(groups: Map<string, Group>, { uid }: ReportCluster, run: number, resource: Resource, cell: Cell) {
  const { reason = '', group: own = reason } = cell;
  const name = groups.has(own) || groups.size < mostEntries ? own : 'other reasons';
  const group = groups.get(name) ?? { reason: name, clusters: new Map<string, Affected>(), count: 0 };
  const affected = group.clusters.get(uid) ?? { uid, resources: new Set(), newest: run, reason, oldest: -1, runs: 0 };
  groups.set(name, group);
  group.clusters.set(uid, affected);
  group.count += 1;
  affected.resources.add(resource);
  if (affected.oldest !== run) affected.runs += 1;
  affected.oldest = run;
}

/** A section whose entries open. One without entries is left out. */
function section(id: string, heading: string, entries: readonly Html[]): Html | undefined {
  if (entries.length === 0) return undefined;
  const more =
    entries.length > mostEntries &&
    html`<p class="quiet">and ${formatCount(entries.length - mostEntries, 'older entry', 'older entries')}</p>`;
  return html`<section id="${id}" class="card"><h2>${heading}</h2>${entries.slice(0, mostEntries)}${more}</section>`;
}

/** An entry for each reason. What the last run has comes first, then what is most frequent. */
function groupEntries(report: Report, groups: ReadonlyMap<string, Group>, commands: Commands): Html[] {
  const last = report.runs.findLastIndex(isPresent);
  const rank = (group: Group) => (newestOf(group) === last ? 0 : 1);
  const sorted = [...groups.values()].sort((a, b) => rank(a) - rank(b) || b.count - a.count);
  const timeOf = (run: number) => runTime(report.runs[run]?.time ?? new Date(0));
  return sorted.map((group) => {
    const { reason, count } = group;
    const clusters = [...group.clusters.values()];
    const oldest = Math.min(...clusters.slice(0, 1000).map((one) => one.oldest));
    const newest = newestOf(group);
    const end = newest === last ? 'the last run' : html`run ${timeOf(newest)}`;
    const when = newest === oldest ? html`only in ${end}` : html`from ${timeOf(oldest)} to ${end}`;
    const whose = clusters.length === 1 ? clusters[0]?.uid : formatCount(clusters.length, 'cluster');
    const left = clusters.length - mostClusters;
    return html`<details class="entry"><summary>${formatNumber(count)} × <strong>${reason}</strong> <span class="quiet">${whose} · ${when}</span></summary>
${clusters.slice(0, mostClusters).map((one) => affectedCluster(one, timeOf(one.newest), commands))}
${left > 0 && html`<p class="quiet">and ${formatCount(left, 'more cluster')}</p>`}</details>`;
  });
}

function newestOf({ clusters }: Group): number {
  const [first] = clusters.values();
  return first?.newest ?? -1;
}

function affectedCluster({ uid, resources, runs, reason }: Affected, last: Html, commands: Commands): Html {
  const what = [...resources].sort().join(' and ');
  return html`<div class="affected"><p><strong>${uid}</strong> ${what}, ${formatCount(runs, 'run')}, the last ${last}</p>
<p class="quiet">${reason}</p>${command('Since when, and why', commands.cluster(uid))}</div>`;
}

/** The clusters whose manifests changed in one run. */
function changeEntry(run: Date, uids: readonly string[], commands: Commands): Html {
  const [first = ''] = uids;
  const whose = uids.length === 1 ? first : formatCount(uids.length, 'cluster');
  const left = uids.length - mostClusters;
  const more = left > 0 ? ` and ${formatNumber(left)} more` : '';
  return html`<details class="entry"><summary>${runTime(run)} <strong>${whose}</strong></summary>
<p>${uids.slice(0, mostClusters).join(', ')}${more}</p>
${command(uids.length === 1 ? 'What changed' : `What changed, such as in ${first}`, commands.change(first, run))}
${command('All manifests that changed in this run', commands.changes(run))}</details>`;
}
