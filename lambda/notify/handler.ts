import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { readVariables } from '../environment';
import { failureVariables, metricNames, metricNamespace } from '../stack-contract';
import { failureMail } from './failure-mail';
import { type LostRun, lostRunIn } from './lost-run';
import { SnsMailer } from './sns-mailer';

const names = readVariables(failureVariables, process.env);
const toPage = new SnsMailer(names.TOPIC_ARN);
const toInform = new SnsMailer(names.RUN_TOPIC_ARN);
const pageFromPercent = Number(names.PAGE_FROM_PERCENT);
const metrics = new Metrics({ namespace: metricNamespace });

/**
 * What Lambda calls about each event and each execution that failed for good: people get text, machines the record. Of a run
 * of the schedule it counts first what is missing: this is where exactly one event of each lost run arrives, whatever became
 * of its attempts.
 */
export async function handler(event: unknown): Promise<void> {
  const lost = lostRunIn(event);
  if (lost?.isOfSchedule) count(lost);
  const isQuiet = lost !== undefined && (!lost.isOfSchedule || lost.missingPercent < pageFromPercent);
  await (isQuiet ? toInform : toPage).send(failureMail(event, names.POWERTOOLS_SERVICE_NAME), event);
}

function count({ missingPercent, isListRefused }: LostRun): void {
  metrics.addMetric(metricNames.missingPercent, MetricUnit.Percent, missingPercent);
  metrics.addMetric(metricNames.listRefused, MetricUnit.Count, isListRefused ? 1 : 0);
  metrics.publishStoredMetrics();
}
