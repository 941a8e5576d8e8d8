import { forEachResource, type Resource, resources } from '../../lambda/resources';
import { groupReasons } from '../../lambda/run/group-reasons';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import type { AbsentRuns } from '../../lambda/verify/due-runs';
import { isLate, type Run } from '../../lambda/verify/read-run';
import { type ContentHashes, isSameContent } from '../archive/cluster-objects';
import type { Cell, Report } from './report';

/** Most distinct cells with a reason in the words of the run record. Further ones have only what clusters have in common. */
const maxWordings = 5000;

/** Most reasons that the page gives for one run. */
const maxReasons = 5;

/** Most absent runs in a row that have a column each. */
const maxAbsent = 50;

/** What the page says that is not in the runs. */
export type ReportFacts = Omit<Report, 'runs' | 'clusters' | 'cells' | 'badRecords'>;

interface Cluster {
  readonly uid: string;
  /** By run, with holes. */
  readonly cells: Readonly<Record<Resource, number[]>>;
  readonly newest: Record<Resource, ContentHashes>;
  readonly counts: Record<'failures' | 'changes' | 'late' | 'doubts', number>;
}

/** Builds the report from runs in time order. It keeps a few bytes of each cluster and run. */
export class ReportBuilder {
  readonly #runs: Report['runs'][number][] = [];
  readonly #clusters = new Map<string, Cluster>();
  /** The distinct cells, by their JSON. */
  readonly #cells = new Map<string, { readonly index: number; readonly cell: Cell }>();
  readonly #badRecords: Report['badRecords'][number][] = [];
  /** How many cluster x resource the last run had that the schedule started. */
  #scheduled = 0;

  add(run: Run): void {
    for (const outcome of run.outcomes) this.#addOutcome(run, outcome);
    const { run: time, status, attempts, durationMs, counts, bytes, storedBytes } = run;
    const missing = groupReasons(run.outcomes.filter((outcome) => !isStored(outcome) && !outcome.optional));
    const reasons = missing.slice(0, maxReasons).map(({ reason, count }) => ({ reason, count }));
    const reasonsLeftOut = missing.length - reasons.length;
    this.#runs.push({ time, status, attempts, durationMs, counts, reasons, reasonsLeftOut, bytes, storedBytes });
    this.#badRecords.push(...run.badRecords);
    if (run.starts.some(({ trigger }) => trigger === 'schedule'))
      this.#scheduled = counts.archived + counts.failed + counts.notAttempted;
  }

  /** Adds absent runs. As much was due in each as in the scheduled run before. */
  addAbsent({ times }: AbsentRuns): void {
    const shown = times.slice(0, maxAbsent);
    for (const [at, time] of shown.entries()) {
      const leftOut = at === shown.length - 1 ? times.length - shown.length : 0;
      this.#runs.push({ time, status: 'absent', leftOut, due: this.#scheduled * (1 + leftOut) });
    }
  }

  finish(facts: ReportFacts): Report {
    const clusters = [...this.#clusters.values()].map(({ newest, ...cluster }) => cluster);
    const cells = [...this.#cells.values()].map(({ cell }) => cell);
    return { ...facts, runs: this.#runs, clusters, cells, badRecords: this.#badRecords };
  }

  #addOutcome(run: Run, outcome: RunOutcome): void {
    const cluster = this.#clusterOf(outcome);
    const { resource, sha256, logSha256, state } = outcome;
    const isChanged = isSameContent(cluster.newest[resource], outcome) === false;
    if (sha256 !== undefined) cluster.newest[resource] = { sha256, logSha256 };
    const cell: Cell = {
      outcome: isStored(outcome) ? 'archived' : outcome.outcome === 'failed' ? 'failed' : 'not-attempted',
      ...(isLate(run.run, outcome.fetchedAt) && { isLate: true }),
      ...(isChanged && { isChanged }),
      state,
      ...this.#reasonOf(outcome),
    };
    if (cell.outcome !== 'archived') cluster.counts.failures += 1;
    else if (cell.reason !== undefined) cluster.counts.doubts += 1;
    if (cell.isLate) cluster.counts.late += 1;
    if (isChanged && !resources[resource].isAlwaysNew) cluster.counts.changes += 1;
    cluster.cells[resource][this.#runs.length] = this.#indexOf(cell);
  }

  #reasonOf(outcome: RunOutcome): Pick<Cell, 'reason' | 'group'> {
    const { cluster, doubt, error = '', httpStatus } = outcome;
    const failure = isStored(outcome) ? { error: doubt } : { error, httpStatus };
    if (failure.error === undefined) return {};
    const group = groupReasons([{ cluster, ...failure }])[0]?.reason;
    return { reason: this.#cells.size < maxWordings ? failure.error : group, group };
  }

  #clusterOf({ cluster: uid }: RunOutcome): Cluster {
    const known = this.#clusters.get(uid);
    if (known !== undefined) return known;
    const counts = { failures: 0, changes: 0, late: 0, doubts: 0 };
    const made = { uid, cells: forEachResource(() => []), newest: forEachResource(() => ({})), counts };
    this.#clusters.set(uid, made);
    return made;
  }

  #indexOf(cell: Cell): number {
    const name = JSON.stringify(cell);
    const { index } = this.#cells.get(name) ?? { index: this.#cells.size };
    this.#cells.set(name, { index, cell });
    return index;
  }
}
