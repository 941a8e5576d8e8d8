import { isInShard, shardName } from '../archive/archive-layout';
import { resourceNames } from '../resources';
import { countOutcomes, isComplete } from '../run/completeness';
import { hasOwnKey } from '../run/merged-outcomes';
import { isStored, type Outcome, type StoredRecord, taskName } from '../run/run-record';
import { clockSlackMs, longestAttemptMs } from '../time-limits';
import type { RunConfiguration } from './stored-configurations';

/**
 * What a run record says that cannot be true together, or is not what its configuration says. A record that was altered or
 * put together by hand seldom adds up; whether it agrees with the objects is another check.
 * @param configuration undefined: it cannot be read, which is said already
 */
export function checkRecord(record: StoredRecord, configuration: RunConfiguration | undefined): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  const [unknown, wrong, lacking] = [new TaskList(), new TaskList(), new TaskList()];
  const isOwn = ({ cluster }: Task) => isInShard(cluster, record.shard);
  const checked = function* (): Generator<Outcome> {
    for (const outcome of record.outcomes) {
      const name = describeTask(outcome);
      if (seen.has(taskName(outcome))) problems.push(`it has the ${name} twice`);
      seen.add(taskName(outcome));
      if (outcome.outcome === 'would-archive')
        problems.push(`the ${name} would have been archived: only a dry run says that, and it stores nothing`);
      for (const problem of checkKey(record, outcome)) problems.push(`the ${name}: ${problem}`);
      if (!isFetchedMeanwhile(record, outcome))
        problems.push(`the ${name}: fetched before it started, or after it finished`);
      const configured = configuration?.clusters.get(outcome.cluster)?.[outcome.resource];
      if (configuration !== undefined && (configured === undefined || !isOwn(outcome))) unknown.add(outcome);
      if (configured?.isOptional === (outcome.optional !== true)) wrong.add(outcome);
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
    for (const task of tasksOf(configuration.clusters)) if (isOwn(task) && !seen.has(taskName(task))) lacking.add(task);
  return [
    ...problems,
    ...unknown.describe('it has outcomes that are not configured'),
    ...wrong.describe('its configuration says otherwise whether these are optional'),
    ...lacking.describe('it has no outcome of what is configured'),
  ];
}

/** A record says when it archived an object: the lifecycle excuses by that time what is gone. */
function isFetchedMeanwhile({ startedAt, finishedAt }: StoredRecord, { outcome, fetchedAt }: Outcome): boolean {
  if (outcome !== 'archived' || fetchedAt === undefined) return true;
  const time = Date.parse(fetchedAt);
  return time >= Date.parse(startedAt) - clockSlackMs && time <= Date.parse(finishedAt) + clockSlackMs;
}

function checkKey(record: StoredRecord, outcome: Outcome): string[] {
  if (!isStored(outcome)) return outcome.key === undefined ? [] : [`${outcome.outcome}, but it has a key`];
  if (outcome.key === undefined) return [`${outcome.outcome}, but it has no key`];
  const problems = hasOwnKey(outcome, new Date(record.run)) ? [] : [`its key is another's: ${outcome.key}`];
  const { sha256, bytes, storedBytes, fetchedAt } = outcome;
  if (outcome.outcome === 'archived' && [sha256, bytes, storedBytes, fetchedAt].includes(undefined))
    problems.push('archived, but without its hash, lengths or time');
  return problems;
}

/** Every cluster x resource of a configuration. */
function* tasksOf(clusters: RunConfiguration['clusters']): Generator<Task> {
  for (const [cluster, own] of clusters)
    for (const resource of resourceNames) if (own[resource] !== undefined) yield { cluster, resource };
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

function describeTask({ cluster, resource }: Task): string {
  return `${resource} of cluster ${cluster}`;
}

/** Most tasks that a message names. */
const mostNamed = 3;

/** Counts tasks, and keeps the names of the first. */
class TaskList {
  readonly #named: string[] = [];
  #count = 0;

  add(task: Task): void {
    this.#count += 1;
    if (this.#count <= mostNamed) this.#named.push(describeTask(task));
  }

  /** `problem: 3 (log of cluster a, manifest of cluster a, log of cluster b)`; nothing if there are none. */
  describe(problem: string): string[] {
    if (this.#count === 0) return [];
    return [`${problem}: ${this.#count} (${this.#named.join(', ')}${this.#count > mostNamed ? ', …' : ''})`];
  }
}
