import { Annotations, Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type Gap, longestGap } from '../lambda/schedule/cron-gap';
import { functionTimeoutSeconds } from '../lambda/stack-contract';
import * as windows from './alarm-windows';
import type { Alerts } from './alerts';
import type { CollectorConfig } from './config/config';
import { Dashboard } from './dashboard';
import type { FanOut } from './fan-out';
import { RunMetrics } from './run-metrics';

const hour = Duration.seconds(windows.alarmPeriodSeconds);

export interface ObservabilityProps {
  readonly config: Pick<CollectorConfig, 'name' | 'schedule'>;
  readonly alerts: Alerts;
  readonly function: lambda.IFunction;
  readonly logGroup: logs.ILogGroup;
  /** Receives what the scheduler could not deliver. */
  readonly deadLetterQueue: sqs.IQueue;
  readonly archiveBucket: s3.IBucket;
  /** Works on the shards of a fleet that is too large for one invocation. */
  readonly fanOut?: Pick<FanOut, 'stateMachine' | 'longestSeconds' | 'shards'> | undefined;
}

interface AlarmText {
  /** Also the heading in docs/operations.md that says more. */
  readonly title: string;
  readonly means: string;
  readonly look: string;
  readonly act: string;
}

/** The alarms, each of which tells people when it begins and when it is over, and the dashboard. */
export class Observability extends Construct {
  readonly alarms: cloudwatch.Alarm[] = [];
  /** How long a run may take until its metrics are there, in hours. */
  private readonly marginHours: number;

  constructor(
    scope: Construct,
    id: string,
    private readonly props: ObservabilityProps,
  ) {
    super(scope, id);
    const { expression, timeZone, enabled } = props.config.schedule;
    this.marginHours =
      props.fanOut === undefined
        ? windows.missingMarginHours
        : windows.executionMarginHours(props.fanOut.longestSeconds);
    const gap = longestGap(expression, timeZone);
    const metrics = new RunMetrics(props.config.name);
    this.runFailed(gap);
    if (enabled) this.runMissing(gap, metrics);
    this.deliveryLost();
    this.closeToLimit(gap);
    this.keyRejected(gap, metrics);
    this.throttled(gap, metrics);
    new Dashboard(this, 'Dashboard', { ...props, alarms: this.alarms, metrics, gap });
  }

  /** Errors would count attempts that a retry heals; a dropped event is one that Lambda has given up. */
  private runFailed(gap: Gap): void {
    const dropped = this.props.function.metric('AsyncEventsDropped', { statistic: 'Sum', period: hour });
    const execution = this.props.fanOut?.stateMachine;
    const metric =
      execution === undefined
        ? dropped
        : new cloudwatch.MathExpression({
            // Events are dropped here after a start by hand only; SUM passes over a metric without data.
            expression: 'SUM([dropped, failed, timedOut])',
            usingMetrics: {
              dropped,
              failed: execution.metricFailed({ period: hour }),
              timedOut: execution.metricTimedOut({ period: hour }),
            },
            label: 'Runs failed for good',
            period: hour,
          });
    this.alarm('RunFailed', stayingAlarm(gap, this.marginHours, { metric, threshold: 1 }), {
      title: 'Run failed for good',
      means: 'The last attempt of a run failed: part of the fleet is not archived for the time of that run.',
      ...(execution === undefined
        ? {
            look: 'The message with the error on this topic, the failures on the dashboard, the run record it names.',
            act: 'Mend the cause, then complete the run by hand with the event {"run": "<time>"}.',
          }
        : {
            look: 'The failed execution of the state machine, whose cause names the shards; the failures on the dashboard.',
            act: 'Mend the cause, then start another execution with the same input: it completes the run.',
          }),
    });
  }

  /**
   * ScheduledRun is ours: Lambda's Invocations also counts runs by hand and retries, which would hide a schedule that no
   * longer fires, and invocations that never got as far as a run record. With shards, the state machine counts a run once
   * all of them have written their records; any one shard would hide that the others never did.
   */
  private runMissing(gap: Gap, metrics: RunMetrics): void {
    const hours = windows.missingWindowHours(gap, this.marginHours);
    if (hours === undefined) {
      Annotations.of(this).addWarningV2(
        'cluster-log-collector:no-run-missing-alarm',
        `No alarm watches for missing runs: the schedule may pause for ${told(gap.hours)}, and an alarm looks back ` +
          `${windows.longestWindowHours} hours at most. Watch "Last green runs" on the dashboard instead.`,
      );
      return;
    }
    const alarm = this.alarm(
      'RunMissing',
      {
        metric: metrics.of('scheduled', { period: hour }),
        threshold: 1,
        comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        evaluationPeriods: hours,
        datapointsToAlarm: hours,
        treatMissingData: cloudwatch.TreatMissingData.BREACHING,
      },
      {
        title: 'Run missing',
        means: `No run of the schedule has written its record${this.props.fanOut === undefined ? '' : 's, of all shards,'} for ${hours} hours; its longest gap is ${told(gap.hours)}.`,
        look: 'The schedule (enabled? its years over?), the dead-letter queue, the log group for attempts that died.',
        act: 'Bring the schedule back, then collect now by hand with the event {}.',
      },
    );
    // Nothing has run yet after the first deployment, and nobody wants to be called for that.
    const resource = alarm.node.defaultChild as cloudwatch.CfnAlarm;
    resource.warmUpConfiguration = {
      warmUpPeriodDurationInMinutes: Math.min(hours * 60, windows.longestWarmUpMinutes),
      onlyStartEvaluatingAfterWarmUpPeriodEnds: true,
    };
    // CloudFormation has had the property since 2026; the linter does not know it yet.
    resource.addMetadata('cfn-lint', { config: { ignore_checks: ['E3002'] } });
  }

