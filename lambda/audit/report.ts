import type { Logger } from '@aws-lambda-powertools/logger';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { metricNames } from '../stack-contract';
import type { AuditFigures, AuditReporter, AuditResult } from './audit';

/** Reports to the structured log and to CloudWatch's metrics: a line and the metrics per seal. */
export class LambdaAuditReporter implements AuditReporter {
  readonly #logger: Logger;
  readonly #metrics: Metrics;

  constructor(logger: Logger, metrics: Metrics) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  sealed(result: AuditResult, figures: AuditFigures): void {
    const line = { ...result, ...figures };
    if (result.damage === 0) this.#logger.info('archive sealed', line);
    else this.#logger.error('archive sealed, damage found', line);
    const { carriedOver, carriedOverRecords } = result.verified;
    const metrics = this.#metrics;
    metrics.addMetric(metricNames.sealsWritten, MetricUnit.Count, 1);
    metrics.addMetric(metricNames.auditFindings, MetricUnit.Count, result.damage);
    metrics.addMetric(metricNames.auditCarriedOver, MetricUnit.Count, carriedOver + carriedOverRecords);
    metrics.addMetric(metricNames.stalestHours, MetricUnit.Count, figures.stalestHours);
    metrics.addMetric(metricNames.logGaps, MetricUnit.Count, figures.logGaps);
    metrics.addMetric(metricNames.frozenLogs, MetricUnit.Count, figures.frozenLogs);
    metrics.publishStoredMetrics();
  }

  notMailed(error: unknown): void {
    this.#logger.error('people not told', { error });
  }
}
