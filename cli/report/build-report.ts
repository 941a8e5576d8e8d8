import { type Resource, resourceNames } from '../../lambda/resources';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import { isLate, type Run } from '../../lambda/verify/read-run';
import { doubtOf } from '../terminal/print-run';
import { encodeCell, noCell } from './page/cell-code';
import { NumberSeriesWriter } from './page/number-series';
import type { ReportData, ReportFailure, ReportRun } from './page/report-data';

/** Most failures that the page lists: more would only make the file large. */
const maxFailures = 5000;

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
  #failures: ReportFailure[] = [];
  #failuresLeftOut = 0;

  add(run: Run): void {
    const bytes = { log: 0, manifest: 0 };
    for (const outcome of run.outcomes) {
      if (isStored(outcome)) bytes[outcome.resource] += outcome.bytes ?? 0;
      this.#addOutcome(run, outcome);
    }
    if (this.#failures.length > 2 * maxFailures) this.#dropOldFailures();
    const { status, attempts, durationMs, counts, storedBytes } = run;
    this.#runs.push({ time: run.run.toISOString(), status, attempts, durationMs, counts, bytes, storedBytes });
    this.#badRecords.push(...run.badRecords);
  }

  finish(archive: string, createdAt: Date): ReportData {
    this.#dropOldFailures();
    const length = this.#runs.length;
    const series = ({ cells, sizes, states }: Series, hasStates: boolean) => ({
      cells: cells.padEnd(length, noCell),
      sizes: sizes.finish(length),
      ...(hasStates && { states: states.finish(length) }),
    });
    return {
      archive,
      createdAt: createdAt.toISOString(),
      runs: this.#runs,
      clusters: [...this.#clusters].map(([uid, { log, manifest }]) => ({
        uid,
        log: series(log, true),
        manifest: series(manifest, false),
      })),
      states: [...this.#states.keys()],
      failures: this.#failures,
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
    } as const;
    series.cells = series.cells.padEnd(at, noCell) + encodeCell(cell);
    if (bytes !== undefined) series.sizes.set(at, bytes);
    if (state !== undefined) series.states.set(at, this.#stateIndex(state));
    const reason = isStored(outcome) ? doubtOf(outcome) : (outcome.error ?? '');
    if (reason !== undefined) this.#failures.push({ cluster: cluster.index, run: at, resource, reason });
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
