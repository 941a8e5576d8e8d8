import { type Cell, decodeCell } from './cell-code';
import { readNumberSeries } from './number-series';
import type { ReportCluster, ReportData, ReportFailure } from './report-data';

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
}

export interface CellDetails extends Cell {
  readonly size: number | undefined;
  readonly state: string | undefined;
  readonly reason: string | undefined;
}

/** A run that archived another manifest of a cluster than the run before. */
export interface Change {
  readonly row: Row;
  readonly run: number;
}

export type Show = 'all' | 'failed' | 'changed' | 'late' | 'doubt';
export type Order = 'name' | 'failures' | 'changes';

/** The data behind the page, and what filters and cells look up in it. */
export class Model {
  readonly rows: readonly Row[];
  /** Newest first. */
  readonly changes: readonly Change[];
  readonly #failureByPlace = new Map<string, ReportFailure>();
  readonly #numbers = new Map<string, (number | undefined)[]>();

  constructor(readonly data: ReportData) {
    this.rows = data.clusters.map((cluster, index) => ({ cluster, index, ...countCells(cluster) }));
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
      (row) =>
        row.cluster.uid.toLowerCase().includes(wanted) &&
        (show === 'all' ||
          (show === 'failed' && row.failures > 0) ||
          (show === 'changed' && row.changes > 0) ||
          (show === 'late' && row.late > 0) ||
          (show === 'doubt' && row.doubts > 0)),
    );
    const byName = new Intl.Collator('en', { numeric: true });
    const rank = (row: Row) => (order === 'failures' ? row.failures : order === 'changes' ? row.changes : 0);
    return shown.sort((a, b) => rank(b) - rank(a) || byName.compare(a.cluster.uid, b.cluster.uid));
  }

  details(row: Row, run: number, resource: Resource): CellDetails {
    const series = row.cluster[resource];
    const cell = decodeCell(series.cells[run]);
    const isStored = cell.outcome === 'archived' || cell.outcome === 'already-archived';
    const state = isStored && series.states !== undefined ? this.#numberAt(row, resource, 'states', run) : undefined;
    return {
      ...cell,
      size: isStored ? this.#numberAt(row, resource, 'sizes', run) : undefined,
      state: state === undefined ? undefined : this.data.states[state],
      reason: this.#failureByPlace.get(placeName({ cluster: row.index, run, resource }))?.reason,
    };
  }

  /** A series is decoded when it is first needed: most never are. */
  #numberAt(row: Row, resource: Resource, member: 'sizes' | 'states', run: number): number | undefined {
    const name = `${row.index} ${resource} ${member}`;
    const known = this.#numbers.get(name) ?? readNumberSeries(row.cluster[resource][member] ?? '');
    this.#numbers.set(name, known);
    return known[run];
  }
}

function placeName({ cluster, run, resource }: Pick<ReportFailure, 'cluster' | 'run' | 'resource'>): string {
  return `${cluster} ${run} ${resource}`;
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
