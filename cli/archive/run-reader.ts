import { type FlappingCluster, Freshness, type StaleCluster, staleness } from '../../lambda/audit/freshness';
import { hourMs, runMarginHours } from '../../lambda/time-limits';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type AbsentRuns, DueRuns } from '../../lambda/verify/due-runs';
import { firstOf } from '../../lambda/verify/newest-first';
import { type AttemptStart, type BadRecord, type Run, readRun, readStoredRun } from '../../lambda/verify/read-run';
import type { ListedRun, Period } from '../../lambda/verify/run-keys';
import { planOf, SealIndex } from '../../lambda/verify/seals/seal-index';
import { runsBefore, seenRun } from '../../lambda/verify/seen-run';
import { type RunConfiguration, StoredConfigurations } from '../../lambda/verify/stored-configurations';
import { type RunSelection, runsNewestFirst, selectRuns } from './select-runs';

/** Runs that were due one after the other and are not there. */
export interface AbsentRow extends AbsentRuns {
  /** The first of them. */
  readonly run: Date;
}

/** A run, or those that were due behind the row before and are not there. */
export type RunRow = Run | AbsentRow;

export function isAbsent(row: object): row is AbsentRow {
  return 'times' in row;
}

function rowOf(absent: AbsentRuns): AbsentRow | undefined {
  const [run] = absent.times;
  return run && { ...absent, run };
}

/** Runs that were due since the last scheduled run, have had their time, and are not there. */
export interface Overdue extends AbsentRow {
  /** Whether a seal says that the schedule was in force: its plan is newer than every stored configuration. */
  readonly isSealed: boolean;
}

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
export class RunReader {
  readonly archive: ArchiveReader;
  readonly now: Date;
  /** Run records that cannot be used, and configurations that may not be read. */
  readonly problems: BadRecord[] = [];
  /** How many runs were selected, and the first and the last of them. */
  runs = 0;
  oldest: Date | undefined;
  newest: Date | undefined;
  readonly #configurations: StoredConfigurations;
  readonly #freshness = new Freshness([]);
  #newestStart: AttemptStart | undefined;

  constructor(archive: ArchiveReader, now: Date) {
    this.archive = archive;
    this.now = now;
    this.#configurations = new StoredConfigurations(archive, (kind, key, problem) => {
      // What else is wrong with one is found by `verify`.
      if (kind === 'unreadable') this.problems.push({ kind, key, problem });
    });
  }

  /** The selected runs, oldest first, and between them those that are absent. Counts for `stale`. @throws NoSuchRunError */
  async *select(selection: RunSelection): AsyncGenerator<RunRow> {
    const due = new DueRuns({});
    for await (const listed of selectRuns(this.archive, selection, this.now)) {
      const run = await readRun(this.archive, listed);
      const absent = rowOf(due.add(await seenRun(run, this.#configurations)));
      if (absent !== undefined) yield absent;
      for (const start of run.starts)
        if (this.#newestStart === undefined || start.startedAt >= this.#newestStart.startedAt)
          this.#newestStart = start;
      this.problems.push(...run.badRecords);
      this.#freshness.add(run.run, run.outcomes);
      this.runs += 1;
      this.oldest ??= run.run;
      this.newest = run.run;
      yield run;
    }
  }

  /** The newest run of the archive, or of a period; undefined if there is none. */
  async newestRun(period: Period = {}): Promise<Run | undefined> {
    const listed = await firstOf(runsNewestFirst(this.archive, period, this.now));
    return listed && readRun(this.archive, listed);
  }

  /**
   * What is overdue now. Undefined if nothing is, and for an archive without a clock of its own: that is a folder, a copy or
   * one that `npm start` fills, and nothing fires there.
   */
  async overdue(): Promise<Overdue | undefined> {
    if ((await this.archive.time()) === undefined) return undefined;
    let shards = 1;
    const read = async (listed: ListedRun) => {
      const run = await readStoredRun(this.archive, listed);
      shards = Math.max(shards, run.shards);
      return seenRun(run, this.#configurations);
    };
    const due = new DueRuns({});
    const runs = await runsBefore(this.archive, { from: new Date(this.now.getTime() + 1) }, read);
    for (const run of runs) due.add(run);
    const seal = await new SealIndex(this.archive).newest();
    const plan = seal && planOf(seal);
    // The archive does not say whether one run waits for another: so it may.
    const until = new Date(this.now.getTime() - runMarginHours(plan?.shards ?? shards, true) * hourMs);
    const absent = rowOf(due.upTo(until, plan));
    const isSealed = runs.every(({ used }) => used.every(({ usedAt }) => plan !== undefined && usedAt <= plan.usedAt));
    return absent && { ...absent, isSealed };
  }

  /** The configuration of the attempt that started last, of the selected runs; undefined if it cannot be used. */
  async configuration(): Promise<RunConfiguration | undefined> {
    return this.#newestStart && this.#configurations.get(this.#newestStart.configuration);
  }

  /**
   * Which clusters the runs of `select` do not archive any more, by the rules of the audit. Optional ones are left out.
   * Without a configuration, what the runs cover counts.
   * @param at the time from which hours are counted back
   */
  async stale(at: Date): Promise<FoundStale> {
    const { covered } = this.#freshness;
    const configured = (await this.configuration())?.clusters;
    const clusters = configured === undefined ? [...covered.keys()] : requiredOf(configured);
    return {
      stale: staleness(this.#freshness.failing(clusters), at),
      notCovered: clusters.filter((cluster) => !covered.has(cluster)).sort(),
      flapping: this.#freshness.flapping(clusters),
    };
  }
}

function requiredOf(clusters: RunConfiguration['clusters']): string[] {
  const isRequired = ({ isOptional }: { readonly isOptional: boolean }) => !isOptional;
  return [...clusters].filter(([, own]) => Object.values(own).some(isRequired)).map(([uid]) => uid);
}
