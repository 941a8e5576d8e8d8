import { resourceNames } from '../../archive/format/resources';
import { changeLines, changeText } from '../terminal/cluster-change';
import { atMost, formatCount, formatTime } from '../terminal/format';
import { type Commands, command, type Html, html, runTime } from './html';
import { isPresent, type Report, type ReportFacts } from './report';

/** Most entries of a list, and most clusters that an entry names. */
const [mostEntries, mostClusters] = [100, 50];

/** What several cells have in common. */
interface Entry {
  /** A reason, or the time of a run. */
  readonly what: string;
  readonly clusters: Set<string>;
  /** The last and the first run with such a cell. */
  readonly last: number;
  first: number;
  cells: number;
}

/** The sections below the table: what was not archived, what has a doubt, what changed. */
export function* lists(report: Report, { clusterChanges }: ReportFacts, commands: Commands): Generator<Html> {
  const [failures, doubts, changes] = [new Map(), new Map(), new Map()] as const;
  const timeOf = (run: number) => report.runs[run]?.time ?? new Date(0);
  for (let run = report.runs.length - 1; run >= 0; run -= 1)
    for (const cluster of report.clusters.values())
      for (const resource of resourceNames) {
        const cell = cluster.cells[resource][run];
        if (cell?.reason !== undefined) count(cell.kind === 'doubt' ? doubts : failures, cell.reason, cluster.uid, run);
        if (cell?.isChanged === true) count(changes, formatTime(timeOf(run)), cluster.uid, run);
      }
  const newest = report.runs.findLastIndex(isPresent);
  const withReason = ({ what, cells, first, last, clusters }: Entry) => {
    const [uid = ''] = clusters;
    const end = last === newest ? 'the last run' : html`run ${runTime(timeOf(last))}`;
    const when = first === last ? html`only in ${end}` : html`from ${runTime(timeOf(first))} to ${end}`;
    const summary = html`${cells} × <strong>${what}</strong> <span class="quiet">${whose(clusters)} · ${when}</span>`;
    return entry(summary, [...clusters], [command(`Since when, and why, of ${uid}`, commands.cluster(uid))]);
  };
  const withRun = ({ what, last, clusters }: Entry) => {
    const [uid = ''] = clusters;
    return entry(
      html`<time>${what}</time> <strong>${whose(clusters)}</strong>`,
      [...clusters],
      [
        command(`What changed in ${uid}`, commands.change(uid, timeOf(last))),
        command('All manifests that changed in this run', commands.changes(timeOf(last))),
      ],
    );
  };
  // What the last run has comes first, then what is most frequent.
  const byRank = (entries: ReadonlyMap<string, Entry>) =>
    [...entries.values()].sort((a, b) => Number(b.last === newest) - Number(a.last === newest) || b.cells - a.cells);
  yield section('failures', 'Not archived', byRank(failures).map(withReason));
  yield section('doubts', 'Archived with a doubt', byRank(doubts).map(withReason));
  yield section('changes', 'Manifest changes', [...changes.values()].map(withRun));
  const ofList = [...clusterChanges].reverse().slice(0, mostEntries);
  yield section(
    'clusters',
    'Clusters that joined or left',
    ofList.map((change) => {
      const summary = html`<time>${formatTime(change.run)}</time> <strong>${changeText(change)}</strong>`;
      return entry(summary, changeLines(change), []);
    }),
  );
}

/** Counts a cell. Cells come newest first. */
function count(entries: Map<string, Entry>, own: string, uid: string, run: number): void {
  const what = entries.has(own) || entries.size < mostEntries ? own : 'all others';
  const entry = entries.get(what) ?? { what, clusters: new Set(), last: run, first: run, cells: 0 };
  entries.set(what, entry);
  entry.clusters.add(uid);
  entry.first = run;
  entry.cells += 1;
}

/** A cluster by its name, several by how many they are. */
function whose(clusters: ReadonlySet<string>): string {
  const [uid = ''] = clusters;
  return clusters.size === 1 ? uid : formatCount(clusters.size, 'cluster');
}

function entry(summary: Html, clusters: readonly string[], commands: readonly Html[]): Html {
  const named = atMost(mostClusters, clusters, (more) => `and ${formatCount(more, 'more cluster')}`).join(', ');
  return html`<details class="entry"><summary>${summary}</summary><p>${named}</p>${commands}</details>`;
}

/** One without entries is left out. */
function section(id: string, heading: string, entries: readonly Html[]): Html {
  if (entries.length === 0) return html``;
  return html`<section id="${id}" class="card"><h2>${heading}</h2>${entries}</section>`;
}
