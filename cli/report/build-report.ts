import type { Resource } from '../../lambda/resources';
import { groupReasons } from '../../lambda/run/group-reasons';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import type { AbsentRuns } from '../../lambda/verify/due-runs';
import { isLate, type Run } from '../../lambda/verify/read-run';
import { type ContentHashes, isSameContent } from '../archive/cluster-objects';
import type { FoundStale } from '../archive/run-reader';
import type { Cell, ReportData } from './page/report-data';

/** Most kinds of cells with a reason in the words of the run record. Further ones have only what clusters have in common. */
const maxWordings = 5000;

/** Most reasons that the page gives for one run. */
const maxReasons = 5;

/** Most absent runs in a row that have a column each. */
const maxAbsent = 50;

/** What the page says that is not in the runs. */
export type ReportFacts = Pick<ReportData, 'archive' | 'createdAt' | 'isNewest' | 'overdue'> & FoundStale;

/** By run, with holes. */
type Series = Readonly<Record<'cells' | 'sizes', number[]>>;

/** Builds the report's data from runs in time order. It keeps a few bytes of each cluster and run. */
export class ReportBuilder {
  readonly #runs: ReportData['runs'][number][] = [];
  readonly #clusters = new Map<string, { readonly uid: string } & Record<Resource, Series>>();
  /** The cells, each once, by their JSON. */
  readonly #cells = new Map<string, { readonly index: number; readonly cell: Cell }>();
  /** What was archived last. */
  readonly #newest = new Map<Series, ContentHashes>();
  readonly #badRecords: ReportData['badRecords'][number][] = [];

  add(run: Run): void {
    const bytes = { log: 0, manifest: 0 };
    for (const outcome of run.outcomes) {
      if (isStored(outcome)) bytes[outcome.resource] += outcome.bytes ?? 0;
      this.#addOutcome(run, outcome);
    }
    const { status, attempts, durationMs, counts, storedBytes } = run;
    const missing = groupReasons(run.outcomes.filter((outcome) => !isStored(outcome) && !outcome.optional));
    const reasons = missing.slice(0, maxReasons).map(({ reason, count }) => ({ reason, count }));
    const reasonsLeftOut = missing.length - reasons.length;
    const time = run.run.toISOString();
    this.#runs.push({ time, status, attempts, durationMs, counts, reasons, reasonsLeftOut, bytes, storedBytes });
    this.#badRecords.push(...run.badRecords);
  }

  /** Takes note of runs that were due before the next one and are not there. */
  addAbsent({ times }: AbsentRuns): void {
    const shown = times.slice(0, maxAbsent);
    for (const [at, time] of shown.entries()) {
      const leftOut = at === shown.length - 1 ? times.length - shown.length : 0;
      this.#runs.push({ time: time.toISOString(), status: 'absent', leftOut });
    }
  }

  finish({ notCovered, ...facts }: ReportFacts): ReportData {
    return {
      ...facts,
      runs: this.#runs,
      clusters: [...this.#clusters.values()],
      cells: [...this.#cells.values()].map(({ cell }) => cell),
      notCovered: notCovered.length,
      badRecords: this.#badRecords,
    };
  }

  #addOutcome(run: Run, outcome: RunOutcome): void {
    const at = this.#runs.length;
    const series = this.#seriesOf(outcome);
    const { sha256, logSha256, bytes, state } = outcome;
    const before = this.#newest.get(series) ?? {};
    if (sha256 !== undefined) this.#newest.set(series, { sha256, logSha256 });
    series.cells[at] = this.#indexOf({
      outcome: isStored(outcome) ? 'archived' : outcome.outcome === 'failed' ? 'failed' : 'not-attempted',
      ...(isLate(run.run, outcome.fetchedAt) && { isLate: true }),
      ...(isSameContent(before, outcome) === false && { isChanged: true }),
      state,
      ...this.#reasonOf(outcome),
    });
    if (bytes !== undefined) series.sizes[at] = bytes;
  }

  #reasonOf(outcome: RunOutcome): Pick<Cell, 'reason' | 'group'> {
    const { cluster, doubt, error = '', httpStatus } = outcome;
    const failure = isStored(outcome) ? { error: doubt } : { error, httpStatus };
    if (failure.error === undefined) return {};
    const group = groupReasons([{ cluster, ...failure }])[0]?.reason;
    return { reason: this.#cells.size < maxWordings ? failure.error : group, group };
  }

  #seriesOf({ cluster: uid, resource }: RunOutcome): Series {
    const none = { log: { cells: [], sizes: [] }, manifest: { cells: [], sizes: [] } };
    const cluster = this.#clusters.get(uid) ?? { uid, ...none };
    this.#clusters.set(uid, cluster);
    return cluster[resource];
  }

  #indexOf(cell: Cell): number {
    const name = JSON.stringify(cell);
    const { index } = this.#cells.get(name) ?? { index: this.#cells.size };
    this.#cells.set(name, { index, cell });
    return index;
  }
}
