import type { Model, Resource, Row } from './model';
import type { ReportFailure } from './report-data';

/** What one cluster has of one reason. */
export interface ClusterFailures {
  readonly row: Row;
  readonly resources: ReadonlySet<Resource>;
  /** Indices, in order, each once. */
  readonly runs: readonly number[];
  /** Of the newest run. */
  readonly newest: ReportFailure;
}

/** Failures, or doubts, with the same reason. */
export interface FailureGroup {
  readonly reason: string;
  /** Outcomes: a cluster that fails with both resources in three runs counts six. */
  readonly count: number;
  readonly firstRun: number;
  readonly lastRun: number;
  /** Those of the newest run first. */
  readonly clusters: readonly ClusterFailures[];
}

/**
 * Groups by reason what matches a text: what the last run has comes first, then what is most frequent.
 * @param hasDoubt whether doubts are wanted instead of failures
 */
export function groupFailures(model: Model, text: string, hasDoubt: boolean): FailureGroup[] {
  const wanted = text.trim().toLowerCase();
  const byReason = new Map<number, Map<number, ReportFailure[]>>();
  for (const failure of model.data.failures) {
    const row = model.rows[failure.cluster];
    if (row === undefined || model.details(row, failure.run, failure.resource).hasDoubt !== hasDoubt) continue;
    const searched = [row.cluster.uid, failure.reason, model.data.reasons[failure.group] ?? ''];
    if (!searched.some((one) => one.toLowerCase().includes(wanted))) continue;
    const clusters = byReason.get(failure.group) ?? new Map<number, ReportFailure[]>();
    byReason.set(failure.group, clusters);
    const known = clusters.get(failure.cluster);
    if (known === undefined) clusters.set(failure.cluster, [failure]);
    else known.push(failure);
  }
  const groups = [...byReason].map(([group, clusters]) =>
    groupOf(
      model.data.reasons[group] ?? '',
      [...clusters.values()].flatMap((failures) => clusterOf(model, failures)),
    ),
  );
  const last = model.data.runs.length - 1;
  const rank = ({ lastRun }: FailureGroup) => (lastRun === last ? 0 : 1);
  return groups.sort((a, b) => rank(a) - rank(b) || b.count - a.count || b.lastRun - a.lastRun);
}

function groupOf(reason: string, clusters: (ClusterFailures & { readonly count: number })[]): FailureGroup {
  return {
    reason,
    count: clusters.reduce((sum, { count }) => sum + count, 0),
    // Not spread into the arguments of one call: there may be more clusters than a call takes.
    firstRun: clusters.reduce((first, { runs }) => Math.min(first, runs[0] ?? 0), Number.POSITIVE_INFINITY),
    lastRun: clusters.reduce((last, { newest }) => Math.max(last, newest.run), 0),
    clusters: clusters.sort((a, b) => b.newest.run - a.newest.run || b.runs.length - a.runs.length),
  };
}

/** @param failures of one cluster, oldest run first */
function clusterOf(model: Model, failures: readonly ReportFailure[]) {
  const newest = failures.at(-1);
  const row = model.rows[newest?.cluster ?? -1];
  if (newest === undefined || row === undefined) return [];
  const resources = new Set(failures.map(({ resource }) => resource));
  return [{ row, resources, runs: [...new Set(failures.map(({ run }) => run))], newest, count: failures.length }];
}
