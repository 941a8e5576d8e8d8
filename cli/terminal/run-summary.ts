import { isLate, isStored, type Run, type RunOutcome } from '../../lambda/verify/read-run';

/** A run as `--json` documents it: times are ISO 8601 in UTC, lengths bytes, durations milliseconds. */
export function summarizeRun(run: Run) {
  return {
    run: run.run.toISOString(),
    status: run.status,
    attempts: run.attempts,
    shards: run.shards,
    counts: run.counts,
    bytes: run.bytes,
    storedBytes: run.storedBytes,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    durationMs: run.durationMs,
    stopped: run.stopped,
    records: run.records,
    badRecords: run.badRecords,
  };
}

/** The outcomes of a run as people look for them: what failed first, then by cluster. */
export function outcomesFailuresFirst({ run, outcomes }: Run): (RunOutcome & { late: boolean })[] {
  const rank = (outcome: RunOutcome) => (isStored(outcome) ? 2 : outcome.outcome === 'failed' ? 0 : 1);
  return outcomes
    .map((outcome) => ({ ...outcome, late: isLate(run, outcome.fetchedAt) }))
    .sort((a, b) => rank(a) - rank(b) || compare(a.cluster, b.cluster) || compare(a.resource, b.resource));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
