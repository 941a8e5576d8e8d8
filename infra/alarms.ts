import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { functionTimeoutSeconds } from '../lambda/time-limits';
import * as windows from './alarm-windows';
import type { Collector } from './collector';
import type { Parts } from './parts';

const { hoursText } = windows;

/** Alarms by the id of their construct; undefined or false: not in this stack. */
export type Alarms = Record<string, AlarmDefinition | undefined | false>;

export interface AlarmDefinition {
  /** Also the heading in docs/alarms.md that says more. */
  readonly title: string;
  /** Whether it wakes people; left out: it informs them. */
  readonly pages?: true;
  readonly means: string;
  readonly look: string;
  readonly act: string;
  readonly props: cloudwatch.AlarmProps;
  /** Hours after its creation in which it is quiet; left out: none. */
  readonly warmUpHours?: number | undefined;
}

const period = Duration.seconds(windows.alarmPeriodSeconds);
const closeToLimitMs = windows.closeToLimitShare * functionTimeoutSeconds * 1000;

/**
 * @param marginHours how long after the longest gap of the schedule a run counts as missing
 * @param missingHours without a run after which one is missing; undefined: no alarm says so
 */
export function runAlarms(parts: Parts, marginHours: number, missingHours: number | undefined): Alarms {
  const { collector, stateMachine, archive, failures, schedule } = parts;
  const stayHours = windows.stayHours(schedule.gap, marginHours);
  return {
    RunFailed: {
      pages: true,
      title: 'Run failed for good',
      means: 'The last attempt of a run failed: part of the fleet is not archived for the time of that run.',
      ...(stateMachine === undefined
        ? {
            look: 'The message with the error on this topic, the failures on the dashboard, the run record it names.',
            act: 'Fix the cause, then complete the run with the command in the message, or by hand with the event {"run": "<time>"}.',
          }
        : {
            look: 'The failed execution of the state machine, whose cause names the shards; the failures on the dashboard.',
            act: 'Fix the cause, then complete the run with the command in the cause. Redrive repeats only the failed end.',
          }),
      props: raisedBy(failedRuns(parts), stayHours),
    },
    /*
     * The collector itself counts the runs of its schedule. Lambda's metric Invocations also counts starts by hand,
     * retries and attempts that die before their run record, so a schedule that stopped firing could go unnoticed. With
     * shards, the state machine counts a run after all shards have written their records; one shard alone proves nothing.
     */
    RunMissing: missingHours !== undefined && {
      pages: true,
      title: 'Run missing',
      means:
        `No run of the schedule has written ${stateMachine === undefined ? 'its record' : 'the records of all its shards'} ` +
        `for ${hoursText(missingHours)}. The longest gap of the schedule is ${hoursText(schedule.gap.hours)}.`,
      look: 'The schedule (is it enabled? are its years over?), the dead-letter queue, the log group for attempts that died.',
      act: 'Bring the schedule back. Then make up for the run: npm run collector -- run --run TIME --without-record.',
      props: missingFor(missingHours, collector.metric('scheduled', { period }), 'Runs of the schedule'),
      warmUpHours: missingHours,
    },
    DeliveryLost: {
      title: 'Delivery lost',
      means: 'The scheduler could not start a run and gave up: its event is in the dead-letter queue.',
      look: 'The attributes of the message in the queue: they say why the invocation was refused.',
      act: 'Fix the cause, complete the run by hand with the event in the message, then delete the message.',
      props: whileHolding(schedule.deadLetterQueue),
    },
    CloseToLimit: {
      title: 'Run close to its time limit',
      means: `An attempt took at least ${closeToLimitMs / 60_000} of its ${functionTimeoutSeconds / 60} minutes.`,
      look: 'Duration, bytes and throttling on the dashboard: more clusters, larger logs, or a slower service.',
      act: `Raise limits.concurrency if the service can take more requests, or ${stateMachine === undefined ? 'set' : 'raise'} shards.`,
      props: raisedBy(collector.function.metricDuration({ statistic: 'Maximum', period }), stayHours, closeToLimitMs),
    },
    KeyRejected: {
      pages: true,
      title: 'Key rejected',
      means: 'The service answered 401 or 403 to cluster after cluster, so the run ended early.',
      look: 'The failures on the dashboard. Ask the team of the service whether the key expired or lost its rights.',
      act: 'Put the new key into the secret; no deployment is needed. Then complete the run by hand.',
      props: raisedBy(collector.metric('keyRejected', { statistic: 'Maximum', period }), stayHours),
    },
    Throttled: {
      title: 'Service throttling us',
      means: `At least ${windows.throttledPercent} % of the answers of the service asked for fewer requests.`,
      look: 'Throttling and duration on the dashboard. Ask the team of the service which rate it accepts.',
      act: 'Lower limits.concurrency or set limits.requestsPerSecond, and deploy.',
      props: raisedBy(throttledShare(collector), stayHours, windows.throttledPercent),
    },
    MessageLost: {
      title: 'Failure message lost',
      means: 'Something failed for good, and the message about it reached nobody.',
      look: 'The log of the function FailureMessages; the policies of the topic and its key; the roles of the functions.',
      act: 'Bring them back. The queue FailureMessagesUntold keeps the records; the dashboard shows what failed.',
      props: raisedBy(failures.untold(collector.function, period), stayHours),
    },
    CopyFailed: archive.failedReplications && {
      title: 'Copy failed',
      means: 'S3 could not copy an object of the archive to the bucket of archive.replicateTo, and does not try again.',
      look: 'The policies of that bucket and of its key, its versions and its Object Lock, the role of the replication.',
      act: 'Fix the cause, then copy what is missing with S3 Batch Replication.',
      props: raisedBy(archive.failedReplications.with({ period }), stayHours),
    },
  };
}

