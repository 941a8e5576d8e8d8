import { Aws, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Gap } from '../lambda/schedule/cron-gap';
import { functionTimeoutSeconds } from '../lambda/stack-contract';
import { closeToLimitShare } from './alarm-windows';
import type { Archive } from './archive';
import type { Audit } from './audit';
import type { Collector } from './collector';
import type { CollectorConfig } from './config/config';
import { failuresByCluster, failuresByReason, lastFailures, lastGreenRuns, lastRuns } from './log-queries';
import type { RunSource } from './run-source';

export interface DashboardProps {
  readonly config: CollectorConfig;
  readonly alarms: cloudwatch.IAlarm[];
  readonly runs: RunSource;
  readonly collector: Collector;
  readonly archive: Archive;
  /** Verifies and seals the archive; undefined if nothing does. */
  readonly audit: Audit | undefined;
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
    const { config, alarms, runs, audit } = props;
    const dashboard = new cloudwatch.Dashboard(this, 'Resource', {
      dashboardName: dashboardName(config.name),
      // At least two runs, so that the last complete one is in view.
      defaultInterval: Duration.days(
        Math.min(longestRangeDays, Math.max(shortestRangeDays, Math.ceil((2 * runs.gap.hours) / 24))),
      ),
    });
    const period = pointPeriod(runs.gap);
    const rows = [
      [
        table(props, 'Last runs: archived of configured', 14, lastRuns(runs.query)),
        new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms, width: 10, height: tableHeight }),
      ],
      [
        table(props, 'Reasons of failures', 14, failuresByReason),
        table(props, 'Clusters that fail most', 10, failuresByCluster),
      ],
      [outcomes(runs, period), duration(props, period)],
      [bytes(runs, period), throttling(runs, period)],
      runs.widgets(period, graphShape),
      audit === undefined ? [] : audits(runs, pointPeriod(audit.gap)),
      [
        table(props, 'Last green runs', 8, lastGreenRuns(runs.query)),
        table(props, 'Last failures', 12, lastFailures),
        objectsInArchive(props),
      ],
      [readOn(props)],
    ];
    for (const row of rows) dashboard.addWidgets(...row);
  }
}

/** About one point per run, retries included: a finer one draws single dots, a coarser one adds runs together. */
function pointPeriod({ hours }: Gap): Duration {
  return hours < 24 ? Duration.hours(1) : Duration.days(1);
}

/** S3 counts the objects once a day, independently of the collector. */
function objectsInArchive({ archive }: DashboardProps): cloudwatch.IWidget {
  const metric = new cloudwatch.Metric({
    namespace: 'AWS/S3',
    metricName: 'NumberOfObjects',
    dimensionsMap: { BucketName: archive.bucket.bucketName, StorageType: 'AllStorageTypes' },
    statistic: 'Average',
    period: Duration.days(1),
    label: 'objects, counted daily by S3',
  });
  return new cloudwatch.SingleValueWidget({ title: 'Archive', metrics: [metric], width: 4, height: tableHeight });
}

/** Not the counts of failures: each attempt has them anew, and three attempts of a run would add up. */
function outcomes(runs: RunSource, period: Duration): cloudwatch.IWidget {
  const left = [
    runs.metric('archived', { period, label: 'archived', color: cloudwatch.Color.GREEN }),
    runs.metric('missing', { period, label: 'missing', color: cloudwatch.Color.RED }),
  ];
  const title = 'Outcomes per run (clusters x resources)';
  return new cloudwatch.GraphWidget({ ...graphShape, title, stacked: true, left });
}

function duration({ collector }: DashboardProps, period: Duration): cloudwatch.IWidget {
  const seconds = new cloudwatch.MathExpression({
    expression: 'duration / 1000',
    usingMetrics: { duration: collector.function.metricDuration({ statistic: 'Maximum', period }) },
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

function bytes(runs: RunSource, period: Duration): cloudwatch.IWidget {
  const left = [
    runs.metric('bytes', { period, label: 'content' }),
    runs.metric('receivedBytes', { period, label: 'received (as it came)' }),
    runs.metric('storedBytes', { period, label: 'stored (compressed)' }),
  ];
  return new cloudwatch.GraphWidget({ ...graphShape, title: 'Bytes archived', left, leftYAxis: { min: 0 } });
}

function throttling(runs: RunSource, period: Duration): cloudwatch.IWidget {
  const { ORANGE, RED } = cloudwatch.Color;
  const left = [
    runs.metric('throttled', { period, label: 'answers that ask for fewer requests', color: ORANGE }),
    runs.metric('keyRejected', { period, label: 'attempts ended by a rejected key', color: RED }),
  ];
  return new cloudwatch.GraphWidget({ ...graphShape, title: 'Throttling and rejected keys', left });
}

/** The commands for what no log line says: a change is seen only beside the run before. */
function readOn({ config, archive }: DashboardProps): cloudwatch.IWidget {
  const option = `--archive s3://${archive.bucket.bucketName}`;
  const lines = [
    ['Complete a run', `run --stack ${config.name} --run TIME`],
    ['Why a run is incomplete', `runs TIME ${option}`],
    ['Which manifests changed', `history --all ${option}`],
    ['Everything on one page', `report --out report.html ${option}`],
  ];
  const markdown = lines.map(([what, command]) => `${what}: \`npm run collector -- ${command}\``).join('  \n');
  return new cloudwatch.TextWidget({ markdown, width: 24, height: 3 });
}

function audits(runs: RunSource, period: Duration): cloudwatch.IWidget[] {
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

function table({ collector }: DashboardProps, title: string, width: number, queryLines: string[]): cloudwatch.IWidget {
  return new cloudwatch.LogQueryWidget({
    title,
    logGroupNames: [collector.logGroup.logGroupName],
    region: Stack.of(collector).region,
    view: cloudwatch.LogQueryVisualizationType.TABLE,
    queryLines,
    width,
    height: tableHeight,
  });
}
