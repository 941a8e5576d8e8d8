import { type Resource, resourceNames } from '../../lambda/resources';
import { groupReasons } from '../../lambda/run/group-reasons';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import type { AbsentRuns } from '../../lambda/verify/due-runs';
import { isLate, type Run } from '../../lambda/verify/read-run';
import type { FoundStale } from '../archive/stale-clusters';
import { encodeCell, noCell } from './page/cell-code';
import type { ReportData, ReportFailure } from './page/report-data';

/** Most failures that the page lists: more would only make the file large. */
const maxFailures = 5000;

/** Most reasons that the page gives for one run. */
const maxReasons = 5;

/** Most absent runs in a row that have a column each. */
const maxAbsent = 50;

/** What the page says that is not in the runs. */
export type ReportFacts = Pick<ReportData, 'archive' | 'createdAt' | 'isNewest' | 'overdue'> & FoundStale;

/** A failure whose reason has no index yet: most failures are dropped before they need one. */
type FailedOutcome = Omit<ReportFailure, 'group'> & Pick<RunOutcome, 'httpStatus'>;

interface Series {
  cells: string;
  /** By run, with holes. */
  readonly sizes: number[];
  readonly states: number[];
  sha256: string | undefined;
}

/** Builds the report's data from runs in time order. It keeps a few bytes of each cluster and run. */
export class ReportBuilder {
  readonly #runs: ReportData['runs'][number][] = [];
  readonly #clusters = new Map<string, { readonly index: number } & Record<Resource, Series>>();
  readonly #states = new Map<string, number>();
  readonly #badRecords: ReportData['badRecords'][number][] = [];
  #failures: FailedOutcome[] = [];
  #failuresLeftOut = 0;

  add(run: Run): void {
    const bytes = { log: 0, manifest: 0 };
    for (const outcome of run.outcomes) {
      if (isStored(outcome)) bytes[outcome.resource] += outcome.bytes ?? 0;
      this.#addOutcome(run, outcome);
    }
    if (this.#failures.length > 2 * maxFailures) this.#dropOldFailures();
    const { status, attempts, durationMs, counts, storedBytes } = run;
    const missing = groupReasons(run.outcomes.filter((outcome) => !isStored(outcome) && !outcome.optional));
    const reasons = missing.slice(0, maxReasons).map(({ reason, count }) => ({ reason, count }));
    const reasonsLeftOut = missing.length - reasons.length;
    const time = run.run.toISOString();
    this.#runs.push({ time, status, attempts, durationMs, counts, reasons, reasonsLeftOut, bytes, storedBytes });
    for (const bad of run.badRecords) this.#badRecords.push(bad);
  }

  /** Takes note of runs that were due before the next one and are not there. */
  addAbsent({ times }: AbsentRuns): void {
    const shown = times.slice(0, maxAbsent);
    for (const [at, time] of shown.entries()) {
      const leftOut = at === shown.length - 1 ? times.length - shown.length : 0;
      this.#runs.push({ time: time.toISOString(), status: 'absent', leftOut });
    }
  }

  finish({ stale, flapping, notCovered, ...facts }: ReportFacts): ReportData {
    this.#dropOldFailures();
    const series = ({ cells, sizes, states }: Series) => ({
      cells: cells.padEnd(this.#runs.length, noCell),
      sizes,
      states,
    });
    const indexed = <Named extends { readonly cluster: string }>(named: readonly Named[]) =>
      named.map((one) => ({ ...one, cluster: this.#clusterOf(one.cluster).index }));
    const uids = [...this.#clusters.keys()];
    const groups = new Map<string, number>();
    const failures = this.#failures.map(({ httpStatus, ...failure }) => {
      const { cluster, resource, reason: error } = failure;
      const [found] = groupReasons([{ cluster: uids[cluster] ?? '', resource, error, httpStatus }]);
      const reason = found?.reason ?? '';
      const group = groups.get(reason) ?? groups.size;
      groups.set(reason, group);
      return { ...failure, group };
    });
    return {
      ...facts,
      runs: this.#runs,
      clusters: [...this.#clusters].map(([uid, { log, manifest }]) => ({
        uid,
        log: series(log),
        manifest: series(manifest),
      })),
      stale: indexed(stale),
      flapping: indexed(flapping),
      notCovered: notCovered.length,
      states: [...this.#states.keys()],
      reasons: [...groups.keys()],
      failures,
      failuresLeftOut: this.#failuresLeftOut,
      badRecords: this.#badRecords,
    };
  }

  #addOutcome(run: Run, outcome: RunOutcome): void {
    const at = this.#runs.length;
    const cluster = this.#clusterOf(outcome.cluster);
    const { resource, sha256, bytes, state } = outcome;
    const series = cluster[resource];
    const isChanged = sha256 !== undefined && series.sha256 !== undefined && sha256 !== series.sha256;
    series.sha256 = sha256 ?? series.sha256;
    const cell = {
      // A dry run leaves no record.
      outcome: outcome.outcome === 'would-archive' ? 'none' : outcome.outcome,
      isLate: isLate(run.run, outcome.fetchedAt),
      isChanged: isChanged && resource === 'manifest',
      hasDoubt: outcome.doubt !== undefined,
    } as const;
    series.cells = series.cells.padEnd(at, noCell) + encodeCell(cell);
    if (bytes !== undefined) series.sizes[at] = bytes;
    if (state !== undefined) series.states[at] = this.#stateIndex(state);
    const failure = isStored(outcome)
      ? { reason: outcome.doubt }
      : { reason: outcome.error ?? '', httpStatus: outcome.httpStatus };
    const { reason } = failure;
    if (reason !== undefined) this.#failures.push({ cluster: cluster.index, run: at, resource, ...failure, reason });
  }

  #clusterOf(uid: string) {
    const known = this.#clusters.get(uid);
    if (known !== undefined) return known;
    const [log, manifest] = resourceNames.map(
      (): Series => ({ cells: '', sizes: [], states: [], sha256: undefined }),
    ) as [Series, Series];
    const cluster = { index: this.#clusters.size, log, manifest };
    this.#clusters.set(uid, cluster);
    return cluster;
  }

  #stateIndex(state: string): number {
    const index = this.#states.get(state) ?? this.#states.size;
    this.#states.set(state, index);
    return index;
  }

  #dropOldFailures(): void {
    const excess = Math.max(0, this.#failures.length - maxFailures);
    this.#failures = this.#failures.slice(excess);
    this.#failuresLeftOut += excess;
  }
}
