import type { ConfiguredCluster } from '../../archive/format/configuration';
import { nameOf } from '../../archive/format/finding';
import { type ObjectName, objectKey, parseObjectKey } from '../../archive/format/keys';
import { changeOf } from '../../archive/format/list-in-force';
import { isStored, type RunOutcome } from '../../archive/format/run-record';
import {
  type AbsentRuns,
  DueRuns,
  GoneObjects,
  runsBefore,
  runsUntilScheduled,
  type SeenRun,
  type Span,
  seenRun,
} from '../../archive/prove';
import {
  type ArchiveReader,
  type ClusterRecord,
  configuredClusters,
  firstOf,
  isWithin,
  type ListedRun,
  mapConcurrently,
  type Period,
  Presence,
  type Run,
  type RunConfiguration,
  readClusterRecord,
  readRun,
  readStarts,
  runsBetween,
  StoredConfigurations,
  take,
} from '../../archive/read';
import {
  ClusterOutcomes,
  type FlappingCluster,
  type StaleCluster,
  staleness,
} from '../../lambda/audit/cluster-outcomes';
import { type ClusterChange, isChange, type WithClusterChange } from '../terminal/cluster-change';
import { formatCount, formatPeriod, formatTime } from '../terminal/format';
import type { OpenedArchive } from './open-archive';
import { type AbsentRow, type DueNow, findOverdue, rowOf } from './overdue';
import type { HeldPlace, Remark } from './recorded-object';
import { type NewestRun, type RunSelection, runsNewestFirst, selectRuns } from './select-runs';

/** A run, or those that were due behind the row before and are not there. */
export type RunRow = HeldRun | AbsentRow;

type SelectedRun = Run & WithClusterChange;

/** What became of one cluster x resource in a run, by its records and by what lies there together. */
export interface HeldOutcome extends Omit<RunOutcome, 'outcome'> {
  /**
   * `missing`: a record says that it was archived, and it is not there. `expired`: the same, and the lifecycle may have removed
   * it. The others are as recorded.
   */
  readonly outcome: RunOutcome['outcome'] | 'missing' | 'expired';
}

export interface HeldRun extends Omit<Run, 'outcomes'>, WithClusterChange {
  readonly outcomes: readonly HeldOutcome[];
}

/** Whether a record says that it was archived, wherever it is now. */
export function wasArchived({ outcome }: Pick<HeldOutcome, 'outcome'>): boolean {
  return isStored({ outcome }) || outcome === 'missing' || outcome === 'expired';
}

export function isAbsent<Row extends object>(row: Row | AbsentRow): row is AbsentRow {
  return 'times' in row;
}

/** Runs that are read at most to find one that covers every configured cluster. */
const mostPartial = 100;

/** Most outcomes of one run whose objects are looked for, where only a few of them are shown. */
const mostHeld = 20_000;

