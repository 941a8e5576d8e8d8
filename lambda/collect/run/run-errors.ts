import type { ClusterList, Outcome, RunSummary } from '../../../archive/format/run-record';
import { groupReasons, reasonLines } from '../../group-reasons';
import { runEndText } from '../../run-end-text';

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

  /**
   * @param stack for the command that completes the run
   * @param list of clusters that was read, if one was
   */
  constructor(summary: RunSummary, outcomes: readonly Outcome[], stack: DeployedStack, list?: ClusterList) {
    const { run, attempt, dryRun, counts, record, stopped } = summary;
    const { failed, notAttempted, optionalMissing = 0 } = counts;
    const which = dryRun ? `Dry run ${run}` : `Attempt ${attempt} of run ${run}`;
    // Whoever writes a list of clusters may add optional ones, so that what is missing looks little.
    const required = outcomes.filter(({ optional }) => !optional);
    const failures = required.filter(({ outcome }) => outcome === 'failed');
    const [most] = groupReasons(failures);
    const isListRefused = list?.problem !== undefined;
    const lines = [
      `${which} is incomplete ${runEndText({ missing: failed + notAttempted, of: required.length, isListRefused })}: ${failed} failed, ${notAttempted} not attempted${optionalMissing > 0 ? `; ${optionalMissing} optional not counted` : ''}${most === undefined ? '' : `; most of all for: ${most.reason}`}.`,
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
    if (isListRefused) lines.push(...listProblem(list));
    super(lines.join('\n'));
  }
}

/** Everything in force was archived, and the list of clusters from outside is not in force. */
export class ClusterListError extends Error {
  override readonly name = 'ClusterListError';

  constructor(list: ClusterList, { run }: Pick<RunSummary, 'run'>) {
    super([...listProblem(list), `Run ${run} archived everything that is in force all the same.`].join('\n'));
  }
}

/** Nobody is left to collect, neither by the list of clusters from outside nor by the one in force: nothing was asked of the service. */
export class NoClusterListError extends Error {
  override readonly name = 'NoClusterListError';

  constructor(list: ClusterList) {
    super([...listProblem(list), 'Nobody is left to collect: nothing was asked of the service.'].join('\n'));
  }
}

function listProblem({ from, problem, since, versionId }: ClusterList): string[] {
  const version = versionId === undefined ? '' : ` (version ${versionId})`;
  return [
    `The list of clusters from outside is not wholly in force since ${since}.`,
    `${from}${version}: ${problem}`,
    'Mend it: the next attempt reads it again. docs/alarms.md, "List refused", has the steps.',
  ];
}

/** The attempt took longer than Lambda lets one run: a machine slept meanwhile. It leaves no record, as if it had been ended. */
export class AttemptOutlastedError extends Error {
  override readonly name = 'AttemptOutlastedError';

  constructor(run: Date, started: Date) {
    const since = started.toISOString();
    super(
      `Recording the attempt of run ${run.toISOString()} failed: it began at ${since}, longer ago than an attempt may take; the machine slept, or its clock was set. What it archived is kept. Start the run again.`,
    );
  }
}

/** The archive gives no record of the run to be completed. */
export class RunNotFoundError extends Error {
  override readonly name = 'RunNotFoundError';

  /** @param cause why a record could not be read; left out: there are none */
  constructor(run: Date, cause?: unknown) {
    const time = run.toISOString();
    const reason =
      cause === undefined
        ? `the archive has no record of it. Check the time against the keys under runs/; a run that was killed before it could write one is completed by invoking with {"scheduledTime":"${time}"}.`
        : `no record of it could be read. ${cause instanceof Error ? cause.message : String(cause)}. Invoke again when the archive can be read.`;
    super(`Completing run ${time} failed: ${reason}`, { cause });
  }
}
