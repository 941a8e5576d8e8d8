import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { functionTimeoutSeconds } from '../archive/format/clocks';
import * as windows from './alarm-windows';
import type { Collector } from './collector';
import type { Parts } from './parts';
import type { ReplicationMetrics } from './replication';

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
}

const period = Duration.seconds(windows.alarmPeriodSeconds);
const closeToLimitMs = windows.closeToLimitShare * functionTimeoutSeconds * 1000;

/**
 * @param marginHours how long after the longest gap of the schedule a run counts as missing
 * @param missingHours without a run after which one is missing; undefined: no alarm reports it
 */
export function runAlarms(parts: Parts, marginHours: number, missingHours: number | undefined): Alarms {
  const { config, collector, stateMachine, archive, audit, failures, schedule, deadLetterQueue } = parts;
  const stayHours = windows.stayHours(schedule.gap, marginHours);
  const { missingPercent } = config.alerts.pageFrom ?? {};
  const missing = missingShare(parts);
  const failed =
    stateMachine === undefined
      ? {
          look: 'The message with the error, sent at the same time; the failures on the dashboard; the run record it names.',
          act: 'Fix the cause, then complete the run with the command in the message, or by hand with the event {"run": "<time>"}.',
        }
      : {
          look: 'The failed execution of the state machine, whose cause names the shards; the failures on the dashboard.',
          act: 'Fix the cause, then complete the run with the command in the cause. Redrive repeats only the failed end.',
        };
  return {
    // One alarm at two thresholds: any share, and the one that pages.
    RunFailed: {
      ...(missingPercent === undefined && { pages: true }),
      title: 'Run failed for good',
      means: 'A run of the schedule ended for good, and part of the fleet is not archived for its time.',
      ...failed,
      props: { ...raisedBy(missing, stayHours, 0), comparisonOperator: above },
    },
    ManyMissing: missingPercent !== undefined && {
      pages: true,
      title: 'Many clusters missing',
      means: `A run of the schedule ended for good, and at least ${missingPercent} % of the fleet is not archived for its time, or nobody knows how much.`,
      ...failed,
      props: raisedBy(missing, stayHours, missingPercent),
    },
    ListRefused: config.clusterList !== undefined && {
      title: 'List refused',
      means: 'The list of clusters from outside was refused: runs go on with the list in force.',
      look: 'The message with the error, sent at the same time: it says what is wrong with the list, and since when.',
      act: 'Mend what writes the list. The next run reads it again.',
      props: raisedBy(collector.metric('listRefused', { statistic: 'Maximum', period }), stayHours),
    },
    ManyLeaving: config.clusterList !== undefined && {
      pages: true,
      title: 'Many clusters leaving',
      means:
        'A tenth or more of the clusters that were required a day ago, and at least three, are not on the list of clusters from outside any ' +
        'more, or less is asked of them. Those that are leaving are collected until runs have named them on ' +
        `${config.clusterList.leaveAfterDays} dates, and then not any more.`,
      look: 'npm run collector -- runs names them; what wrote the list, and its versions.',
      act: 'If it is a mistake, bring back the last good list. If it is meant, do nothing.',
      props: raisedBy(collector.metric('manyLeaving', { statistic: 'Maximum', period }), stayHours),
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
      look: 'The schedule (is it enabled, and has its cron year not passed?), the dead-letter queue, the log for attempts that died.',
      act: 'Repair the schedule. Then collect the missed run late: npm run collector -- run --run TIME --without-record.',
      props: missingFor(missingHours, collector.metric('scheduled', { period }), 'Runs of the schedule'),
    },
    DeliveryLost: {
      title: 'Delivery lost',
      means:
        'The dead-letter queue holds a message: the scheduler could not start a run or an audit, or a failure could not be reported.',
      look: 'The message in the queue: its attributes or its body say what was refused, and why.',
      act: 'Fix the cause, start the run or the audit with the event in the message, then delete the message.',
      props: whileHolding(deadLetterQueue),
    },
    CloseToLimit: {
      title: 'Run close to a limit',
      means:
        `An attempt took at least ${closeToLimitMs / 60_000} of its ${functionTimeoutSeconds / 60} minutes, or the service asked for ` +
        `fewer requests in at least ${windows.throttledPercent} % of its answers.`,
      look: 'Duration, bytes and throttling on the dashboard: more clusters, larger logs, or a slower service.',
      act: `If the service throttles: lower limits.requestsPerSecond. Otherwise raise limits.concurrency, or ${stateMachine === undefined ? 'set' : 'raise'} shards.`,
      props: raisedBy(closeToLimit(collector), stayHours),
    },
    MessageLost: {
      title: 'Failure message lost',
      means: 'Something failed for good or was found by the audit, and the message about it reached nobody.',
      look: 'The logs of the functions Audit and FailureMessages; the policies of the topics and their keys; the roles of the functions.',
      act: 'Bring back the policies as they were deployed. The dashboard and the mail of the next audit have what was lost.',
      props: raisedBy(
        sumOf(
          {
            ...failures.lost({ collector: collector.function, ...(audit && { audit: audit.function }) }, period),
            ...(audit && { mails: collector.metric('mailsLost', { period }) }),
          },
          'Messages lost',
        ),
        stayHours,
      ),
    },
    CopyFailed: archive.replicationMetrics && {
      title: 'Copy failed',
      means:
        'S3 could not copy an object of the archive to the bucket of archive.replicateTo, and does not try again; or copies have been ' +
        'pending for a day. Until an object is copied, it does not expire here.',
      look: 'The policies of that bucket and of its key, its versions and its Object Lock, the role of the replication.',
      act: 'Fix the cause, then copy what is missing with S3 Batch Replication.',
      props: raisedBy(copyTrouble(archive.replicationMetrics), stayHours),
    },
  };
}

