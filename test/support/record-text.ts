import { type Outcome, outcomeSchema, type RunRecord, runSchema } from '../../archive/format/run-record';
import { recordLines } from '../../archive/format/run-record-lines';

/** A run record as the collector stores it. */
export function recordText(record: RunRecord): string {
  return [...recordLines(record)].join('');
}

/** Reads a stored run record as any reader of JSON Lines does. @throws Error if it is not one */
export function recordOf(text: string | Buffer): RunRecord {
  const [run, ...lines] = String(text)
    .split('\n')
    .map((line) => (line === '' ? undefined : JSON.parse(line)));
  const { outcomes: count, ...head } = runSchema.parse(run);
  if (lines.pop() !== undefined) throw new Error('the last line of the run record does not end with LF');
  const outcomes = lines.map((line): Outcome => outcomeSchema.parse(line));
  if (outcomes.length !== count) throw new Error(`the run record has ${outcomes.length} of ${count} outcomes`);
  return { ...head, outcomes };
}

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
