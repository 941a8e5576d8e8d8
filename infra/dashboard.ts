import { Aws, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Gap } from '../lambda/schedule/cron-gap';
import { functionTimeoutSeconds } from '../lambda/stack-contract';
import { closeToLimitShare } from './alarm-windows';
import type { CollectorConfig } from './config/config';
import { failuresByCluster, failuresByReason, lastFailures, lastGreenRuns, lastRuns } from './log-queries';
import type { RunSource } from './run-source';

export interface DashboardProps {
  readonly config: Pick<CollectorConfig, 'name'>;
  readonly alarms: readonly cloudwatch.IAlarm[];
  readonly runs: RunSource;
  readonly function: lambda.IFunction;
  readonly logGroup: logs.ILogGroup;
  readonly archiveBucket: s3.IBucket;
  readonly gap: Pick<Gap, 'hours'>;
  /** Verifies and seals the archive; undefined if nothing does. */
  readonly audit?: { readonly gap: Pick<Gap, 'hours'> } | undefined;
}

const shortestRangeDays = 7;
const longestRangeDays = 90;

/** Row heights in grid units; a row is 24 wide. */
const tableHeight = 6;
const auditHeight = 4;

/** Half a row; from zero, because a curve that starts elsewhere exaggerates. */
const graphShape = { leftYAxis: { min: 0, showUnits: false }, width: 12, height: 5 } as const;

/** Names of dashboards are global in an account (CloudWatch API, PutDashboard), so the region is part of them. */
export function dashboardName(stackName: string): string {
  return `${stackName}-${Aws.REGION}`;
}

/** First whether it is well now: the last runs and the alarms. Then why not, then how it was, then where to read on. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const dashboard = new cloudwatch.Dashboard(this, 'Resource', {
      dashboardName: dashboardName(props.config.name),
      // At least two runs, so that the last complete one is in view.
      defaultInterval: Duration.days(
        Math.min(longestRangeDays, Math.max(shortestRangeDays, Math.ceil((2 * props.gap.hours) / 24))),
      ),
    });
    dashboard.addWidgets(
      table(props, 'Last runs: archived of configured', 14, lastRuns(props.runs.query)),
      new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms: [...props.alarms], width: 10, height: tableHeight }),
    );
    dashboard.addWidgets(
      table(props, 'Reasons of failures', 14, failuresByReason),
      table(props, 'Clusters that fail most', 10, failuresByCluster),
    );
    const period = pointPeriod(props.gap);
    dashboard.addWidgets(outcomes(props, period), duration(props, period));
    dashboard.addWidgets(bytes(props, period), throttling(props, period));
    dashboard.addWidgets(...props.runs.widgets(period, graphShape));
    if (props.audit !== undefined) dashboard.addWidgets(...audits(props, pointPeriod(props.audit.gap)));
    dashboard.addWidgets(
      table(props, 'Last green runs', 8, lastGreenRuns(props.runs.query)),
      table(props, 'Last failures', 12, lastFailures),
      objectsInArchive(props),
    );
    dashboard.addWidgets(readOn(props));
  }
}

/** About one point per run, retries included: a finer one draws single dots, a coarser one adds runs together. */
function pointPeriod({ hours }: Pick<Gap, 'hours'>): Duration {
  return hours < 24 ? Duration.hours(1) : Duration.days(1);
}

/** S3 counts the objects once a day, independently of the collector. */
function objectsInArchive({ archiveBucket }: DashboardProps): cloudwatch.IWidget {
  const metric = new cloudwatch.Metric({
    namespace: 'AWS/S3',
    metricName: 'NumberOfObjects',
    dimensionsMap: { BucketName: archiveBucket.bucketName, StorageType: 'AllStorageTypes' },
    statistic: 'Average',
    period: Duration.days(1),
    label: 'objects, counted daily by S3',
  });
  return new cloudwatch.SingleValueWidget({ title: 'Archive', metrics: [metric], width: 4, height: tableHeight });
}

function outcomes({ runs }: DashboardProps, period: Duration): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({
    ...graphShape,
    title: 'Outcomes per run (clusters x resources)',
    stacked: true,
    // Not the counts of failures: each attempt has them anew, and three attempts of a run would add up.
    left: [
      runs.metric('archived', { period, label: 'archived', color: cloudwatch.Color.GREEN }),
      runs.metric('missing', { period, label: 'missing', color: cloudwatch.Color.RED }),
    ],
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
    ...graphShape,
    title: 'Duration against the limit (seconds)',
    left: [seconds],
    leftAnnotations: [
      { value: functionTimeoutSeconds, label: 'time limit', color: cloudwatch.Color.RED },
      { value: closeToLimitShare * functionTimeoutSeconds, label: 'close to it', color: cloudwatch.Color.ORANGE },
    ],
  });
}

function bytes({ runs }: DashboardProps, period: Duration): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({
    ...graphShape,
    title: 'Bytes archived',
    left: [
      runs.metric('bytes', { period, label: 'content' }),
      runs.metric('receivedBytes', { period, label: 'received (as it came)' }),
      runs.metric('storedBytes', { period, label: 'stored (compressed)' }),
    ],
    leftYAxis: { min: 0 },
  });
}

function throttling({ runs }: DashboardProps, period: Duration): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({
    ...graphShape,
    title: 'Throttling and rejected keys',
    left: [
      runs.metric('throttled', {
        period,
        label: 'answers that ask for fewer requests',
        color: cloudwatch.Color.ORANGE,
      }),
      runs.metric('keyRejected', { period, label: 'attempts ended by a rejected key', color: cloudwatch.Color.RED }),
    ],
  });
}

/** The commands for what no log line says: a change is seen only beside the run before. */
function readOn({ config, archiveBucket }: DashboardProps): cloudwatch.IWidget {
  const archive = `--archive s3://${archiveBucket.bucketName}`;
  const lines = [
    ['Complete a run', `run --stack ${config.name} --run TIME`],
    ['Why a run is incomplete', `runs TIME ${archive}`],
    ['Which manifests changed', `history --all ${archive}`],
    ['Everything on one page', `report --out report.html ${archive}`],
  ];
  const markdown = lines.map(([what, command]) => `${what}: \`npm run collector -- ${command}\``).join('  \n');
  return new cloudwatch.TextWidget({ markdown, width: 24, height: 3 });
}

function audits({ runs }: DashboardProps, period: Duration): cloudwatch.IWidget[] {
  const shape = { ...graphShape, height: auditHeight };
  return [
    new cloudwatch.GraphWidget({
      ...shape,
      title: 'Seals and damage',
      left: [
        runs.metric('sealsWritten', { period, label: 'seals signed', color: cloudwatch.Color.GREEN }),
        runs.metric('auditFindings', { period, label: 'damage open', color: cloudwatch.Color.RED }),
        runs.metric('auditCarriedOver', { period, label: 'left for the next audit', color: cloudwatch.Color.ORANGE }),
      ],
    }),
    new cloudwatch.GraphWidget({
      ...shape,
      title: 'Hours since the stalest cluster was archived, and logs with gaps or frozen',
      left: [runs.metric('stalestHours', { period, statistic: 'Maximum', label: 'hours' })],
      right: [
        runs.metric('logGaps', { period, label: 'clusters with gaps in their log' }),
        runs.metric('frozenLogs', { period, statistic: 'Maximum', label: 'frozen logs' }),
      ],
      rightYAxis: graphShape.leftYAxis,
    }),
  ];
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
