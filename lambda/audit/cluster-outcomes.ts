import { hourMs } from '../../archive/format/clocks';
import { type ConfiguredCluster, isOptional } from '../../archive/format/configuration';
import { counted } from '../../archive/format/counted';
import { type Resource, resources } from '../../archive/format/resources';
import { isStored, type RunOutcome } from '../../archive/format/run-record';
import type { Failing, Summary } from '../../archive/format/seal-state';
import type { StoredRun } from '../../archive/read';
import type { Failure } from '../group-reasons';
import type { Habits } from './habits';

/** A cluster that runs do not archive. */
export interface FailingCluster extends Failing {
  /** Why the last of them did not: of two resources, the first. Undefined: none of the runs that were added covers it. */
  readonly failure: Failure | undefined;
}

export interface StaleCluster extends Pick<Failing, 'cluster' | 'runs' | 'lastArchived'> {
  /** Since `lastArchived`, or since the first of the `runs` where that is null. */
  readonly hours: number;
}

/** A cluster that fails now and then: in a fifth of the runs that cover it or more. */
export interface FlappingCluster {
  readonly cluster: string;
  /** How many of the runs that cover it did not archive all of it. */
  readonly failed: number;
  readonly runs: number;
}

/** What is summed up of a run. */
type SummedRun = Pick<StoredRun, 'run' | 'outcomes' | 'status' | 'counts' | 'bytes' | 'storedBytes'>;

/** Who a run was to collect. */
export interface Coverage {
  /** Whether the schedule was due at its time: then it is to collect every cluster that the plan has. */
  readonly isDue: boolean;
  /** Whether no more records of it come. */
  readonly isOver: boolean;
  /** Whether its records cover all that its own configuration has, if it was due. */
  readonly isCovered: boolean;
  /** Whether its clusters come from outside: then it is to collect those that its own configuration has, which is judged with its record. */
  readonly isListed: boolean;
  /** Whether a configuration that its records name has a cluster. */
  readonly hasCluster: (cluster: string) => boolean;
}

/** A cluster that runs did not collect although it was to be, and in how many. */
interface NotCollected {
  readonly cluster: string;
  readonly runs: number;
}

/** What a plan says of a cluster. */
type Planned = Pick<ConfiguredCluster, 'uid' | 'optional'>;

/** What the runs that were added say of one cluster. All of it in one object: there may be 50,000. */
interface SeenCluster {
  /** The one string of its name that is kept: five of each would take 13 MB for 50,000 clusters. */
  readonly name: string;
  /** How many of the runs cover it, and how many of these did not archive all of it. */
  runs: number;
  failed: number;
  /** The last run that archived all of it; null: none. */
  archived: string | null;
  failing: FailingCluster | undefined;
  /** Of the run that is being added, what was not archived; undefined: it does not cover the cluster. */
  failures: readonly RunOutcome[] | undefined;
  /** What the audit's plan has it as; undefined: not at all. No map beside: it would take 3 MB for 50,000 clusters. */
  planned: Planned | undefined;
  /** Where that plan has it; -1: nowhere. */
  at: number;
  /** How many of the runs were to collect it, and no record of them covers it. */
  uncovered: number;
  /** Of what seldom changes: the newest hash, and its run. */
  hashes: Partial<Record<Resource, { readonly sha256: string; readonly run: Date }>> | undefined;
}

/** Fewest failures that are a habit, and least share of the runs. */
const leastFailures = 3;
const leastShare = 0.2;

/** Most clusters with another manifest, and with a doubt, that a state names. */
const mostNamed = 50;
const mostDoubts = 5;

/** Longest doubt, in characters. */
const mostCharacters = 300;

/** Sums up runs: what became of each cluster, since when one fails, what changed. */
export class ClusterOutcomes {
  readonly #clusters = new Map<string, SeenCluster>();
  /** Clusters with another manifest than in the run before, and these two runs: the last of them. */
  readonly #changed = new Map<string, { readonly from: string; readonly to: string }>();
  readonly #sums = { complete: 0, incomplete: 0, objects: 0, bytes: 0, storedBytes: 0 };
  readonly #doubts = { count: 0, first: [] as string[] };
  #newest = new Date(0);
  readonly #habits: Pick<Habits, 'add'> | undefined;

