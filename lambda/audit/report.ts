import type { Logger } from '@aws-lambda-powertools/logger';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { metricNames } from '../stack-contract';
import type { AuditReporter } from './audit';

/** Reports to the structured log and to CloudWatch's metrics: a line and the metrics per seal. */
export function lambdaReporter(logger: Logger, metrics: Metrics): AuditReporter {
  return {
    sealed(result, figures) {
      const line = { ...result, ...figures };
      if (result.damage === 0) logger.info('archive sealed', line);
      else logger.error('archive sealed, damage found', line);
      const { carriedOver, carriedOverRecords } = result.verified;
      const values = {
        sealsWritten: 1,
        auditFindings: result.damage,
        auditCarriedOver: carriedOver + carriedOverRecords,
        ...figures,
      };
      for (const [name, value] of Object.entries(values))
        metrics.addMetric(metricNames[name as keyof typeof values], MetricUnit.Count, value);
      metrics.publishStoredMetrics();
    },
    notMailed(error) {
      logger.error('people not told', { error });
    },
  };
}
