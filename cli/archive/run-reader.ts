import assert from 'node:assert/strict';
import { isOptional } from '../../archive/format/configuration';
import { nameOf } from '../../archive/format/finding';
import { type AbsentRuns, DueRuns, type Span, seenRun } from '../../archive/prove';
import {
  type ArchiveReader,
  type ClusterRecord,
  configuredClusters,
  firstOf,
  type ListedRun,
  mapConcurrently,
  type Period,
  type Run,
  type RunConfiguration,
  readClusterRecord,
  readRun,
  StoredConfigurations,
} from '../../archive/read';
import {
  ClusterOutcomes,
  type FlappingCluster,
  type StaleCluster,
  staleness,
} from '../../lambda/audit/cluster-outcomes';
import { formatCount, formatPeriod, formatTime } from '../terminal/format';
import { type AbsentRow, describeTimes, findAbsent, findOverdue, type OverdueNow, rowOf } from './absent-runs';
import { HeldOutcomes, type HeldRun, type SelectedRun } from './held-outcomes';
import { ListChanges } from './list-changes';
import type { OpenedArchive } from './open-archive';
import type { HeldPlace, Remark } from './recorded-object';
import { type RunSelection, runsNewestFirst, selectRuns } from './select-runs';

/** A run, or those that were due behind the row before and are not there. */
export type RunRow = HeldRun | AbsentRow;

/** Runs of which the records of one cluster are read at once. */
const recordsAtOnce = 8;

export interface FoundStale {
  /** Clusters that the last run that covers them did not archive whole, the longest first. */
  readonly stale: readonly StaleCluster[];
  /** Configured clusters that none of the runs covers. */
  readonly notCovered: readonly string[];
  /** Clusters that are archived in some of these runs, and not in a fifth of them or more; the worst first. */
  readonly flapping: readonly FlappingCluster[];
}

/**
 * Reads runs, and keeps what a command says behind them. A record or a configuration that cannot be read is passed over.
 * Every method @throws ArchiveReadError if the archive cannot be read
 */
export class RunReader implements OpenedArchive {
  readonly archive: ArchiveReader;
  readonly now: Date;
  readonly isLive: boolean;
  /** Run records that cannot be used, and what commands add. */
  readonly problems: Remark[] = [];
  /** How lists of clusters changed over the runs of `select`. */
  readonly lists: ListChanges;
  /** What records say, and what lies there, of the runs that were selected last. */
  readonly held: HeldOutcomes;
  /** What was due between the runs that were read so far, and up to now if `overdue` was asked, and is not there. */
  readonly due: AbsentRuns[] = [];
  /** How many runs were read so far, and the first and the last of them. */
  runs = 0;
  oldest: Date | undefined;
  newest: Date | undefined;
  readonly #configurations: StoredConfigurations;
  readonly #outcomes = new ClusterOutcomes();
  /** The run that was selected last, without its outcomes. */
  #last: Run | undefined;
  /** Whether runs of `select` are still to come. */
  #isSelecting = false;

  constructor({ archive, now, isLive }: OpenedArchive) {
    this.archive = archive;
    this.now = now;
    this.isLive = isLive;
    this.lists = new ListChanges(async (run) => {
      const configuration = await this.configurationOf(run);
      return configuration && configuredClusters(configuration);
    });
    this.held = new HeldOutcomes({ archive, now });
    this.#configurations = new StoredConfigurations(archive);
  }

  /** What is wrong with what was read. What else is wrong with configurations is found by `verify`. */
  get remarks(): readonly Remark[] {
    const unread = this.#configurations.findings.filter(({ kind }) => kind === 'unreadable');
    // What was read for two reasons is said once.
    const byName = new Map<string, Remark>();
    for (const one of [...this.problems, ...this.held.missing, ...unread])
      if (!byName.has(nameOf(one))) byName.set(nameOf(one), one);
    return [...byName.values()];
  }