  /**
   * @param failing as the seal before has it
   * @param plan the clusters that are to be collected
   * @param habits of the same plan: is given what the runs have of it, so that no record is read twice
   */
  constructor(failing: readonly Failing[] = [], plan: readonly Planned[] = [], habits?: Pick<Habits, 'add'>) {
    this.#habits = habits;
    for (const [at, cluster] of plan.entries()) {
      const seen = this.#seen(cluster.uid);
      seen.at = at;
      seen.planned = cluster;
    }
    for (const one of failing) this.#seen(one.cluster).failing = { ...one, failure: undefined };
  }

  /** Gives the name of a cluster as the string that is kept already. */
  readonly sharedName = (cluster: string): string => this.#clusters.get(cluster)?.name ?? cluster;

  /**
   * Takes note of a run. Runs come in the order of their times; one that is completed comes again.
   * @param isNew false: new runs are only compared with it
   * @param coverage left out: nobody was to be collected but those of whom it has an outcome
   */
  add(run: SummedRun, isNew = true, coverage?: Coverage): void {
    const time = run.run.toISOString();
    for (const outcome of run.outcomes) {
      const seen = this.#seen(outcome.cluster);
      outcome.cluster = seen.name;
      seen.failures ??= none;
      if (!isStored(outcome)) seen.failures = [...seen.failures, outcome];
      this.#compareHash(seen, run.run, outcome, isNew);
      if (seen.at >= 0) this.#habits?.add(seen.at, run.run, outcome);
      if (isNew && outcome.doubt !== undefined && this.#doubts.first.length < mostDoubts)
        this.#doubts.first.push(`${outcome.resource} of ${seen.name}: ${outcome.doubt}`.slice(0, mostCharacters));
    }
    let isComplete = run.status === 'complete' && coverage?.isCovered !== false;
    for (const seen of this.#clusters.values()) {
      if (isNew && coverage?.isDue === true && isLeftOut(seen, coverage)) {
        const outcome = leftOut(seen, run.run, coverage);
        seen.failures = [outcome];
        seen.uncovered += 1;
        isComplete &&= outcome.optional === true;
      }
      if (seen.failures !== undefined) addRun(seen, seen.failures, time, isNew);
      seen.failures = undefined;
    }
    if (!isNew) return;
    this.#sums[isComplete ? 'complete' : 'incomplete'] += 1;
    this.#sums.objects += run.counts.archived;
    this.#sums.bytes += run.bytes;
    this.#sums.storedBytes += run.storedBytes;
    this.#doubts.count += run.counts.doubts;
  }

  /** Who was to be collected and is in no record of a run, those of most runs first. */
  #notCollected(): NotCollected[] {
    return [...this.#clusters.values()]
      .flatMap(({ name, uncovered }) => (uncovered === 0 ? [] : { cluster: name, runs: uncovered }))
      .sort((a, b) => b.runs - a.runs || (a.cluster < b.cluster ? -1 : 1));
  }

  /** Clusters that the runs cover. */
  get covered(): ReadonlySet<string> {
    return new Set([...this.#clusters.values()].filter(({ runs }) => runs > 0).map(({ name }) => name));
  }

  /** Those of the clusters that fail, the longest first. */
  failing(clusters: readonly string[]): FailingCluster[] {
    return clusters
      .flatMap((cluster) => this.#clusters.get(cluster)?.failing ?? [])
      .sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : a.cluster < b.cluster ? -1 : 1));
  }

  /** Those of the clusters that fail now and then, the worst first. One whose only failures are the last of the runs fails, and no more. */
  flapping(clusters: readonly string[]): FlappingCluster[] {
    return clusters
      .flatMap((cluster) => this.#clusters.get(cluster) ?? [])
      .filter(({ failed, runs }) => failed >= leastFailures && failed >= leastShare * runs && failed < runs)
      .filter(({ failed, failing }) => failed > (failing?.runs ?? 0))
      .map(({ name, failed, runs }) => ({ cluster: name, failed, runs }))
      .sort((a, b) => b.failed / b.runs - a.failed / a.runs);
  }

  summary(): Omit<Summary, 'lastRun' | 'repaired' | 'reasons' | 'absent' | 'unusual' | 'read'> {
    const changed = [...this.#changed].map(([cluster, runs]) => ({ cluster, ...runs }));
    changed.sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
    return {
      ...this.#sums,
      changed: counted(changed, mostNamed),
      doubts: this.#doubts,
      notCollected: counted(this.#notCollected(), mostNamed),
    };
  }

  #seen(name: string): SeenCluster {
    const known = this.#clusters.get(name);
    if (known !== undefined) return known;
    const state = { planned: undefined, failing: undefined, failures: undefined, hashes: undefined };
    const seen = { name, at: -1, runs: 0, failed: 0, archived: null, uncovered: 0, ...state };
    this.#clusters.set(name, seen);
    return seen;
  }

  /** A run that is older than one before says nothing of a change. */
  #compareHash(seen: SeenCluster, run: Date, { resource, sha256 }: RunOutcome, isNew: boolean): void {
    if (run < this.#newest) return;
    this.#newest = run;
    if (resources[resource].isAlwaysNew || sha256 === undefined) return;
    const before = seen.hashes?.[resource];
    if (isNew && before !== undefined && before.sha256 !== sha256)
      this.#changed.set(seen.name, { from: before.run.toISOString(), to: run.toISOString() });
    seen.hashes ??= {};
    seen.hashes[resource] = { sha256, run };
  }
}

const none: readonly RunOutcome[] = [];

/**
 * Whether the run that is being added has nothing of a cluster of the plan. One that no run has covered yet may have joined the
 * plan since, and a record that has it may still come.
 */
function isLeftOut(seen: SeenCluster, { isOver, isListed, hasCluster }: Coverage): boolean {
  const { name, planned, failures, runs, archived, failing } = seen;
  if (failures !== undefined || planned === undefined) return false;
  const wasThere = runs > 0 || archived !== null || failing !== undefined;
  // Who left a list for good and is on it again was to be collected by none of the runs between.
  return wasThere && (hasCluster(name) ? isOver : !isListed);
}

function leftOut({ name: cluster, planned }: SeenCluster, run: Date, { hasCluster }: Coverage): RunOutcome {
  const error = hasCluster(cluster) ? 'no run record covers it' : 'the configuration of its run does not have it';
  const optional = planned !== undefined && isOptional(planned, run) ? ({ optional: true } as const) : {};
  const outcome = { cluster, resource: 'log', outcome: 'not-attempted', error } as const;
  return { ...outcome, ...optional, attempt: 1, collectorVersion: '' };
}

function addRun(seen: SeenCluster, failures: readonly RunOutcome[], time: string, isNew: boolean): void {
  const { name: cluster, archived: lastArchived } = seen;
  if (failures.length === 0) seen.archived = time;
  if (!isNew) return;
  const isFailed = failures.some(({ optional, leaving }) => !optional || leaving);
  seen.runs += 1;
  seen.failed += Number(isFailed);
  const [failure] = failures;
  const before = seen.failing ?? { cluster, since: time, last: '', runs: 0, lastArchived, failure };
  if (isFailed && time >= before.last)
    seen.failing = { ...before, last: time, runs: before.runs + Number(time > before.last), failure };
  else if (failures.length === 0 && time >= before.last) seen.failing = undefined;
  else if (failures.length === 0 && time > (before.lastArchived ?? ''))
    seen.failing = { ...before, lastArchived: time };
}

/** Hours since each failing cluster was archived, or since it first failed if it never was; the longest first. */
export function staleness(failing: readonly Failing[], now: Date): StaleCluster[] {
  return failing
    .map(({ cluster, runs, lastArchived, since }) => ({
      cluster,
      runs,
      lastArchived,
      hours: hoursBetween(Date.parse(lastArchived ?? since), now),
    }))
    .sort((a, b) => b.hours - a.hours);
}

/** Never negative: clocks may be off. */
export function hoursBetween(time: number, now: Date): number {
  return Math.max(0, (now.getTime() - time) / hourMs);
}
