import { type RunOutcome, taskName } from '../run/run-record';
import type { Find } from './finding';
import type { StoredRun } from './read-run';
import { storedOutcomes } from './verify-run';

/**
 * Tells which outcomes of a run some run record says that the seals attest, with the same hash.
 * @param unattested keys of the run's records that are not what the seals say
 */
export function attestedOutcomes(
  { validRecords }: Pick<StoredRun, 'validRecords'>,
  unattested: ReadonlySet<string>,
): (outcome: RunOutcome) => boolean {
  if (unattested.size === 0) return () => true;
  const nameOf = (outcome: Pick<RunOutcome, 'cluster' | 'resource' | 'sha256'>) =>
    `${outcome.sha256 ?? ''} ${taskName(outcome)}`;
  const attested = new Set<string>();
  for (const { record, object } of validRecords)
    if (!unattested.has(object.key)) for (const outcome of record.outcomes) attested.add(nameOf(outcome));
  return (outcome) => attested.has(nameOf(outcome));
}

/** Finds what only records vouch for that are not what the seals say, without reading it. */
export function findUnvouched(find: Find, run: StoredRun, unattested: ReadonlySet<string>): void {
  const isAttested = attestedOutcomes(run, unattested);
  if (unattested.size === 0) return;
  for (const outcome of storedOutcomes(run))
    if (!isAttested(outcome)) find('unvouched', outcome.key, unvouchedBy(unattested));
}

export function unvouchedBy([record]: Iterable<string>): string {
  return `not vouched for by what is sealed, only by ${record}`;
}

export function unvouchedWithout(record: string): string {
  return `not vouched for any more: ${record}, which is sealed, is gone or unreadable`;
}
