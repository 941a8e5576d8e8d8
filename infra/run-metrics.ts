import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { metricNames, metricNamespace } from '../lambda/stack-contract';

/** The metrics a run emits, as alarms and dashboard read them. */
export class RunMetrics {
  /** @param service the stack's name, the one dimension of these metrics */
  constructor(private readonly service: string) {}

  /** One of them, summed up unless the options say otherwise. */
  of(name: keyof typeof metricNames, options: cloudwatch.MetricOptions = {}): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: metricNamespace,
      metricName: metricNames[name],
      dimensionsMap: { service: this.service },
      statistic: 'Sum',
      ...options,
    });
  }
}