/** Listings under way at once. */
const listingsAtOnce = 16;

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
  /** Runs of `select` that read a list of clusters, as far as it changed what is collected, or was refused. */
  readonly clusterChanges: ClusterChange[] = [];
  /** What was due between the selected runs, and up to now, and is not there. */
  readonly due: AbsentRuns[] = [];
  /** How many outcomes are shown as recorded: whether their objects are there was not looked at. */
  notLookedAt = 0;
  /** How many runs were read, and the first and the last of them. */
  runs = 0;
  oldest: Date | undefined;
  newest: Date | undefined;
  readonly #configurations: StoredConfigurations;
  readonly #outcomes = new ClusterOutcomes();
  readonly #gone: GoneObjects;
  /** What lies there of the runs that were listed last. */
  #presence: Presence;
  /** The run that was selected last, without its outcomes. */
  #last: Run | undefined;

  constructor({ archive, now, isLive }: OpenedArchive) {
    this.archive = archive;
    this.now = now;
    this.isLive = isLive;
    this.#gone = new GoneObjects(archive, now);
    this.#presence = new Presence(archive, {});
    this.#configurations = new StoredConfigurations(archive);
  }

  /** What is wrong with what was read. What else is wrong with configurations is found by `verify`. */
  get remarks(): readonly Remark[] {
    const unread = this.#configurations.findings.filter(({ kind }) => kind === 'unreadable');
    // What was read for two reasons is said once.
    const byName = new Map<string, Remark>();
    for (const one of [...this.problems, ...unread]) if (!byName.has(nameOf(one))) byName.set(nameOf(one), one);
    return [...byName.values()];
  }

  /** The selected runs, oldest first, and between them those that are absent. Counts for `stale`. @throws NoSuchRunError */
  async *select(selection: RunSelection): AsyncGenerator<SelectedRun | AbsentRow> {
    const due = new DueRuns({});
    let isFirst = true;
    for await (const listed of selectRuns(this.archive, selection, this.now)) {
      if (isFirst) this.#presence = new Presence(this.archive, { from: listed.run, to: selection.run ?? selection.to });
      isFirst = false;
      const run = await readRun(this.archive, listed);
      const absent = await this.#absentBefore(run, due);
      if (absent !== undefined) yield absent;
      this.problems.push(...run.badRecords);
      this.#outcomes.add(run);
      this.#note(run.run);
      const clusters = await this.#changeOf(run);
      this.#last = { ...run, outcomes: [] };
      yield clusters === undefined ? run : { ...run, clusters };
    }
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
    this.#presence = new Presence(this.archive, { from: runs[0]?.run, to: runs.at(-1)?.run });
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

  /**
   * Holds what a record of a run says against what lies there: whoever shows an outcome takes it from here. What is missing
   * becomes one of the problems.
   * @param records keys of the records of its run
   */
  async held({ records }: Pick<ClusterRecord, 'records'>, outcome: RunOutcome): Promise<HeldOutcome> {
    const { key = '', httpStatus, ...own } = outcome;
    const name = isStored(outcome) ? parseObjectKey(key) : undefined;
    if (name === undefined || (await this.isThere(name))) return outcome;
    const missing = await this.#gone.judge(key, outcome, records);
    if (missing === undefined) return { ...own, key, outcome: 'expired', error: 'the lifecycle has removed it since' };
    this.problems.push(missing);
    return { ...own, key, outcome: 'missing', error: missing.problem };
  }

  /**
   * A run with its outcomes {@link held}. Of a fleet whose listings would take minutes they stay as recorded, and
   * `notLookedAt` says so.
   */
  async heldRun(run: SelectedRun): Promise<HeldRun> {
    if (run.outcomes.length > mostHeld) {
      this.notLookedAt += run.outcomes.length;
      return run;
    }
    const outcomes: HeldOutcome[] = [];
    for await (const one of mapConcurrently(run.outcomes, listingsAtOnce, (outcome) => this.held(run, outcome)))
      outcomes.push(one);
    return { ...run, outcomes };
  }

  /** Whether an object of the runs that are read lies there. */
  isThere(name: ObjectName): Promise<boolean> {
    return this.#presence.has(name);
  }

  /** Judges an object that is not there; undefined: no record says that it was archived, or the lifecycle may have removed it. */
  async goneAt(name: ObjectName): Promise<Remark | undefined> {
    const { run, cluster, resource } = name;
    const listed = await firstOf(runsBetween(this.archive, { from: run, to: run }));
    const record = listed && (await readClusterRecord(this.archive, listed, cluster));
    const outcome = record?.outcomes.find((one) => one.resource === resource);
    const isNamed = record !== undefined && outcome !== undefined && isStored(outcome);
    return isNamed ? this.#gone.judge(objectKey(name), outcome, record.records) : undefined;
  }

  /**
   * Which scheduled runs between a run and a time left no record, in words; undefined: none.
   * @param passed that run, and those behind it up to the time, the newest first
   */
  async absentBetween(period: Span, passed: readonly Pick<HeldPlace, 'run' | 'record'>[]): Promise<string | undefined> {
    const read = async (listed: ListedRun) => seenRun(await readStarts(this.archive, listed), this.#configurations);
    const seen: SeenRun[] = [];
    for (const { run, record } of passed.toReversed())
      seen.push(await seenRun(record ?? { run, starts: [] }, this.#configurations));
    if (seen[0]?.isScheduled !== true) seen.unshift(...(await runsBefore(this.archive, period, read)));
    const next = await runsUntilScheduled(this.archive, period, read);
    const due = new DueRuns(period);
    const absent = [...seen, ...next].map((run) => due.add(run));
    const isLast = this.isLive && next.every(({ isScheduled }) => !isScheduled);
    if (isLast) absent.push((await findOverdue(this, this.#configurations)).due);
    return describeTimes(absent, { from: new Date(period.from.getTime() + 1), to: period.to });
  }

  /** Which scheduled runs between those that were read left no record, in words; undefined: none. */
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

  /** `the run 2026-11-20T10:00:00Z`, or `24 runs from … up to …`: nobody should take what was read for all of the archive. */
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

  async #changeOf(run: Run): Promise<ClusterChange | undefined> {
    const read = run.starts.findLast(({ clusterList }) => clusterList !== undefined)?.clusterList;
    if (read === undefined) return undefined;
    const earlier = this.#last ?? (await this.newestRun({ to: new Date(run.run.getTime() - 1) }));
    const own = await this.#listOf(run);
    const old = (own && (await this.#listOf(earlier))) ?? own ?? [];
    const change = { run: run.run, read, ...changeOf(old, own ?? old) };
    if (isChange(change)) this.clusterChanges.push(change);
    return change;
  }

  /** The clusters of a run; undefined if its configuration cannot be used. */
  async #listOf(run: Run | undefined): Promise<readonly ConfiguredCluster[] | undefined> {
    const configuration = await this.configurationOf(run);
    return configuration && configuredClusters(configuration);
  }

  /** The configuration of the attempt of a run that started last; undefined if it cannot be used. */
  async configurationOf(run: Run | undefined): Promise<RunConfiguration | undefined> {
    const start = run?.starts.at(-1);
    return start && this.#configurations.get(start.configuration);
  }

  /** Says that a cluster left the list, or is leaving it, by the runs of `select`; undefined: neither, or it is back. */
  leftText(cluster: string): string | undefined {
    const last = this.clusterChanges.findLast(({ joined, left, began, returned }) =>
      [joined, left, began, returned].some((uids) => uids.includes(cluster)),
    );
    if (last?.left.includes(cluster)) return `${cluster} left the list in force at ${formatTime(last.run)}.`;
    if (!last?.began.includes(cluster)) return undefined;
    return `${cluster} is leaving since ${formatTime(last.run)}: it is not on the list any more, and is collected on for some days.`;
  }

  /** The newest run of the archive, or of a period; undefined if there is none. */
  async newestRun(period: Period = {}): Promise<Run | undefined> {
    const listed = await firstOf(runsNewestFirst(this.archive, period, this.now));
    return listed && readRun(this.archive, listed);
  }

  /**
   * The newest run, and if it covers only a part of what was configured, the newest behind it that covers all; the newest
   * first. Empty if there is none.
   */
  async newestRuns(): Promise<readonly NewestRun[]> {
    const found: NewestRun[] = [];
    for await (const listed of take(mostPartial, runsNewestFirst(this.archive, {}, this.now))) {
      const run = await readRun(this.archive, listed);
      const configured = await this.#configuredFor(run);
      // A run of the schedule is about all of them, even if a shard left no record.
      const isScheduled = run.starts.some(({ trigger }) => trigger === 'schedule');
      const isWhole = isScheduled || configured === undefined || configured.covered === configured.all;
      if (found.length === 0 || isWhole) found.push({ run, configured });
      if (isWhole) break;
    }
    return found;
  }

  async #configuredFor(run: Run): Promise<NewestRun['configured']> {
    const clusters = (await this.configurationOf(run))?.clusters;
    if (clusters === undefined) return undefined;
    const covered = new Set(run.outcomes.map(({ cluster }) => cluster).filter((cluster) => clusters.has(cluster)));
    return { all: clusters.size, covered: covered.size };
  }

  /** What is overdue now. */
  async overdue(): Promise<DueNow> {
    const found = await findOverdue(this, this.#configurations);
    this.due.push(found.due);
    return found;
  }

  /** The clusters of the newest configuration of `select` that are not optional; undefined: it cannot be used. */
  async requiredClusters(): Promise<readonly string[] | undefined> {
    const configured = (await this.configurationOf(this.#last))?.clusters;
    return configured && requiredOf(configured);
  }

  /**
   * Which clusters the runs of `select` do not archive any more, by the rules of the audit. Optional ones are left out.
   * Without a configuration, what the runs cover counts.
   * @param at the time from which hours are counted back
   */
  async stale(at: Date): Promise<FoundStale> {
    const { covered } = this.#outcomes;
    const clusters = (await this.requiredClusters()) ?? [...covered.keys()];
    return {
      stale: staleness(this.#outcomes.failing(clusters), at),
      notCovered: clusters.filter((cluster) => !covered.has(cluster)).sort(),
      flapping: this.#outcomes.flapping(clusters),
    };
  }
}

/** `2 scheduled runs left no record: 2026-11-20T10:00:00Z to 2026-11-20T11:00:00Z`; undefined: none. */
function describeTimes(absent: readonly AbsentRuns[], period: Period): string | undefined {
  const times = absent.flatMap((one) => one.times).filter((time) => isWithin(time, period));
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const more = absent.some(({ areMore }) => areMore) ? 'more than ' : '';
  const when = first === last ? formatTime(first) : `${formatTime(first)} to ${formatTime(last)}`;
  return `${more}${formatCount(times.length, 'scheduled run')} left no record: ${when}`;
}

function requiredOf(clusters: RunConfiguration['clusters']): string[] {
  return [...clusters].filter(([, { optional }]) => !optional).map(([uid]) => uid);
}
