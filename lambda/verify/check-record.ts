import { parseObjectKey } from '../archive/archive-layout';
import { countOutcomes, isComplete, isStored, type Outcome, type RunRecord, taskName } from '../run/run-record';
import { isInShard } from '../run/shard';
import type { RunConfiguration } from './stored-configurations';
import { clockSlackMs } from './time-limits';

/**
 * What a run record says that cannot be true together. A record that was altered or put together by hand seldom adds up;
 * whether it agrees with the objects is another check.
 */
export function checkRecord(record: RunRecord): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const outcome of record.outcomes) {
    const name = describeTask(outcome);
    if (seen.has(taskName(outcome))) problems.push(`it has the ${name} twice`);
    seen.add(taskName(outcome));
    if (outcome.outcome === 'would-archive')
      problems.push(`the ${name} would have been archived: only a dry run says that, and it stores nothing`);
    problems.push(...checkKey(record, outcome).map((problem) => `the ${name}: ${problem}`));
  }
  const counted = countOutcomes(record.outcomes);
  for (const name of ['archived', 'alreadyArchived', 'failed', 'notAttempted', 'optionalMissing'] as const)
    if ((record.counts[name] ?? 0) !== (counted[name] ?? 0))
      problems.push(`it counts ${record.counts[name] ?? 0} ${name} and lists ${counted[name] ?? 0}`);
  if ((record.status === 'complete') !== isComplete(counted))
    problems.push(`it says ${record.status}, and its outcomes say otherwise`);
  // A clock may be set back while an attempt is under way.
  if (Date.parse(record.finishedAt) < Date.parse(record.startedAt) - clockSlackMs)
    problems.push('it finished before it started');
  return problems;
}

function checkKey(record: RunRecord, outcome: Outcome): string[] {
  if (!isStored(outcome)) return outcome.key === undefined ? [] : [`${outcome.outcome}, but it has a key`];
  if (outcome.key === undefined) return [`${outcome.outcome}, but it has no key`];
  const name = parseObjectKey(outcome.key);
  const isSame =
    name?.cluster === outcome.cluster && name.resource === outcome.resource && name.run.toISOString() === record.run;
  const problems = isSame ? [] : [`its key is another's: ${outcome.key}`];
  const { sha256, bytes, storedBytes, fetchedAt } = outcome;
  if (outcome.outcome === 'archived' && [sha256, bytes, storedBytes, fetchedAt].includes(undefined))
    problems.push('archived, but without its hash, lengths or time');
  return problems;
}

/** Compares a run record with its configuration: an attempt has an outcome of everything that is configured, and of nothing else. */
export function checkCoverage(record: RunRecord, { tasks }: RunConfiguration): string[] {
  const { outcomes, shard, trigger } = record;
  const isOwn = (cluster: string) => shard === undefined || isInShard(cluster, shard);
  const unknown = outcomes.filter((outcome) => !tasks.has(taskName(outcome)) || !isOwn(outcome.cluster));
  const problems = unknown.length === 0 ? [] : [`it has outcomes that are not configured: ${describeTasks(unknown)}`];
  const wrong = outcomes.filter((one) => tasks.get(taskName(one))?.isOptional === (one.optional !== true));
  if (wrong.length > 0)
    problems.push(`its configuration says otherwise whether these are optional: ${describeTasks(wrong)}`);
  // A person may ask for a few clusters; the schedule asks for all of them.
  if (trigger !== 'schedule') return problems;
  const listed = new Set(outcomes.map(taskName));
  const lacking = [...tasks.values()].filter((task) => isOwn(task.cluster) && !listed.has(taskName(task)));
  if (lacking.length > 0) problems.push(`it has no outcome of what is configured: ${describeTasks(lacking)}`);
  return problems;
}

/** Attempts of one run and shard that are not there although later ones are. */
export interface MissingAttempts {
  readonly first: number;
  readonly last: number;
}

/**
 * Attempts are numbered from 1 without gaps.
 * @param numbers those that are there, in order
 */
export function missingAttempts(numbers: readonly number[]): MissingAttempts[] {
  return numbers.flatMap((number, at) => {
    const before = numbers[at - 1] ?? 0;
    return number > before + 1 ? [{ first: before + 1, last: number - 1 }] : [];
  });
}

/** What the records of one run say of one object. */
interface SaidOfObject {
  archivedBy?: RunRecord;
  hashedBy?: RunRecord;
  sha256?: string;
}

export interface AttemptProblems {
  /** What cannot be true together: an object is written once, by one attempt. */
  readonly contradictions: readonly string[];
  /** Hashes that no record gives the origin of. It may have been in a record that the lifecycle has removed. */
  readonly withoutOrigin: readonly string[];
}

/**
 * Compares the records of one run. Attempts at the same time number themselves as they finish, so that an earlier one may
 * well have found what a later one archived.
 */
export function checkAttempts(records: readonly RunRecord[]): AttemptProblems {
  const contradictions: string[] = [];
  const objects = new Map<string, SaidOfObject>();
  for (const record of records) {
    for (const outcome of record.outcomes) {
      const { key, sha256 } = outcome;
      if (!isStored(outcome) || key === undefined) continue;
      const said = objects.get(key) ?? {};
      objects.set(key, said);
      if (outcome.outcome === 'archived') {
        if (said.archivedBy !== undefined)
          contradictions.push(`${pair(said.archivedBy, record)} both say they archived ${key}`);
        said.archivedBy = record;
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

function pair(one: RunRecord, other: RunRecord): string {
  if (one.shard === undefined && other.shard === undefined) return `attempts ${one.attempt} and ${other.attempt}`;
  return `${name(one)} and ${name(other)}`;
}

function name({ attempt, shard }: RunRecord): string {
  return shard === undefined ? `attempt ${attempt}` : `attempt ${attempt} of shard ${shard.index} of ${shard.count}`;
}

type Task = Pick<Outcome, 'cluster' | 'resource'>;

function describeTask({ cluster, resource }: Task): string {
  return `${resource} of cluster ${cluster}`;
}

/** Most tasks that a message names. */
const mostNamed = 3;

/** `3 (log of cluster a, manifest of cluster a, log of cluster b)`. */
export function describeTasks(tasks: readonly Task[]): string {
  const named = tasks.slice(0, mostNamed).map(describeTask);
  return `${tasks.length} (${named.join(', ')}${tasks.length > mostNamed ? ', …' : ''})`;
}
