import * as z from 'zod';
import { auditMetricNames, metricNames, metricNamespace } from '../../lambda/stack-contract';
import type { RuntimeOutput } from './runtime-process';

/** CloudWatch's Embedded Metric Format: the line is one JSON document, with nothing around it. */
const metricsSchema = z.looseObject({
  _aws: z.object({
    Timestamp: z.int(),
    CloudWatchMetrics: z.tuple([
      z.object({
        Namespace: z.literal(metricNamespace),
        Dimensions: z.tuple([z.tuple([z.literal('service')])]),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
      }),
    ]),
  }),
  service: z.string(),
});

/** A log line. Without level and timestamp, Lambda would use INFO and the time of arrival. */
const lineSchema = z.looseObject({
  level: z.enum(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']),
  timestamp: z.iso.datetime(),
  message: z.string(),
  function_request_id: z.string(),
});

/** The runtime client's log line for an error that the handler throws. */
const errorSchema = z.looseObject({
  level: z.literal('ERROR'),
  timestamp: z.iso.datetime(),
  requestId: z.string(),
  message: z.looseObject({ name: z.string(), errorMessage: z.string(), stackTrace: z.array(z.string()) }),
});

/** Only the last attempt of a run of the schedule has the share that is missing; only one that read a list says who is leaving. */
const others: readonly string[] = [
  ...Object.values(auditMetricNames),
  metricNames.missingPercent,
  metricNames.listRefused,
  metricNames.manyLeaving,
  metricNames.heartbeatsLost,
];
const metricsOfARun = Object.values(metricNames).filter((name) => !others.includes(name));

/** The log of a function as CloudWatch receives it, parsed. */
export interface LogEvents {
  readonly metrics: readonly Readonly<Record<string, unknown>>[];
  readonly lines: readonly z.infer<typeof lineSchema>[];
  readonly errors: readonly z.infer<typeof errorSchema>[];
}

/**
 * Parses every event. Fails if a metric has no value.
 * @throws ZodError or SyntaxError for an event that Lambda or CloudWatch would not accept
 */
export function readLogEvents(output: RuntimeOutput): LogEvents {
  const events = output.lines.map((line) => JSON.parse(line) as object);
  const metrics = events.filter((event) => '_aws' in event).map((event) => metricsSchema.parse(event));
  for (const { _aws, ...values } of metrics) {
    const declared = _aws.CloudWatchMetrics[0].Metrics.map(({ Name }) => Name);
    expect(declared.toSorted()).toEqual(metricsOfARun.toSorted());
    for (const name of declared) expect([name, typeof values[name]]).toEqual([name, 'number']);
  }
  return {
    metrics,
    lines: events.filter((event) => !('_aws' in event)).map((event) => lineSchema.parse(event)),
    errors: output.messages.map((message) => errorSchema.parse(JSON.parse(message))),
  };
}