/**
 * Counts the runs that nothing will retry any more: dropped events, because Lambda drops one after its last attempt. Errors
 * would also count attempts that a retry repairs.
 */
function failedRuns({ collector, stateMachine }: Parts): cloudwatch.IMetric {
  const dropped = collector.function.metric('AsyncEventsDropped', { statistic: 'Sum', period });
  if (stateMachine === undefined) return dropped;
  return new cloudwatch.MathExpression({
    // Events are dropped only after a start of the function by hand. SUM passes over a metric without data.
    expression: 'SUM([dropped, failed, timedOut])',
    usingMetrics: {
      dropped,
      failed: stateMachine.metricFailed({ period }),
      timedOut: stateMachine.metricTimedOut({ period }),
    },
    label: 'Runs failed for good',
    period,
  });
}

function throttledShare(collector: Collector): cloudwatch.IMetric {
  return new cloudwatch.MathExpression({
    expression: `IF(throttled >= ${windows.leastThrottledAnswers}, 100 * throttled / (throttled + archived + failed), 0)`,
    usingMetrics: {
      throttled: collector.metric('throttled', { period }),
      archived: collector.metric('archived', { period }),
      failed: collector.metric('failed', { period }),
    },
    label: 'Throttled answers (%)',
    period,
  });
}

/** An alarm that one period raises. @param periods after which it is over */
export function raisedBy(metric: cloudwatch.IMetric, periods: number, threshold = 1): cloudwatch.AlarmProps {
  return {
    metric,
    threshold,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: periods,
    datapointsToAlarm: 1,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  };
}

/** An alarm that stays as long as a dead-letter queue holds a message. */
export function whileHolding(queue: IQueue): cloudwatch.AlarmProps {
  const held = queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: Duration.minutes(5) });
  // SQS stops reporting a queue that nobody uses for hours, although its messages are still there.
  return { ...raisedBy(held, 1), datapointsToAlarm: undefined, treatMissingData: cloudwatch.TreatMissingData.IGNORE };
}

/** An alarm about something that did not happen for some hours. */
export function missingFor(hours: number, count: cloudwatch.IMetric, label: string): cloudwatch.AlarmProps {
  // FILL makes every hour a data point. Without it CloudWatch fetches more hours than the window has ("evaluation
  // range"), and an old run among them keeps the alarm silent (CloudWatch user guide, "Configuring how CloudWatch
  // alarms treat missing data"). Where the metric has no data point at all, the missing data is breaching.
  const expression = 'FILL(scheduled, 0)';
  const filled = new cloudwatch.MathExpression({ expression, usingMetrics: { scheduled: count }, label, period });
  return {
    ...raisedBy(filled, hours),
    comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    datapointsToAlarm: hours,
    treatMissingData: cloudwatch.TreatMissingData.BREACHING,
  };
}
