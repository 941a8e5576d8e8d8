import type { StaleCluster } from '../../lambda/audit/freshness';
import { type Resource, resourceNames } from '../../lambda/resources';
import { groupReasons } from '../../lambda/run/group-reasons';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import { isLate, type Run } from '../../lambda/verify/read-run';
import type { ReportData, ReportFailure, ReportRun } from './page/report-data';
import { encodeCell, NumberSeriesWriter, noCell } from './page/series-code';

/** Most failures that the page lists: more would only make the file large. */
const maxFailures = 5000;

/** Most reasons that the page gives for one run. */
const maxReasons = 5;

/** What the page says that is not in the runs. */
export type ReportFacts = Pick<ReportData, 'archive' | 'createdAt' | 'isNewest' | 'overdue' | 'notCovered'> & {
  readonly stale: readonly StaleCluster[];
};

/** A failure whose reason has no index yet: most failures are dropped before they need one. */
type FailedOutcome = Omit<ReportFailure, 'group'> & Pick<RunOutcome, 'httpStatus'>;

interface Series {
  cells: string;
  readonly sizes: NumberSeriesWriter;
  readonly states: NumberSeriesWriter;
  sha256: string | undefined;
}

/** Builds the report's data from runs in time order. It keeps a few bytes of each cluster and run. */
export class ReportBuilder {
  readonly #runs: ReportRun[] = [];
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

  finish(facts: ReportFacts): ReportData {
    this.#dropOldFailures();
    const length = this.#runs.length;
    const series = ({ cells, sizes, states }: Series, hasStates: boolean) => ({
      cells: cells.padEnd(length, noCell),
      sizes: sizes.finish(length),
      ...(hasStates && { states: states.finish(length) }),
    });
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
        log: series(log, true),
        manifest: series(manifest, false),
      })),
      stale: facts.stale.map((one) => ({ ...one, cluster: this.#clusterOf(one.cluster).index })),
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
    if (bytes !== undefined) series.sizes.set(at, bytes);
    if (state !== undefined) series.states.set(at, this.#stateIndex(state));
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
      (): Series => ({
        cells: '',
        sizes: new NumberSeriesWriter(),
        states: new NumberSeriesWriter(),
        sha256: undefined,
      }),
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
