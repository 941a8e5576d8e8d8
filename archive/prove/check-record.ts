import { clockSlackMs, longestAttemptMs } from '../format/clocks';
import { countOutcomes, isComplete } from '../format/completeness';
import { isOptional } from '../format/configuration';
import { hasOwnKey } from '../format/merged-outcomes';
import { isStored, type Outcome, type StoredRecord, taskName } from '../format/run-record';
import { isInShard, shardName } from '../format/shard';
import type { JudgedCluster, RunConfiguration } from '../read/stored-configurations';

/**
 * What a run record says that cannot be true together, or is not what its configuration says. A record that was altered or
 * put together by hand seldom adds up; whether it agrees with the objects is another check.
 * @param configuration undefined: it cannot be read, which is said already
 */
export function checkRecord(record: StoredRecord, configuration: RunConfiguration | undefined): string[] {
  const problems: string[] = [];
  const tasks = new TaskProblems();
  const run = new Date(record.run);
  const seen = new Set<string>();
  const isOwn = ({ cluster }: Task) => isInShard(cluster, record.shard);
  const checked = function* (): Generator<Outcome> {
    for (const outcome of record.outcomes) {
      if (seen.has(taskName(outcome))) tasks.add('it has more than one outcome', outcome);
      seen.add(taskName(outcome));
      if (outcome.outcome === 'would-archive')
        tasks.add('only a dry run says that it would have archived these, and it stores nothing', outcome);
      for (const problem of checkKey(record, outcome)) tasks.add(problem, outcome);
      if (!isFetchedMeanwhile(record, outcome)) tasks.add('fetched before it started, or after it finished', outcome);
      const cluster = configuration?.clusters.get(outcome.cluster);
      if (configuration !== undefined && !(cluster?.resources.includes(outcome.resource) && isOwn(outcome)))
        tasks.add('it has outcomes that are not configured', outcome);
      else if (cluster !== undefined && mayBeMissing(cluster, run) !== (outcome.optional === true))
        tasks.add('its configuration says otherwise whether these are optional', outcome);
      yield outcome;
    }
  };
  const counted = countOutcomes(checked());
  for (const name of ['archived', 'alreadyArchived', 'failed', 'notAttempted', 'optionalMissing'] as const)
    if ((record.counts[name] ?? 0) !== (counted[name] ?? 0))
      problems.push(`it counts ${record.counts[name] ?? 0} ${name} and lists ${counted[name] ?? 0}`);
  if ((record.status === 'complete') !== isComplete(counted))
    problems.push(`it says ${record.status}, and its outcomes say otherwise`);
  // A clock may be set back, or forward, while an attempt is under way.
  const tookMs = Date.parse(record.finishedAt) - Date.parse(record.startedAt);
  if (tookMs < -clockSlackMs) problems.push('it finished before it started');
  if (tookMs > longestAttemptMs) problems.push('it took longer than the function may run');
  // A person may ask for a few clusters; the schedule asks for all of them.
  if (configuration !== undefined && record.trigger === 'schedule')
    for (const task of tasksOf(configuration.clusters))
      if (isOwn(task) && !seen.has(taskName(task))) tasks.add('it has no outcome of what is configured', task);
  return [...problems, ...tasks.describe()];
}

/** A record says when it archived an object: the lifecycle excuses by that time what is gone. */
function isFetchedMeanwhile({ startedAt, finishedAt }: StoredRecord, { outcome, fetchedAt }: Outcome): boolean {
  if (outcome !== 'archived' || fetchedAt === undefined) return true;
  const time = Date.parse(fetchedAt);
  return time >= Date.parse(startedAt) - clockSlackMs && time <= Date.parse(finishedAt) + clockSlackMs;
}

function checkKey(record: StoredRecord, outcome: Outcome): string[] {
  if (!isStored(outcome)) return outcome.key === undefined ? [] : [`${outcome.outcome}, but with a key`];
  if (outcome.key === undefined) return [`${outcome.outcome}, but without a key`];
  const problems = hasOwnKey(outcome, new Date(record.run)) ? [] : ['with the key of another object'];
  const { sha256, bytes, storedBytes, fetchedAt } = outcome;
  if (outcome.outcome === 'archived' && [sha256, bytes, storedBytes, fetchedAt].includes(undefined))
    problems.push('archived, but without its hash, lengths or time');
  return problems;
}

/** Whether a run is complete without a cluster. */
function mayBeMissing(cluster: JudgedCluster, run: Date): boolean {
  return cluster.leaving !== undefined || isOptional(cluster, run);
}