  private deliveryLost(): void {
    this.alarm(
      'DeliveryLost',
      {
        metric: this.props.deadLetterQueue.metricApproximateNumberOfMessagesVisible({
          statistic: 'Maximum',
          period: Duration.minutes(5),
        }),
        threshold: 1,
        comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        // A queue that nobody touches falls silent after hours, its messages still in it: silence is not OK.
        treatMissingData: cloudwatch.TreatMissingData.IGNORE,
      },
      {
        title: 'Delivery lost',
        means: 'The scheduler could not start a run and gave up: its event is in the dead-letter queue.',
        look: 'The attributes of the message in the queue: they say why the invocation was refused.',
        act: 'Mend the cause, complete the run by hand with the event in the message, then delete the message.',
      },
    );
  }

  private closeToLimit(gap: Gap): void {
    const threshold = windows.closeToLimitShare * functionTimeoutSeconds * 1000;
    const metric = this.props.function.metricDuration({ statistic: 'Maximum', period: hour });
    this.alarm('CloseToLimit', stayingAlarm(gap, this.marginHours, { metric, threshold }), {
      title: 'Run close to its time limit',
      means: `An attempt took at least ${threshold / 60_000} of its ${functionTimeoutSeconds / 60} minutes.`,
      look: 'Duration, bytes and throttling on the dashboard: more clusters, larger logs, or a slower service.',
      act: `Raise limits.concurrency if the service bears it, or ${this.props.fanOut === undefined ? 'set' : 'raise'} shards.`,
    });
  }

  private keyRejected(gap: Gap, metrics: RunMetrics): void {
    const metric = metrics.of('keyRejected', { statistic: 'Maximum', period: hour });
    this.alarm('KeyRejected', stayingAlarm(gap, this.marginHours, { metric, threshold: 1 }), {
      title: 'Key rejected',
      means: 'The service answered 401 or 403 to cluster after cluster, so the run ended early.',
      look: 'The failures on the dashboard; with the team of the service, whether the key expired or lost its rights.',
      act: 'Put the new key into the secret; no deployment is needed. Then complete the run by hand.',
    });
  }

  private throttled(gap: Gap, metrics: RunMetrics): void {
    const metric = new cloudwatch.MathExpression({
      expression: `IF(throttled >= ${windows.leastThrottledAnswers}, 100 * throttled / (throttled + archived + failed), 0)`,
      usingMetrics: {
        throttled: metrics.of('throttled', { period: hour }),
        archived: metrics.of('archived', { period: hour }),
        failed: metrics.of('failed', { period: hour }),
      },
      label: 'Throttled answers (%)',
      period: hour,
    });
    this.alarm('Throttled', stayingAlarm(gap, this.marginHours, { metric, threshold: windows.throttledPercent }), {
      title: 'Service throttling us',
      means: `At least ${windows.throttledPercent} % of the answers of the service asked for fewer requests.`,
      look: 'Throttling and duration on the dashboard; with the team of the service, which rate is welcome.',
      act: 'Lower limits.concurrency or set limits.requestsPerSecond, and deploy.',
    });
  }

  private alarm(id: string, props: cloudwatch.AlarmProps, { title, means, look, act }: AlarmText): cloudwatch.Alarm {
    const alarm = new cloudwatch.Alarm(this, id, {
      ...props,
      alarmName: `${this.props.config.name} - ${title}`,
      alarmDescription: `${means}\n\nLook at: ${look}\n\nDo: ${act}\n\nMore: docs/operations.md, "${title}".`,
    });
    const tell = new SnsAction(this.props.alerts.topic);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
    this.alarms.push(alarm);
    return alarm;
  }
}

/** An alarm that one bad hour raises, and that stays until the next run has had its time. */
function stayingAlarm(
  gap: Gap,
  marginHours: number,
  props: Pick<cloudwatch.AlarmProps, 'metric' | 'threshold'>,
): cloudwatch.AlarmProps {
  return {
    ...props,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: windows.stayHours(gap, marginHours),
    datapointsToAlarm: 1,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  };
}

function told(hours: number): string {
  return Number.isFinite(hours) ? `${Math.ceil(hours * 10) / 10} hours` : 'ever: only one firing is left';
}
