import type { Logger } from '@aws-lambda-powertools/logger';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Outcome, RunSummary } from '../../../archive/format/run-record';
import { groupReasons } from '../../group-reasons';
import { logMessages, metricNames } from '../../stack-contract';

/** Receives what happens during an attempt. */
export interface Reporter {
  /** One cluster x resource is done. */
  outcome(outcome: Outcome): void;
  /** One cluster x resource is asked for again. @param requests so far, this one included */
  askedAgain(task: Pick<Outcome, 'cluster' | 'resource'>, requests: number): void;
  /** The service asked for fewer requests: 429, or 503 with a Retry-After. */
  throttled(): void;
  /** The run goes on, and whoever looks into it wants to know. */
  warn(message: string, error?: unknown): void;
  /**
   * The attempt is over and its run record written.
   * @param missingBefore what earlier attempts of the run said is missing, of what this attempt covers
   */
  finished(summary: RunSummary, outcomes: readonly Outcome[], missingBefore: number): void;
}

/**
 * Reports to the structured log and to CloudWatch's metrics: a line per failure, doubt and repeated request, a line and the metrics per attempt. A
 * dry run has a line per good answer too, and no metrics, which would falsify the dashboard and the alarms.
 */
export class LambdaReporter implements Reporter {
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #scheduled: boolean;
  #throttled = 0;
  #leaving: number | undefined;

  /** @param scheduled whether the schedule started the run */
  constructor(logger: Logger, metrics: Metrics, scheduled: boolean) {
    this.#logger = logger;
    this.#metrics = metrics;
    this.#scheduled = scheduled;
  }

  outcome(outcome: Outcome): void {
    if (outcome.doubt !== undefined) this.#logger.warn(logMessages.doubt, { ...outcome });
    // No run record will have it.
    else if (outcome.outcome === 'would-archive') this.#logger.info(logMessages.wouldArchive, { ...outcome });
    if (outcome.outcome !== 'failed') return;
    const [group] = groupReasons([outcome]);
    const line = { ...outcome, reason: group?.reason };
    if (outcome.optional) this.#logger.warn(logMessages.failure, line);
    else this.#logger.error(logMessages.failure, line);
  }

  askedAgain(task: Pick<Outcome, 'cluster' | 'resource'>, requests: number): void {
    this.#logger.info(logMessages.again, { ...task, requests });
  }

  throttled(): void {
    this.#throttled += 1;
  }

  warn(message: string, error?: unknown): void {
    this.#logger.warn(message, error === undefined ? {} : { error });
  }

  /** A list of clusters from outside was read. @param many how many required clusters are leaving; 0 if they are few */
  leaving(many: number): void {
    this.#leaving = many;
  }

  finished(summary: RunSummary, outcomes: readonly Outcome[], missingBefore: number): void {
    const line = { ...summary, scheduled: this.#scheduled, throttled: this.#throttled };
    if (summary.status === 'complete') this.#logger.info(logMessages.run, line);
    else this.#logger.warn(logMessages.run, line);
    if (!summary.dryRun) this.#publish(summary, outcomes, missingBefore);
  }

  #publish(summary: RunSummary, outcomes: readonly Outcome[], missingBefore: number): void {
    const written = outcomes.filter(({ outcome }) => outcome === 'archived');
    const sum = (member: 'bytes' | 'receivedBytes' | 'storedBytes') =>
      written.reduce((total, outcome) => total + (outcome[member] ?? 0), 0);
    const { counts } = summary;
    const metrics = this.#metrics;
    metrics.addMetric(metricNames.archived, MetricUnit.Count, counts.archived);
    metrics.addMetric(metricNames.failed, MetricUnit.Count, counts.failed);
    metrics.addMetric(metricNames.missing, MetricUnit.Count, counts.failed + counts.notAttempted - missingBefore);
    // What an earlier attempt has archived was counted by it, and no request was made for it again.
    const doubts = outcomes.filter(({ doubt, requests }) => doubt !== undefined && requests !== undefined).length;
    metrics.addMetric(metricNames.doubts, MetricUnit.Count, doubts);
    if (this.#leaving !== undefined) metrics.addMetric(metricNames.manyLeaving, MetricUnit.Count, this.#leaving);
    metrics.addMetric(metricNames.bytes, MetricUnit.Bytes, sum('bytes'));
    metrics.addMetric(metricNames.receivedBytes, MetricUnit.Bytes, sum('receivedBytes'));
    metrics.addMetric(metricNames.storedBytes, MetricUnit.Bytes, sum('storedBytes'));
    metrics.addMetric(metricNames.throttled, MetricUnit.Count, this.#throttled);
    // A shard does not know the others: the state machine counts their run.
    metrics.addMetric(metricNames.scheduled, MetricUnit.Count, this.#scheduled && summary.shard === undefined ? 1 : 0);
    metrics.publishStoredMetrics();
  }
}
