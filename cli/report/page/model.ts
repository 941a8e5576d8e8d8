import type { FlappingCluster, StaleCluster } from '../../../lambda/audit/freshness';
import { type Resource, resourceNames } from '../../../lambda/resources';
import { formatStale, formatTime } from '../../terminal/format';
import { commandsOf } from './commands';
import type { Cell, ReportCluster, ReportData, ReportRun } from './report-data';

/** Most failures that the page lists: more would only make it slow. */
const mostFailures = 5000;

/** One cluster, with the counts that filters and orders use. */
export interface Row extends ReportCluster {
  readonly stale: StaleCluster | undefined;
  readonly flapping: FlappingCluster | undefined;
  failures: number;
  /** Of its manifest. */
  changes: number;
  late: number;
  doubts: number;
}

/** A run that archived another manifest of a cluster than the run before. */
export interface Change {
  readonly row: Row;
  readonly run: number;
}

/** What was not archived, or archived with a doubt. */
export interface Failure extends Change {
  readonly resource: Resource;
  readonly cell: Cell;
}

export type Show = 'all' | 'failures' | 'changes' | 'late' | 'doubts';
export type Order = 'name' | 'failures' | 'changes' | 'stale';

const none: Cell = { outcome: 'none' };
const absent: Cell = { outcome: 'absent' };

/** The data behind the page, and what filters and cells look up in it. */
export class Model {
  readonly rows: readonly Row[];
  /** The runs that are there. */
  readonly runs: readonly ReportRun[];
  /** The index of the last of them in the data. */
  readonly lastRun: number;
  /** Newest first. */
  readonly changes: Change[] = [];
  /** Newest first. */
  readonly failures: Failure[] = [];
  /** Failures of the oldest runs. */
  failuresLeftOut = 0;
  readonly commands: ReturnType<typeof commandsOf>;
  readonly #sinceMs: number;

  /** @param now when the page is read */
  constructor(
    readonly data: ReportData,
    readonly now: Date,
  ) {
    this.commands = commandsOf(data.archive);
    // What was stale when the page was written is so for longer when it is read, unless newer runs are known to be there.
    this.#sinceMs = data.isNewest ? Math.max(0, now.getTime() - Date.parse(data.createdAt)) : 0;
    const stale = new Map(data.stale.map((one) => [one.cluster, one]));
    const flapping = new Map(data.flapping.map((one) => [one.cluster, one]));
    this.runs = data.runs.filter((run) => run.status !== 'absent');
    this.lastRun = data.runs.findLastIndex(({ status }) => status !== 'absent');
    this.rows = data.clusters.map((cluster) => ({
      ...cluster,
      ...{ stale: stale.get(cluster.uid), flapping: flapping.get(cluster.uid) },
      ...{ failures: 0, changes: 0, late: 0, doubts: 0 },
    }));
    for (let run = this.lastRun; run >= 0; run -= 1)
      for (const row of this.rows) for (const resource of resourceNames) this.#count(row, run, resource);
  }

  #count(row: Row, run: number, resource: Resource): void {
    const cell = this.cellOf(row, run, resource);
    if (cell.outcome === 'failed' || cell.outcome === 'not-attempted') row.failures += 1;
    if (cell.isLate) row.late += 1;
    if (hasDoubt(cell)) row.doubts += 1;
    if (cell.isChanged && resource === 'manifest') {
      row.changes += 1;
      this.changes.push({ row, run });
    }
    if (cell.reason === undefined) return;
    if (this.failures.length < mostFailures) this.failures.push({ row, run, resource, cell });
    else this.failuresLeftOut += 1;
  }

  /** The rows that match, in the given order. @param wanted in lower case */
  select(wanted: string, show: Show, order: Order): Row[] {
    const shown = this.rows.filter(
      (row) => row.uid.toLowerCase().includes(wanted) && (show === 'all' || row[show] > 0),
    );
    const byName = new Intl.Collator('en', { numeric: true });
    const rank = (row: Row) => (order === 'name' ? 0 : order === 'stale' ? (row.stale?.hours ?? -1) : row[order]);
    return shown.sort((a, b) => rank(b) - rank(a) || byName.compare(a.uid, b.uid));
  }

  /** The time of a run, as commands take it. @param run index in the data */
  timeOf(run: number): string {
    return formatTime(this.data.runs[run]?.time ?? '');
  }

  /** @param run index in the data */
  cellOf(row: Row, run: number, resource: Resource): Cell {
    if (this.data.runs[run]?.status === 'absent') return absent;
    return this.data.cells[row[resource].cells[run] ?? -1] ?? none;
  }

  /** For how long a cluster has not been archived. */
  staleText({ runs, hours, lastArchived }: StaleCluster): string {
    const last = lastArchived === null ? '' : `; last archived by the run ${formatTime(lastArchived)}`;
    return `not archived for ${formatStale(runs, hours + this.#sinceMs / 3_600_000, lastArchived === null)}${last}`;
  }
}

/** Whether it was archived, but it is not certain that it is right. */
export function hasDoubt({ outcome, reason }: Cell): boolean {
  return outcome === 'archived' && reason !== undefined;
}