const above = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD;

/**
 * Share of the fleet, in percent, that a run of the schedule leaves missing for good. The function that reports failures says
 * it once for each run; a failure that it could not report counts as everything.
 */
function missingShare({ collector, failures }: Parts): cloudwatch.IMetric {
  const said = collector.metric('missingPercent', { statistic: 'Maximum', period });
  const usingMetrics = failures.unreported(collector.function, period);
  const expression = `IF(SUM([${Object.keys(usingMetrics).join(', ')}]) > 0, 100, 0)`;
  const unreported = new cloudwatch.MathExpression({ expression, usingMetrics, label: 'Unreported, as 100 %', period });
  return sumOf({ said, all: unreported }, 'Percent of the fleet missing');
}

type Metrics = Record<string, cloudwatch.IMetric>;

/** SUM passes over a metric without data. */
export function sumOf(usingMetrics: Metrics, label: string): cloudwatch.IMetric {
  const expression = `SUM([${Object.keys(usingMetrics).join(', ')}])`;
  return new cloudwatch.MathExpression({ expression, usingMetrics, label, period });
}

/** 1 where a condition holds, otherwise 0. */
export function where(condition: string, usingMetrics: Metrics): cloudwatch.IMetric {
  return new cloudwatch.MathExpression({
    expression: `IF(${condition}, 1, 0)`,
    usingMetrics,
    label: condition,
    period,
  });
}

function closeToLimit(collector: Collector): cloudwatch.IMetric {
  const { leastThrottledAnswers, throttledPercent } = windows;
  const slow = where(`duration >= ${closeToLimitMs}`, {
    duration: collector.function.metricDuration({ statistic: 'Maximum', period }),
  });
  const throttling = where(
    `throttled >= ${leastThrottledAnswers} && 100 * throttled >= ${throttledPercent} * (throttled + archived + failed)`,
    {
      throttled: collector.metric('throttled', { period }),
      archived: collector.metric('archived', { period }),
      failed: collector.metric('failed', { period }),
    },
  );
  return sumOf({ slow, throttling }, 'Close to its time limit, or throttled');
}

function copyTrouble({ failed, latency }: ReplicationMetrics): cloudwatch.IMetric {
  const pending = where(`latency >= ${windows.longestPendingSeconds}`, { latency: latency.with({ period }) });
  return sumOf({ failed: failed.with({ period }), pending }, 'Copies that failed, or are pending for a day');
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
function whileHolding(queue: IQueue): cloudwatch.AlarmProps {
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
