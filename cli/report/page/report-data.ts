import type { FlappingCluster, StaleCluster } from '../../../lambda/audit/freshness';
import type { Resource } from '../../../lambda/resources';
import type { BadRecord, Run } from '../../../lambda/verify/read-run';

/** The data behind the report. It is small, because the page is one file even for thousands of clusters. */
export interface ReportData {
  /** Where the archive lies, as its user named it. */
  readonly archive: string;
  /** ISO 8601 in UTC, as all times here. */
  readonly createdAt: string;
  /** Whether the last run here is the newest of the archive. */
  readonly isNewest: boolean;
  /** Which runs the schedule was due to start after the last run here, and has not started; undefined: none. */
  readonly overdue?: string | undefined;
  /** Runs in time order; those that were due and are not there have a place too. */
  readonly runs: readonly (ReportRun | AbsentRun)[];
  readonly clusters: readonly ReportCluster[];
  /** What became of a cluster x resource in a run. What is alike is here once. */
  readonly cells: readonly Cell[];
  /**
   * Clusters that the last run that covers them did not archive whole, the longest first: for so many hours up to `createdAt`
   * where `isNewest`, otherwise up to the last run.
   */
  readonly stale: readonly StaleCluster[];
  /** Clusters that fail now and then, the worst first. */
  readonly flapping: readonly FlappingCluster[];
  /** Configured clusters that none of the runs covers. */
  readonly notCovered: number;
  readonly badRecords: readonly BadRecord[];
}

export interface ReportRun extends Pick<Run, 'status' | 'attempts' | 'durationMs' | 'counts' | 'storedBytes'> {
  readonly time: string;
  /** Why `failed` and `notAttempted` are not archived: the most frequent reasons. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** Reasons that were left out. */
  readonly reasonsLeftOut: number;
  /** Uncompressed content, in bytes. */
  readonly bytes: Readonly<Record<Resource, number>>;
}

/** A time at which the schedule was due, and of which no run has a record. */
export interface AbsentRun {
  readonly time: string;
  readonly status: 'absent';
  /** At least so many runs behind it are absent too, and have no place. */
  readonly leftOut: number;
}

export interface ReportCluster extends Readonly<Record<Resource, ReportSeries>> {
  readonly uid: string;
}

/** What is known by run. A run that does not cover it has null, or no place at the end. */
export interface ReportSeries {
  /** Indices into the cells. */
  readonly cells: readonly (number | null)[];
  /** Uncompressed lengths in bytes. */
  readonly sizes: readonly (number | null)[];
}

export interface Cell {
  /** The page adds `none`, which no run covers, and `absent`, whose run is not there. */
  readonly outcome: 'archived' | 'failed' | 'not-attempted' | 'none' | 'absent';
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
