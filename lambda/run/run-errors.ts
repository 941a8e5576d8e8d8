import { groupReasons, reasonLines } from './group-reasons';
import type { Outcome, RunSummary } from './run-record';

/** Failures that the error names one by one; the record has them all. */
const namedFailures = 10;

/** Longest reason quoted per failure, in characters. */
const quotedCharacters = 400;

/** Where the collector is deployed, as its command line takes it. */
export interface DeployedStack {
  readonly name: string;
  readonly region: string;
}

/** Everything was attempted and not everything is archived; what is, is in the archive and stays. */
export class RunIncompleteError extends Error {
  override readonly name = 'RunIncompleteError';

  /** @param stack for the command that completes the run */
  constructor(summary: RunSummary, outcomes: readonly Outcome[], stack: DeployedStack) {
    const { run, attempt, dryRun, counts, record, stopped } = summary;
    const { failed, notAttempted, optionalMissing = 0 } = counts;
    const which = dryRun ? `Dry run ${run}` : `Attempt ${attempt} of run ${run}`;
    const failures = outcomes.filter(({ outcome, optional }) => outcome === 'failed' && !optional);
    const [most] = groupReasons(failures);
    const lines = [
      `${which} is incomplete: ${failed + notAttempted} of ${outcomes.length} not archived (${failed} failed, ${notAttempted} not attempted${optionalMissing > 0 ? `; ${optionalMissing} optional not counted` : ''})${most === undefined ? '' : `, most of all for: ${most.reason}`}.`,
    ];
    if (stopped !== undefined) lines.push(`It ended early: ${stopped}`);
    lines.push(...reasonLines('failed', failures));
    for (const { cluster, resource, error = '' } of failures.slice(0, namedFailures))
      lines.push(`- ${resource} of cluster ${cluster}: ${error.slice(0, quotedCharacters)}`);
    if (failures.length > namedFailures) lines.push(`- and ${failures.length - namedFailures} more`);
    if (record !== undefined) {
      lines.push(`Run record with every outcome: ${record}`);
      lines.push('The next attempt collects what is missing. After the last attempt, complete the run with');
      lines.push(`  npm run collector -- run --stack ${stack.name} --region ${stack.region} --run ${run}`);
      lines.push(`or by invoking with {"run":"${run}"}.`);
    }
    super(lines.join('\n'));
  }
}

/** The archive gives no record of the run to be completed. */
export class RunNotFoundError extends Error {
  override readonly name = 'RunNotFoundError';

  /** @param unreadable why records could not be read; empty: there are none */
  constructor(run: Date, unreadable: readonly unknown[]) {
    const time = run.toISOString();
    const [cause] = unreadable;
    const reason =
      cause === undefined
        ? `the archive has no record of it. Check the time against the keys under runs/; a run that was killed before it could write one is completed by invoking with {"scheduledTime":"${time}"}.`
        : `no record of it could be read. ${cause instanceof Error ? cause.message : String(cause)}. Invoke again when the archive can be read.`;
    super(`Completing run ${time} failed: ${reason}`, { cause });
  }
}
