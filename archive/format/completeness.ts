import type { Counts, Outcome } from './run-record';

/** Counts the outcomes of an attempt, or of a run; what is optional and missing is counted apart. */
export function countOutcomes(outcomes: Iterable<Outcome>): Counts {
  const counts = { archived: 0, alreadyArchived: 0, failed: 0, notAttempted: 0 };
  let optionalMissing = 0;
  let wouldArchive = 0;
  let doubts = 0;
  for (const { outcome, optional, doubt } of outcomes) {
    if (doubt !== undefined) doubts += 1;
    if (outcome === 'archived') counts.archived += 1;
    else if (outcome === 'already-archived') counts.alreadyArchived += 1;
    else if (outcome === 'would-archive') wouldArchive += 1;
    else if (optional) optionalMissing += 1;
    else if (outcome === 'failed') counts.failed += 1;
    else counts.notAttempted += 1;
  }
  return {
    ...counts,
    ...(optionalMissing > 0 && { optionalMissing }),
    ...(doubts > 0 && { doubts }),
    ...(wouldArchive > 0 && { wouldArchive }),
  };
}

/** Whether everything an attempt covers is archived, or would be; what is optional may be missing. */
export function isComplete({ failed, notAttempted }: Counts): boolean {
  return failed === 0 && notAttempted === 0;
}
