import type { Resource } from '../../lambda/resources';
import type { BadRecord, Run } from '../../lambda/verify/read-run';
import type { FoundStale } from '../archive/run-reader';

/** What the report shows of an archive. */
export interface Report extends FoundStale {
  /** The archive's location, as its user named it. */
  readonly archive: string;
  readonly createdAt: Date;
  /** Whether the last run here is the newest of the archive. */
  readonly isNewest: boolean;
  /** Which runs the schedule was due to start after the last run here, and has not started; undefined: none. */
  readonly overdue?: string | undefined;
  /** Runs in time order; absent runs have a place too. */
  readonly runs: readonly (ReportRun | AbsentRun)[];
  readonly clusters: readonly ReportCluster[];
  /** Each distinct cell once. */
  readonly cells: readonly Cell[];
  readonly badRecords: readonly BadRecord[];
}

export interface ReportRun
  extends Pick<Run, 'status' | 'attempts' | 'durationMs' | 'counts' | 'bytes' | 'storedBytes'> {
  readonly time: Date;
  /** Why `failed` and `notAttempted` are not archived: the most frequent reasons. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** Reasons that were left out. */
  readonly reasonsLeftOut: number;
}

/** A run that the schedule was due to start, and that left no record. */
export interface AbsentRun {
  readonly time: Date;
  readonly status: 'absent';
  /** How many absent runs after it have no column of their own. */
  readonly leftOut: number;
  /** How many cluster x resource were due in it, and in those that have no column. */
  readonly due: number;
}

export interface ReportCluster {
  readonly uid: string;
  /** Indices into the cells, by run; undefined where the run does not cover it. */
  readonly cells: Readonly<Record<Resource, readonly (number | undefined)[]>>;
  /** How many of its cells have each of these. */
  readonly counts: Record<'failures' | 'changes' | 'late' | 'doubts', number>;
}

/** The outcome of one cluster x resource in one run. */
export interface Cell {
  readonly outcome: 'archived' | 'failed' | 'not-attempted';
  /** Fetched more than an hour after the run's time. */
  readonly isLate?: boolean;
  /** Another manifest, or another text of the log, than the one archived before. */
  readonly isChanged?: boolean;
  /** `status.state` of a log record. */
  readonly state?: string | undefined;
  /** Why it was not archived, as the run record has it; of what was archived, its doubt. */
  readonly reason?: string | undefined;
  /** The reason without what differs from cluster to cluster. */
  readonly group?: string | undefined;
}

/** The cell of one cluster x resource; undefined where the run does not cover it. */
export function cellAt({ cells }: Report, cluster: ReportCluster, resource: Resource, run: number): Cell | undefined {
  return cells[cluster.cells[resource][run] ?? -1];
}

/** Whether it was archived, but it is not certain that it is right. */
export function hasDoubt({ outcome, reason }: Cell): boolean {
  return outcome === 'archived' && reason !== undefined;
}

export function isPresent(run: ReportRun | AbsentRun): run is ReportRun {
  return run.status !== 'absent';
}
