import { parseObjectKey } from '../archive/archive-layout';
import { countOutcomes, isComplete, isStored, type Outcome, type RunRecord, taskName } from '../run/run-record';

/**
 * What a run record says that cannot be true together. A record that was altered or put together by hand seldom adds up;
 * whether it agrees with the objects is another check.
 */
export function checkRecord(record: RunRecord): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const outcome of record.outcomes) {
    const name = `${outcome.resource} of cluster ${outcome.cluster}`;
    if (seen.has(taskName(outcome))) problems.push(`it has the ${name} twice`);
    seen.add(taskName(outcome));
    if (outcome.outcome === 'would-archive')
      problems.push(`the ${name} would have been archived: that is no stored run`);
    problems.push(...checkKey(record, outcome).map((problem) => `the ${name}: ${problem}`));
  }
  const counted = countOutcomes(record.outcomes);
  for (const name of ['archived', 'alreadyArchived', 'failed', 'notAttempted'] as const)
    if (record.counts[name] !== counted[name])
      problems.push(`it counts ${record.counts[name]} ${name} and lists ${counted[name]}`);
  if ((record.status === 'complete') !== isComplete(counted))
    problems.push(`it says ${record.status}, and its outcomes say otherwise`);
  if (record.finishedAt < record.startedAt) problems.push('it finished before it started');
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

/**
 * Attempts of one run and shard that must have been there and are not: they are numbered from 1 without gaps.
 * @param numbers those that are there, in order
 * @param mayLackFirst whether the lifecycle may have removed the first by now
 */
export function missingAttempts(numbers: readonly number[], mayLackFirst: boolean): number[] {
  const first = mayLackFirst ? (numbers[0] ?? 1) : 1;
  const last = numbers.at(-1) ?? 0;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at).filter(
    (n) => !numbers.includes(n),
  );
}

/**
 * What the records of one run say that cannot be true together: an object is written once.
 * @param records in the order of their attempts
 */
export function checkAttempts(records: readonly RunRecord[]): string[] {
  const problems: string[] = [];
  const written = new Map<string, { attempt: number; sha256: string | undefined }>();
  for (const { attempt, outcomes } of records) {
    for (const outcome of outcomes) {
      if (!isStored(outcome) || outcome.key === undefined) continue;
      const before = written.get(outcome.key);
      if (before !== undefined && outcome.outcome === 'archived')
        problems.push(`attempts ${before.attempt} and ${attempt} both say they archived ${outcome.key}`);
      else if (before?.sha256 !== undefined && outcome.sha256 !== undefined && before.sha256 !== outcome.sha256)
        problems.push(`attempts ${before.attempt} and ${attempt} give ${outcome.key} different hashes`);
      if (before === undefined) written.set(outcome.key, { attempt, sha256: outcome.sha256 });
    }
  }
  return problems;
}
