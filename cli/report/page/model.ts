import { formatStale, formatTime } from '../../terminal/format';
import { type Cell, decodeCell } from './cell-code';
import type { ReportCluster, ReportData, ReportFailure, ReportFlapping, ReportRun, ReportStale } from './report-data';

export type Resource = 'log' | 'manifest';

export const resources: readonly Resource[] = ['log', 'manifest'];

/** One cluster, with the counts that filters and orders use. */
export interface Row {
  readonly cluster: ReportCluster;
  /** Its index in the data. */
  readonly index: number;
  readonly failures: number;
  readonly changes: number;
  readonly late: number;
  readonly doubts: number;
  readonly stale: Stale | undefined;
  readonly flapping: ReportFlapping | undefined;
}

/** For how long a cluster has not been archived. */
export interface Stale {
  readonly hours: number;
  readonly text: string;
}

export interface CellDetails extends Omit<Cell, 'outcome'> {
  /** `absent`: there is no run. */
  readonly outcome: Cell['outcome'] | 'absent';
  readonly size: number | undefined;
  readonly state: string | undefined;
  readonly reason: string | undefined;
}

/** A run that archived another manifest of a cluster than the run before. */
export interface Change {
  readonly row: Row;
  readonly run: number;
}

export type Show = 'all' | 'failures' | 'changes' | 'late' | 'doubts';
export type Order = 'name' | 'failures' | 'changes' | 'stale';

/** The data behind the page, and what filters and cells look up in it. */
export class Model {
  readonly rows: readonly Row[];
  /** The runs that are there. */
  readonly runs: readonly ReportRun[];
  /** The index of the last of them in the data. */
  readonly lastRun: number;
  /** Newest first. */
  readonly changes: readonly Change[];
  readonly #failureByPlace = new Map<string, ReportFailure>();

  /** @param now when the page is read */
  constructor(
    readonly data: ReportData,
    now: Date,
  ) {
    // What was stale when the page was written is so for longer when it is read, unless newer runs are known to be there.
    const sinceMs = data.isNewest ? now.getTime() - Date.parse(data.createdAt) : 0;
    const stale = new Map(data.stale.map((one) => [one.cluster, staleOf(one, sinceMs)]));
    const flapping = new Map(data.flapping.map((one) => [one.cluster, one]));
    this.runs = data.runs.filter((run) => run.status !== 'absent');
    this.lastRun = data.runs.findLastIndex(({ status }) => status !== 'absent');
    this.rows = data.clusters.map((cluster, index) => ({
      cluster,
      index,
      ...countCells(cluster),
      stale: stale.get(index),
      flapping: flapping.get(index),
    }));
    this.changes = data.runs
      .flatMap((_, run) =>
        this.rows
          .filter(({ cluster }) => decodeCell(cluster.manifest.cells[run]).isChanged)
          .map((row) => ({ row, run })),
      )
      .reverse();
    for (const failure of data.failures) this.#failureByPlace.set(placeName(failure), failure);
  }

  /** The rows that match, in the given order. */
  select(text: string, show: Show, order: Order): Row[] {
    const wanted = text.trim().toLowerCase();
    const shown = this.rows.filter(
      (row) => row.cluster.uid.toLowerCase().includes(wanted) && (show === 'all' || row[show] > 0),
    );
    const byName = new Intl.Collator('en', { numeric: true });
    const rank = (row: Row) => (order === 'name' ? 0 : order === 'stale' ? (row.stale?.hours ?? -1) : row[order]);
    return shown.sort((a, b) => rank(b) - rank(a) || byName.compare(a.cluster.uid, b.cluster.uid));
  }

  /** The time of a run, as commands take it. @param run index in the data */
  timeOf(run: number): string {
    const time = this.data.runs[run]?.time;
    if (time === undefined) throw new Error(`The page has no run ${run}`);
    return formatTime(time);
  }

  /** @param cluster index in the data */
  rowOf(cluster: number): Row {
    const row = this.rows[cluster];
    if (row === undefined) throw new Error(`The page has no cluster ${cluster}`);
    return row;
  }

  details(row: Row, run: number, resource: Resource): CellDetails {
    const { cells, sizes, states } = row.cluster[resource];
    const cell = decodeCell(cells[run]);
    return {
      ...cell,
      outcome: this.data.runs[run]?.status === 'absent' ? 'absent' : cell.outcome,
      size: sizes[run] ?? undefined,
      state: this.data.states[states[run] ?? -1],
      reason: this.#failureByPlace.get(placeName({ cluster: row.index, run, resource }))?.reason,
    };
  }
}

function placeName({ cluster, run, resource }: Pick<ReportFailure, 'cluster' | 'run' | 'resource'>): string {
  return `${cluster} ${run} ${resource}`;
}

function staleOf({ runs, hours, lastArchived }: ReportStale, sinceMs: number): Stale {
  const last = lastArchived === null ? '' : `; last archived by the run ${formatTime(lastArchived)}`;
  const now = hours + Math.max(0, sinceMs) / 3_600_000;
  return { hours: now, text: `not archived for ${formatStale(runs, now, lastArchived === null)}${last}` };
}

function countCells({ log, manifest }: ReportCluster): Pick<Row, 'failures' | 'changes' | 'late' | 'doubts'> {
  const counts = { failures: 0, changes: 0, late: 0, doubts: 0 };
  for (const letter of log.cells + manifest.cells) {
    const { outcome, isChanged, isLate, hasDoubt } = decodeCell(letter);
    if (outcome === 'failed' || outcome === 'not-attempted') counts.failures += 1;
    if (isChanged) counts.changes += 1;
    if (isLate) counts.late += 1;
    if (hasDoubt) counts.doubts += 1;
  }
  return counts;
}
