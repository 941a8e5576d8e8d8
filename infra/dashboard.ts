import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Gap } from '../lambda/schedule/cron-gap';
import { functionTimeoutSeconds, logMessages } from '../lambda/stack-contract';
import { closeToLimitShare } from './alarm-windows';
import type { CollectorConfig } from './config/config';
import type { FanOut } from './fan-out';
import type { RunMetrics } from './run-metrics';

export interface DashboardProps {
  readonly config: Pick<CollectorConfig, 'name'>;
  readonly alarms: readonly cloudwatch.IAlarm[];
  readonly metrics: RunMetrics;
  readonly function: lambda.IFunction;
  readonly logGroup: logs.ILogGroup;
  readonly archiveBucket: s3.IBucket;
  readonly gap: Pick<Gap, 'hours'>;
  /** Works on the shards of a large fleet. */
  readonly fanOut?: Pick<FanOut, 'stateMachine' | 'shards'> | undefined;
}

const shortestRangeDays = 7;
const longestRangeDays = 90;

/** Row heights in grid units; a row is 24 wide. */
const statesHeight = 3;
const graphHeight = 6;
const tableHeight = 7;

/** One screen that answers "is it well?": states first, then what the runs did, then what did not get archived. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const dashboard = new cloudwatch.Dashboard(this, 'Resource', {
      dashboardName: props.config.name,
      // Two runs at least, or the last green one could lie outside.
      defaultInterval: Duration.days(
        Math.min(longestRangeDays, Math.max(shortestRangeDays, Math.ceil((2 * props.gap.hours) / 24))),
      ),
    });
    dashboard.addWidgets(
      new cloudwatch.AlarmStatusWidget({
        title: 'Alarms',
        alarms: [...props.alarms],
        width: 18,
        height: statesHeight,
      }),
      objectsInArchive(props),
    );
    const period = pointPeriod(props.gap);
    dashboard.addWidgets(outcomes(props, period), duration(props, period));
    dashboard.addWidgets(bytes(props, period), throttling(props, period));
    if (props.fanOut !== undefined) dashboard.addWidgets(...executions(props.fanOut, period));
    dashboard.addWidgets(lastGreenRuns(props), lastFailures(props));
  }
}

/** About one point per run, its retries added up: finer ones would be lone dots, coarser ones would add up runs. */
function pointPeriod({ hours }: Pick<Gap, 'hours'>): Duration {
  return hours < 24 ? Duration.hours(1) : Duration.days(1);
}

/** Counted by S3 once a day, and not by the collector: a second opinion. */
function objectsInArchive({ archiveBucket }: DashboardProps): cloudwatch.IWidget {
  const metric = new cloudwatch.Metric({
    namespace: 'AWS/S3',
    metricName: 'NumberOfObjects',
    dimensionsMap: { BucketName: archiveBucket.bucketName, StorageType: 'AllStorageTypes' },
    statistic: 'Average',
    period: Duration.days(1),
    label: 'objects, counted daily by S3',
  });
  return new cloudwatch.SingleValueWidget({ title: 'Archive', metrics: [metric], width: 6, height: statesHeight });
}

function outcomes({ metrics }: DashboardProps, period: Duration): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({
    title: 'Outcomes per run (clusters x resources)',
    stacked: true,
    left: [
      metrics.of('archived', { period, label: 'archived', color: cloudwatch.Color.GREEN }),
      metrics.of('alreadyArchived', { period, label: 'already archived', color: cloudwatch.Color.GREY }),
      metrics.of('failed', { period, label: 'failed', color: cloudwatch.Color.RED }),
      metrics.of('notAttempted', { period, label: 'not attempted', color: cloudwatch.Color.ORANGE }),
    ],
    leftYAxis: { min: 0, showUnits: false },
    width: 12,
    height: graphHeight,
  });
}

