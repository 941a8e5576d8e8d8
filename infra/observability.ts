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
import { ExecutionRuns, FunctionRuns, type RunSource } from './run-source';

const hour = Duration.seconds(windows.alarmPeriodSeconds);

export interface ObservabilityProps {
  readonly config: Pick<CollectorConfig, 'name' | 'schedule'>;
  readonly alerts: Pick<Alerts, 'topic'>;
  readonly function: lambda.IFunction;
  readonly logGroup: logs.ILogGroup;
  /** Receives events that the scheduler could not deliver. */
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

/** The alarms, each of which sends a message when it begins and when it is over, and the dashboard. */
export class Observability extends Construct {
  readonly #alarms: cloudwatch.Alarm[] = [];
  readonly #props: ObservabilityProps;
  readonly #runs: RunSource;
  readonly #gap: Gap;

  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    const { config, fanOut } = props;
    this.#props = props;
    this.#runs =
      fanOut === undefined
        ? new FunctionRuns(config.name, props.function)
        : new ExecutionRuns(config.name, props.function, fanOut);
    this.#gap = longestGap(config.schedule.expression, config.schedule.timeZone);
    this.#runFailed();
    if (config.schedule.enabled) this.#runMissing();
    this.#deliveryLost();
    this.#closeToLimit();
    this.#keyRejected();
    this.#throttled();
    new Dashboard(this, 'Dashboard', { ...props, alarms: this.#alarms, runs: this.#runs, gap: this.#gap });
  }

  #runFailed(): void {
    this.#runAlarm(
      'RunFailed',
      { metric: this.#runs.failedRuns(hour), threshold: 1 },
      {
        title: 'Run failed for good',
        means: 'The last attempt of a run failed: part of the fleet is not archived for the time of that run.',
        ...this.#runs.texts.whenFailed,
      },
    );
  }

  /**
   * The collector itself counts the runs of its schedule. Lambda's metric Invocations also counts starts by hand, retries
   * and attempts that die before their run record, so a schedule that stopped firing could go unnoticed. With shards, the
   * state machine counts a run after all shards have written their records; one shard alone proves nothing.
   */
  #runMissing(): void {
    const { marginHours, texts } = this.#runs;
    const hours = windows.missingWindowHours(this.#gap, marginHours);
    if (hours === undefined) {
      const reason = Number.isFinite(this.#gap.hours)
        ? `the schedule may pause for ${hoursText(this.#gap.hours)}`
        : 'the schedule fires only once more';
      Annotations.of(this).addWarningV2(
        'cluster-log-collector:no-run-missing-alarm',
        `No alarm watches for missing runs: ${reason}, and an alarm looks back ` +
          `${hoursText(windows.longestWindowHours)} at most. Watch "Last green runs" on the dashboard instead.`,
      );
      return;
    }
    const alarm = this.#alarm(
      'RunMissing',
      {
        metric: this.#runs.metric('scheduled', { period: hour }),
        threshold: 1,
        comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        evaluationPeriods: hours,
        datapointsToAlarm: hours,
        treatMissingData: cloudwatch.TreatMissingData.BREACHING,
      },
      {
        title: 'Run missing',
        means:
          `No run of the schedule has written ${texts.records} for ${hoursText(hours)}. ` +
          `The longest gap of the schedule is ${hoursText(this.#gap.hours)}.`,
        look: 'The schedule (enabled? its years over?), the dead-letter queue, the log group for attempts that died.',
        act: 'Bring the schedule back, then collect now by hand with the event {}.',
      },
    );
    // After the first deployment there is no run yet, and that is no reason to wake anybody.
    const resource = alarm.node.defaultChild as cloudwatch.CfnAlarm;
    resource.warmUpConfiguration = {
      warmUpPeriodDurationInMinutes: Math.min(hours * 60, windows.longestWarmUpMinutes),
      onlyStartEvaluatingAfterWarmUpPeriodEnds: true,
    };
    // CloudFormation has had the property since 2026; the linter does not know it yet.
    resource.addMetadata('cfn-lint', { config: { ignore_checks: ['E3002'] } });
  }