  /** The selected runs, oldest first, and between them those that are absent. Counts for `stale`. @throws NoSuchRunError */
  async *select(selection: RunSelection): AsyncGenerator<SelectedRun | AbsentRow> {
    const due = new DueRuns({});
    this.#isSelecting = true;
    let isFirst = true;
    for await (const listed of selectRuns(this.archive, selection, this.now)) {
      if (isFirst) this.held.lookWithin({ from: listed.run, to: selection.run ?? selection.to });
      isFirst = false;
      const run = await readRun(this.archive, listed);
      const absent = await this.#absentBefore(run, due);
      if (absent !== undefined) yield absent;
      this.problems.push(...run.badRecords);
      this.#outcomes.add(run);
      this.#note(run.run);
      const clusters = await this.lists.add(run, () => this.#runBefore(run));
      this.#last = { ...run, outcomes: [] };
      yield clusters === undefined ? run : { ...run, clusters };
    }
    this.#isSelecting = false;
  }

  /** The selected runs, oldest first, with the names of their records alone. @throws NoSuchRunError */
  async list(selection: RunSelection): Promise<readonly ListedRun[]> {
    const runs: ListedRun[] = [];
    for await (const run of selectRuns(this.archive, selection, this.now)) runs.push(run);
    return runs;
  }

  /**
   * What runs say of one cluster, and between them those that are absent: of their records, which are large in a large fleet,
   * only its own lines are read.
   */
  async *ofCluster(runs: readonly ListedRun[], cluster: string): AsyncGenerator<ClusterRecord | AbsentRow> {
    this.held.lookWithin({ from: runs[0]?.run, to: runs.at(-1)?.run });
    const due = new DueRuns({});
    const read = (run: ListedRun) => readClusterRecord(this.archive, run, cluster);
    for await (const record of mapConcurrently(runs, recordsAtOnce, read)) {
      const absent = await this.#absentBefore(record, due);
      if (absent !== undefined) yield absent;
      this.problems.push(...record.badRecords);
      this.#note(record.run);
      yield record;
    }
  }

  /** What was due between the scheduled run before and this one, and is not there. */
  async #absentBefore(run: Pick<ClusterRecord, 'run' | 'starts'>, due: DueRuns): Promise<AbsentRow | undefined> {
    const absent = due.add(await seenRun(run, this.#configurations));
    this.due.push(absent);
    return rowOf(absent);
  }

  /** The run before a selected one. */
  async #runBefore({ run }: Run): Promise<Run | undefined> {
    return this.#last ?? this.newestRun({ to: new Date(run.getTime() - 1) });
  }

  /**
   * Which scheduled runs between a run and a time left no record, in words; undefined: none.
   * @param passed that run, and those behind it up to the time, the newest first
   */
  absentBetween(period: Span, passed: readonly Pick<HeldPlace, 'run' | 'record'>[]): Promise<string | undefined> {
    return findAbsent(this, this.#configurations, period, passed);
  }

  /** Which scheduled runs between those that were read so far left no record, in words; undefined: none. */
  get absentText(): string | undefined {
    return describeTimes(this.due, {});
  }

  /**
   * The outcomes of the selected runs, oldest first.
   * @param cluster the only one that is asked for; undefined: all
   * @throws NoSuchRunError
   */
  async *outcomes(
    selection: RunSelection,
    cluster: string | undefined,
  ): AsyncGenerator<Pick<ClusterRecord, 'run' | 'outcomes' | 'records'>> {
    if (cluster !== undefined) yield* this.ofCluster(await this.list(selection), cluster);
    else yield* this.select(selection);
  }

  /** `the run 2026-11-20T10:00:00Z`, or `24 runs from … up to …`, of those read so far: nobody should take them for all of the archive. */
  get span(): string {
    const { runs, oldest: from, newest: to } = this;
    return runs === 1 && to !== undefined
      ? `the run ${formatTime(to)}`
      : `${formatCount(runs, 'run')}${formatPeriod({ from, to })}`;
  }

  #note(run: Date): void {
    this.runs += 1;
    this.oldest ??= run;
    this.newest = run;
  }

  /** The configuration of the attempt of a run that started last; undefined if it cannot be used. */
  async configurationOf(run: Run | undefined): Promise<RunConfiguration | undefined> {
    const start = run?.starts.at(-1);
    return start && this.#configurations.get(start.configuration);
  }

  /** The newest run of the archive, or of a period; undefined if there is none. */
  async newestRun(period: Period = {}): Promise<Run | undefined> {
    const listed = await firstOf(runsNewestFirst(this.archive, period, this.now));
    return listed && readRun(this.archive, listed);
  }

  /** What is overdue now. */
  async overdue(): Promise<OverdueNow> {
    const found = await findOverdue(this, this.#configurations);
    this.due.push(found.due);
    return found;
  }

  /** The clusters of the newest configuration of `select` that its run needs; undefined: it cannot be used. */
  async requiredClusters(): Promise<readonly string[] | undefined> {
    const configured = (await this.configurationOf(this.#last))?.clusters;
    return configured && this.#last && requiredOf(configured, this.#last);
  }

  /**
   * Which clusters the runs of `select` do not archive any more, by the rules of the audit. Optional ones are left out.
   * Without a configuration, what the runs cover counts.
   * @param at the time from which hours are counted back
   * @throws AssertionError if not all of the selected runs are read: who fails may come in the next one
   */
  async stale(at: Date): Promise<FoundStale> {
    assert(!this.#isSelecting, 'stale() was called before all selected runs were read');
    const { covered } = this.#outcomes;
    const clusters = (await this.requiredClusters()) ?? [...covered.keys()];
    return {
      stale: staleness(this.#outcomes.failing(clusters), at),
      notCovered: clusters.filter((cluster) => !covered.has(cluster)).sort(),
      flapping: this.#outcomes.flapping(clusters),
    };
  }
}

function requiredOf(clusters: RunConfiguration['clusters'], { run }: Pick<Run, 'run'>): string[] {
  return [...clusters].filter(([, cluster]) => !isOptional(cluster, run)).map(([uid]) => uid);
}
