import type { RunRecord } from '../../lambda/run/run-record';

/** A valid record of the first attempt of a run that had nothing to collect. */
export function emptyRunRecord(run: Date): RunRecord {
  return {
    version: 1,
    run: run.toISOString(),
    attempt: 1,
    trigger: 'schedule',
    startedAt: run.toISOString(),
    finishedAt: run.toISOString(),
    collectorVersion: '1.0.0',
    functionVersion: '$LATEST',
    invocation: 'i',
    configuration: '0'.repeat(64),
    status: 'complete',
    counts: { archived: 0, alreadyArchived: 0, failed: 0, notAttempted: 0 },
    outcomes: [],
  };
}