  #deliveryLost(): void {
    this.#alarm(
      'DeliveryLost',
      {
        metric: this.#props.deadLetterQueue.metricApproximateNumberOfMessagesVisible({
          statistic: 'Maximum',
          period: Duration.minutes(5),
        }),
        threshold: 1,
        comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        // SQS stops reporting a queue that nobody uses for hours, although its messages are still there.
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

  #closeToLimit(): void {
    const threshold = windows.closeToLimitShare * functionTimeoutSeconds * 1000;
    const metric = this.#props.function.metricDuration({ statistic: 'Maximum', period: hour });
    this.#runAlarm(
      'CloseToLimit',
      { metric, threshold },
      {
        title: 'Run close to its time limit',
        means: `An attempt took at least ${threshold / 60_000} of its ${functionTimeoutSeconds / 60} minutes.`,
        look: 'Duration, bytes and throttling on the dashboard: more clusters, larger logs, or a slower service.',
        act: `Raise limits.concurrency if the service can take more requests, or ${this.#runs.texts.moreTime}.`,
      },
    );
  }

  #keyRejected(): void {
    const metric = this.#runs.metric('keyRejected', { statistic: 'Maximum', period: hour });
    this.#runAlarm(
      'KeyRejected',
      { metric, threshold: 1 },
      {
        title: 'Key rejected',
        means: 'The service answered 401 or 403 to cluster after cluster, so the run ended early.',
        look: 'The failures on the dashboard. Ask the team of the service whether the key expired or lost its rights.',
        act: 'Put the new key into the secret; no deployment is needed. Then complete the run by hand.',
      },
    );
  }

  #throttled(): void {
    const metric = new cloudwatch.MathExpression({
      expression: `IF(throttled >= ${windows.leastThrottledAnswers}, 100 * throttled / (throttled + archived + failed), 0)`,
      usingMetrics: {
        throttled: this.#runs.metric('throttled', { period: hour }),
        archived: this.#runs.metric('archived', { period: hour }),
        failed: this.#runs.metric('failed', { period: hour }),
      },
      label: 'Throttled answers (%)',
      period: hour,
    });
    this.#runAlarm(
      'Throttled',
      { metric, threshold: windows.throttledPercent },
      {
        title: 'Service throttling us',
        means: `At least ${windows.throttledPercent} % of the answers of the service asked for fewer requests.`,
        look: 'Throttling and duration on the dashboard. Ask the team of the service which rate it accepts.',
        act: 'Lower limits.concurrency or set limits.requestsPerSecond, and deploy.',
      },
    );
  }

  /** An alarm that one bad hour raises, and that stays until the next run has had its time. */
  #runAlarm(id: string, props: Pick<cloudwatch.AlarmProps, 'metric' | 'threshold'>, text: AlarmText): void {
    const staying = {
      ...props,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: windows.stayHours(this.#gap, this.#runs.marginHours),
      datapointsToAlarm: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    };
    this.#alarm(id, staying, text);
  }

  #alarm(id: string, props: cloudwatch.AlarmProps, { title, means, look, act }: AlarmText): cloudwatch.Alarm {
    const alarm = new cloudwatch.Alarm(this, id, {
      ...props,
      alarmName: `${this.#props.config.name} - ${title}`,
      alarmDescription: `${means}\n\nLook at: ${look}\n\nDo: ${act}\n\nMore: docs/operations.md, "${title}".`,
    });
    const notify = new SnsAction(this.#props.alerts.topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
    this.#alarms.push(alarm);
    return alarm;
  }
}

function hoursText(hours: number): string {
  const rounded = Math.ceil(hours * 10) / 10;
  return rounded === 1 ? '1 hour' : `${rounded} hours`;
}
