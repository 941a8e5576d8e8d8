import { forEachResource, type Resource, resources } from '../../archive/format/resources';
import { isLate, type Run } from '../../archive/read';
import { groupReasons, type ReasonGroup } from '../../lambda/group-reasons';
import { isAbsent } from '../archive/absent-runs';
import { type ContentHashes, isSameContent } from '../archive/changes';
import { type HeldOutcome, type HeldRun, isStoredOrExpired, wasArchived } from '../archive/held-outcomes';
import type { Remark } from '../archive/recorded-object';
import type { FoundStale, RunRow } from '../archive/run-reader';
import type { ClusterChange } from '../terminal/cluster-change';

export interface ReportRun extends Pick<Run, 'status' | 'attempts' | 'durationMs' | 'counts'> {
  readonly time: Date;
  /** Why something is not archived, the most frequent reason first. */
  readonly reasons: readonly Pick<ReasonGroup, 'reason' | 'count'>[];
}

/** Runs in a row that the schedule was due to start, and that left no record. */
export interface AbsentStretch {
  readonly status: 'absent';
  /** Of the first and of the last of them. */
  readonly time: Date;
  readonly last: Date;
  readonly runs: number;
  /** How many cluster x resource were due in them: as many in each as in the scheduled run before. */
  readonly due: number;
}

export interface ReportCluster {
  readonly uid: string;
  /** By run, at its index in {@link Report.runs}; undefined where the run does not cover it. */
  readonly cells: Readonly<Record<Resource, (Cell | undefined)[]>>;
  readonly newest: Record<Resource, ContentHashes>;
  /** How many cells are not archived, and how many others have anything to say. */
  failures: number;
  marks: number;
}

/** The outcome of one cluster x resource in one run. */
export interface Cell {
  readonly kind: 'archived' | 'changed' | 'late' | 'doubt' | 'missing' | 'failed' | 'not-attempted';
  /** Another manifest, or another text of the log, than the one archived before. */
  readonly isChanged: boolean;
  /** `status.state` of a log record. */
  readonly state: string | undefined;
  /** Why it was not archived or is not there, or its doubt, without what differs from cluster to cluster. */
  readonly reason: string | undefined;
}

/** What the page says that is not in the runs. */
export interface ReportFacts extends FoundStale {
  /** The archive's location, as its user named it. */
  readonly archive: string;
  readonly createdAt: Date;
  /** Whether the last run here is the newest of the archive. */
  readonly isNewest: boolean;
  /** Which runs the schedule was due to start after the last run here, and has not started; undefined: none. */
  readonly overdue?: string | undefined;
  /** What is wrong with run records, and what they name that is not there. */
  readonly problems: readonly Pick<Remark, 'kind' | 'key' | 'problem'>[];
  /** How many cells are as recorded: nobody looked whether their objects are there. */
  readonly notLookedAt: number;
  /** Runs whose list of clusters changed, or was refused. */
  readonly clusterChanges: readonly ClusterChange[];
  /** What time stamps show, a sentence for each authority. */
  readonly stamps: readonly string[];
}

/** What the report shows of an archive: equal cells are one object, so that each takes a few bytes. */
export class Report {
  /** In time order. */
  readonly runs: (ReportRun | AbsentStretch)[] = [];
  readonly clusters = new Map<string, ReportCluster>();
  /** Each distinct cell, by its JSON. */
  readonly #cells = new Map<string, Cell>();
  /** How many cluster x resource the last run had that the schedule started. */
  #scheduled = 0;

  add(row: RunRow): void {
    const { run: time } = row;
    if (isAbsent(row)) {
      const runs = row.times.length;
      this.runs.push({ status: 'absent', time, last: row.times.at(-1) ?? time, runs, due: this.#scheduled * runs });
      return;
    }
    for (const outcome of row.outcomes) this.#addOutcome(row, outcome);
    const { status, attempts, durationMs, counts } = row;
    const missing = groupReasons(row.outcomes.filter((outcome) => !wasArchived(outcome) && !outcome.optional));
    const reasons = missing.map(({ reason, count }) => ({ reason, count }));
    this.runs.push({ time, status, attempts, durationMs, counts, reasons });
    if (row.starts.some(({ trigger }) => trigger === 'schedule'))
      this.#scheduled = counts.archived + counts.failed + counts.notAttempted;
  }

  #addOutcome({ run }: HeldRun, outcome: HeldOutcome): void {
    const { cluster: uid, resource, sha256, logSha256, state } = outcome;
    const cluster = this.clusters.get(uid) ?? {
      uid,
      cells: forEachResource(() => []),
      newest: forEachResource(() => ({})),
      ...{ failures: 0, marks: 0 },
    };
    this.clusters.set(uid, cluster);
    const isChanged = !resources[resource].isAlwaysNew && !isSameContent(cluster.newest[resource], outcome);
    if (sha256 !== undefined) cluster.newest[resource] = { sha256, logSha256 };
    const own = { kind: kindOf(run, outcome, isChanged), isChanged, state, reason: reasonOf(outcome) };
    if (!wasArchived(outcome) || own.kind === 'missing') cluster.failures += 1;
    else if (own.kind !== 'archived') cluster.marks += 1;
    const name = JSON.stringify(own);
    const cell = this.#cells.get(name) ?? own;
    this.#cells.set(name, cell);
    cluster.cells[resource][this.runs.length] = cell;
  }
}

function kindOf(run: Date, outcome: HeldOutcome, isChanged: boolean): Cell['kind'] {
  if (outcome.outcome === 'missing') return outcome.outcome;
  if (!wasArchived(outcome)) return outcome.outcome === 'failed' ? 'failed' : 'not-attempted';
  if (outcome.doubt !== undefined) return 'doubt';
  if (isLate(run, outcome.fetchedAt)) return 'late';
  return isChanged ? 'changed' : 'archived';
}

function reasonOf(outcome: HeldOutcome): string | undefined {
  const { cluster, doubt, error = '', httpStatus } = outcome;
  if (!isStoredOrExpired(outcome)) return groupReasons([{ cluster, error, httpStatus }])[0]?.reason;
  return doubt === undefined ? undefined : groupReasons([{ cluster, error: doubt }])[0]?.reason;
}

export function isPresent(run: ReportRun | AbsentStretch): run is ReportRun {
  return run.status !== 'absent';
}
