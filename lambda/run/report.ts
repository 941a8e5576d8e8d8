import type { Logger } from '@aws-lambda-powertools/logger';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMessages, metricNames } from '../stack-contract';
import type { Outcome, RunSummary } from './run-record';

/** What is known beside the outcomes. */
export interface RunFacts {
  readonly scheduled: boolean;
  readonly keyRejected: boolean;
  /** Answers that asked for fewer requests. */
  readonly throttled: number;
}

/** One log line per failure, as it happens. */
export function reportOutcome(logger: Logger, outcome: Outcome): void {
  if (outcome.outcome === 'failed') logger.error(logMessages.failure, { ...outcome });
}

/** One log line per run, and its metrics. A dry run has no metrics: it would make the dashboard and the alarms lie. */
export function reportRun(
  logger: Logger,
  metrics: Metrics,
  summary: RunSummary,
  outcomes: readonly Outcome[],
  { scheduled, keyRejected, throttled }: RunFacts,
): void {
  const line = { ...summary, scheduled, keyRejected, throttled };
  if (summary.status === 'complete') logger.info(logMessages.run, line);
  else logger.warn(logMessages.run, line);
  if (summary.dryRun) return;
  const written = outcomes.filter(({ outcome }) => outcome === 'archived');
  const sum = (member: 'bytes' | 'storedBytes') =>
    written.reduce((total, outcome) => total + (outcome[member] ?? 0), 0);
  const { counts } = summary;
  metrics.addMetric(metricNames.archived, MetricUnit.Count, counts.archived);
  metrics.addMetric(metricNames.alreadyArchived, MetricUnit.Count, counts.alreadyArchived);
  metrics.addMetric(metricNames.failed, MetricUnit.Count, counts.failed);
  metrics.addMetric(metricNames.notAttempted, MetricUnit.Count, counts.notAttempted);
  metrics.addMetric(metricNames.bytes, MetricUnit.Bytes, sum('bytes'));
  metrics.addMetric(metricNames.storedBytes, MetricUnit.Bytes, sum('storedBytes'));
  metrics.addMetric(metricNames.throttled, MetricUnit.Count, throttled);
  metrics.addMetric(metricNames.keyRejected, MetricUnit.Count, keyRejected ? 1 : 0);
  // A shard cannot know of the others: what started them counts their run.
  metrics.addMetric(metricNames.scheduled, MetricUnit.Count, scheduled && summary.shard === undefined ? 1 : 0);
  metrics.addMetric(metricNames.duration, MetricUnit.Milliseconds, summary.durationMs);
  metrics.publishStoredMetrics();
}