/** Every cluster x resource of a configuration. */
function* tasksOf(clusters: RunConfiguration['clusters']): Generator<Task> {
  for (const [cluster, { resources }] of clusters) for (const resource of resources) yield { cluster, resource };
}

/** What the records of one run say of one object. */
interface SaidOfObject {
  archivedBy?: StoredRecord;
  hashedBy?: StoredRecord;
  sha256?: string;
  timedBy?: StoredRecord;
  fetchedAt?: string;
}

/**
 * Compares the records of one run. Attempts at the same time number themselves as they finish, so that an earlier one may
 * well have found what a later one archived.
 * @returns what cannot be true together: an object is written once, by one attempt; and hashes that no record gives the
 * origin of, which may have been in a record that the lifecycle has removed
 */
export function checkAttempts(records: readonly StoredRecord[]) {
  const contradictions: string[] = [];
  const objects = new Map<string, SaidOfObject>();
  for (const record of withoutRepeats(records)) {
    for (const outcome of record.outcomes) {
      const { key, sha256, fetchedAt } = outcome;
      if (!isStored(outcome) || key === undefined) continue;
      const said = objects.get(key) ?? {};
      objects.set(key, said);
      if (outcome.outcome === 'archived') {
        if (said.archivedBy !== undefined)
          contradictions.push(`${pair(said.archivedBy, record)} both say they archived ${key}`);
        said.archivedBy = record;
      }
      if (said.timedBy !== undefined && fetchedAt !== undefined && said.fetchedAt !== fetchedAt)
        contradictions.push(`${pair(said.timedBy, record)} give ${key} different times of fetching`);
      if (fetchedAt !== undefined) {
        said.timedBy ??= record;
        said.fetchedAt ??= fetchedAt;
      }
      if (sha256 === undefined) continue;
      if (said.hashedBy !== undefined && said.sha256 !== sha256)
        contradictions.push(`${pair(said.hashedBy, record)} give ${key} different hashes`);
      said.hashedBy ??= record;
      said.sha256 ??= sha256;
    }
  }
  // Only the attempt that archives an object knows its hash; later ones copy it.
  const withoutOrigin = [...objects].flatMap(([key, { archivedBy, hashedBy }]) =>
    archivedBy === undefined && hashedBy !== undefined
      ? [`${name(hashedBy)} has a hash of ${key}, and no attempt says that it archived it`]
      : [],
  );
  return { contradictions, withoutOrigin };
}

/**
 * Leaves out a record that says, number aside, word for word what an earlier one does. An attempt writes its record a
 * second time, under the next number, if the answer to the first writing was lost and the record could not be read back.
 */
function withoutRepeats(records: readonly StoredRecord[]): StoredRecord[] {
  const first = new Map<string, StoredRecord>();
  return records.filter((record) => {
    const { attempt, outcomes, ...said } = record;
    const name = JSON.stringify(said);
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, record);
    return earlier === undefined || !haveSameOutcomes(earlier, record);
  });
}

function haveSameOutcomes(one: StoredRecord, other: StoredRecord): boolean {
  let index = 0;
  for (const outcome of one.outcomes) {
    if (JSON.stringify(outcome) !== JSON.stringify(other.outcomes.at(index))) return false;
    index += 1;
  }
  return other.outcomes.at(index) === undefined;
}

function pair(one: StoredRecord, other: StoredRecord): string {
  if (one.shard === undefined && other.shard === undefined) return `attempts ${one.attempt} and ${other.attempt}`;
  return `${name(one)} and ${name(other)}`;
}

function name({ attempt, shard }: StoredRecord): string {
  return shard === undefined ? `attempt ${attempt}` : `attempt ${attempt} of shard ${shardName(shard)}`;
}

type Task = Pick<Outcome, 'cluster' | 'resource'>;

/** Most tasks that a message names. */
const mostNamed = 3;

/** What is wrong with tasks, by problem: how many have it, and the names of the first. */
class TaskProblems {
  readonly #tasks = new Map<string, { count: number; readonly named: string[] }>();

  add(problem: string, { cluster, resource }: Task): void {
    const tasks = this.#tasks.get(problem) ?? { count: 0, named: [] };
    this.#tasks.set(problem, tasks);
    tasks.count += 1;
    if (tasks.count <= mostNamed) tasks.named.push(`${resource} of cluster ${cluster}`);
  }

  /** `problem: 4 (log of cluster a, manifest of cluster a, log of cluster b, …)` */
  describe(): string[] {
    return [...this.#tasks].map(
      ([problem, { count, named }]) => `${problem}: ${count} (${named.join(', ')}${count > mostNamed ? ', …' : ''})`,
    );
  }
}