function duration({ function: collector }: DashboardProps, period: Duration): cloudwatch.IWidget {
  const seconds = new cloudwatch.MathExpression({
    expression: 'duration / 1000',
    usingMetrics: { duration: collector.metricDuration({ statistic: 'Maximum', period }) },
    label: 'longest attempt',
    period,
  });
  return new cloudwatch.GraphWidget({
    title: 'Duration against the limit (seconds)',
    left: [seconds],
    leftAnnotations: [
      { value: functionTimeoutSeconds, label: 'time limit', color: cloudwatch.Color.RED },
      { value: closeToLimitShare * functionTimeoutSeconds, label: 'close to it', color: cloudwatch.Color.ORANGE },
    ],
    leftYAxis: { min: 0, showUnits: false },
    width: 12,
    height: graphHeight,
  });
}

function bytes({ metrics }: DashboardProps, period: Duration): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({
    title: 'Bytes archived',
    left: [
      metrics.of('bytes', { period, label: 'received' }),
      metrics.of('storedBytes', { period, label: 'stored (compressed)' }),
    ],
    leftYAxis: { min: 0 },
    width: 12,
    height: graphHeight,
  });
}

function throttling({ metrics }: DashboardProps, period: Duration): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({
    title: 'Throttling and rejected keys',
    left: [
      metrics.of('throttled', { period, label: 'answers that ask for fewer requests', color: cloudwatch.Color.ORANGE }),
      metrics.of('keyRejected', { period, label: 'attempts ended by a rejected key', color: cloudwatch.Color.RED }),
    ],
    leftYAxis: { min: 0, showUnits: false },
    width: 12,
    height: graphHeight,
  });
}

/** A run of shards is one execution. */
function executions({ stateMachine }: Pick<FanOut, 'stateMachine'>, period: Duration): cloudwatch.IWidget[] {
  const shape = { leftYAxis: { min: 0, showUnits: false }, width: 12, height: graphHeight };
  const ended = new cloudwatch.GraphWidget({
    title: 'Runs in shards (executions)',
    left: [
      stateMachine.metricSucceeded({ period, label: 'complete', color: cloudwatch.Color.GREEN }),
      stateMachine.metricFailed({ period, label: 'failed', color: cloudwatch.Color.RED }),
      stateMachine.metricTimedOut({ period, label: 'timed out', color: cloudwatch.Color.PURPLE }),
      stateMachine.metricAborted({ period, label: 'stopped by hand', color: cloudwatch.Color.GREY }),
    ],
    ...shape,
  });
  const minutes = new cloudwatch.MathExpression({
    expression: 'time / 60000',
    usingMetrics: { time: stateMachine.metricTime({ statistic: 'Maximum', period }) },
    label: 'longest run',
    period,
  });
  return [ended, new cloudwatch.GraphWidget({ title: 'Duration of runs (minutes)', left: [minutes], ...shape })];
}

function lastGreenRuns(props: DashboardProps): cloudwatch.IWidget {
  if (props.fanOut !== undefined)
    return table(props, 'Last green runs', 10, [
      `filter message = "${logMessages.run}" and status = "complete" and ispresent(record) and ispresent(shard.index)`,
      // A shard that was asked twice says so twice.
      'stats count_distinct(shard.index) as shards, max(@timestamp) as finished by run',
      `filter shards = ${props.fanOut.shards}`,
      'sort run desc',
      'limit 5',
    ]);
  return table(props, 'Last green runs', 10, [
    'fields run, scheduled, attempt, counts.archived + counts.alreadyArchived as archived, record',
    // A dry run archives nothing, however green it is: it has no record.
    `filter message = "${logMessages.run}" and status = "complete" and ispresent(record)`,
    'sort @timestamp desc',
    'limit 5',
  ]);
}

function lastFailures(props: DashboardProps): cloudwatch.IWidget {
  return table(props, 'Last failures', 14, [
    'fields @timestamp, cluster, resource, httpStatus, error',
    `filter message = "${logMessages.failure}"`,
    'sort @timestamp desc',
    'limit 20',
  ]);
}

function table(props: DashboardProps, title: string, width: number, queryLines: string[]): cloudwatch.IWidget {
  return new cloudwatch.LogQueryWidget({
    title,
    logGroupNames: [props.logGroup.logGroupName],
    region: Stack.of(props.logGroup).region,
    view: cloudwatch.LogQueryVisualizationType.TABLE,
    queryLines,
    width,
    height: tableHeight,
  });
}
