import { Aws, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { functionTimeoutSeconds } from '../archive/format/clocks';
import type { Gap } from '../archive/format/schedule/cron-gap';
import { logMessages, type metricNames } from '../lambda/stack-contract';
import { closeToLimitShare } from './alarm-windows';
import type { Collector } from './collector';
import type { Parts } from './parts';
import { addressText, type StackAddress } from './stack-address';

const shortestRangeDays = 7;
const longestRangeDays = 90;

/** Height of a low row in grid units; a row is 24 wide. */
const lowHeight = 4;

const fromZero: cloudwatch.YAxisProps = { min: 0, showUnits: false };

const { GREEN, ORANGE, RED, PURPLE, GREY } = cloudwatch.Color;

/** Names of dashboards are global in an account (CloudWatch API, PutDashboard), so the region is part of them. */
function dashboardName(stackName: string): string {
  return `${stackName}-${Aws.REGION}`;
}

/** Where the console shows it. */
export function dashboardLink(stackName: string): string {
  return `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${dashboardName(stackName)}`;
}

/** First whether it is well now: runs and alarms. Then why not, then how it was, then where to read on. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, { alarms, ...parts }: Parts & { readonly alarms: cloudwatch.IAlarm[] }) {
    super(scope, id);
    const { config, address, collector, stateMachine, schedule, archive, audit } = parts;
    const dashboard = new cloudwatch.Dashboard(this, 'Resource', {
      dashboardName: dashboardName(config.name),
      // At least two runs, so that the last complete one is in view.
      defaultInterval: Duration.days(
        Math.min(longestRangeDays, Math.max(shortestRangeDays, Math.ceil((2 * schedule.gap.hours) / 24))),
      ),
    });
    const period = pointPeriod(schedule.gap);
    const counted =
      (period: Duration): Counted =>
      (name, label, color, statistic = 'Sum') =>
        collector.metric(name, { period, label, color, statistic });
    const runs = counted(period);
    const rows = [
      [
        // Not the counts of failures: each attempt has them anew, and three attempts of a run would add up.
        graph('Outcomes per run', [runs('archived', 'archived', GREEN), runs('missing', 'missing', RED)], {
          stacked: true,
        }),
        new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms, width: 12, height: 5 }),
      ],
      [lastFailures(collector, Stack.of(this).region), duration(collector, period)],
      traffic(runs, config.alerts.heartbeat !== undefined),
      stateMachine === undefined ? [] : executions(stateMachine, period),
      audit === undefined ? [] : audits(counted(pointPeriod(audit.schedule.gap))),
      [readOn(address, archive.bucket), objectsIn(archive.bucket)],
    ];
    for (const row of rows) dashboard.addWidgets(...row);
  }
}

/** A metric of the collector with its label. */
type Counted = (name: keyof typeof metricNames, label: string, color?: string, statistic?: string) => cloudwatch.Metric;

/** About one point per run, retries included: a finer one draws single dots, a coarser one adds runs together. */
function pointPeriod({ hours }: Gap): Duration {
  return hours < 24 ? Duration.hours(1) : Duration.days(1);
}

/** Half a row; from zero, because a curve that starts elsewhere exaggerates. */
function graph(title: string, left: cloudwatch.IMetric[], more: cloudwatch.GraphWidgetProps = {}): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({ leftYAxis: fromZero, width: 12, height: 5, title, left, ...more });
}

/** What the run records say too, without a command. */
function lastFailures({ logGroup }: Collector, region: string): cloudwatch.IWidget {
  return new cloudwatch.LogQueryWidget({
    title: 'Last failures',
    logGroupNames: [logGroup.logGroupName],
    region,
    view: cloudwatch.LogQueryVisualizationType.TABLE,
    queryLines: [
      'fields @timestamp, cluster, resource, httpStatus, error',
      `filter message = "${logMessages.failure}"`,
      'sort @timestamp desc',
      'limit 20',
    ],
    width: 12,
    height: 5,
  });
}

function duration({ function: target }: Collector, period: Duration): cloudwatch.IWidget {
  const seconds = new cloudwatch.MathExpression({
    expression: 'duration / 1000',
    usingMetrics: { duration: target.metricDuration({ statistic: 'Maximum', period }) },
    label: 'longest attempt',
    period,
  });
  return graph('Duration against the limit (seconds)', [seconds], {
    leftAnnotations: [
      { value: functionTimeoutSeconds, label: 'time limit', color: RED },
      { value: closeToLimitShare * functionTimeoutSeconds, label: 'close to it', color: ORANGE },
    ],
  });
}

/** What came in, what was slowed down, and what the monitoring service outside did not take, if there is one. */
function traffic(runs: Counted, hasHeartbeat: boolean): cloudwatch.IWidget[] {
  const bytes = [
    runs('bytes', 'content'),
    runs('receivedBytes', 'received (as it came)'),
    runs('storedBytes', 'stored (compressed)'),
  ];
  const width = hasHeartbeat ? 8 : 12;
  return [
    graph('Bytes archived', bytes, { leftYAxis: { min: 0 }, width }),
    graph('Throttling', [runs('throttled', 'answers that ask for fewer requests', ORANGE)], { width }),
    ...(hasHeartbeat ? [graph('Heartbeats lost', [runs('heartbeatsLost', 'not taken outside', RED)], { width })] : []),
  ];
}

function executions(machine: IStateMachine, period: Duration): cloudwatch.IWidget[] {
  const minutes = new cloudwatch.MathExpression({
    expression: 'time / 60000',
    usingMetrics: { time: machine.metricTime({ statistic: 'Maximum', period }) },
    label: 'longest run',
    period,
  });
  return [
    graph('Runs in shards (executions)', [
      machine.metricSucceeded({ period, label: 'complete', color: GREEN }),
      machine.metricFailed({ period, label: 'failed', color: RED }),
      machine.metricTimedOut({ period, label: 'timed out', color: PURPLE }),
      machine.metricAborted({ period, label: 'stopped by hand', color: GREY }),
    ]),
    graph('Duration of runs (minutes)', [minutes]),
  ];
}

function audits(audit: Counted): cloudwatch.IWidget[] {
  const seals = [
    audit('sealsWritten', 'seals signed', GREEN),
    audit('auditFindings', 'damage open', RED),
    audit('auditCarriedOver', 'left for the next audit', ORANGE),
  ];
  const title = 'Hours since the stalest cluster was archived, and logs with gaps or frozen';
  const right = [
    audit('logGaps', 'clusters with gaps in their log'),
    audit('mailsLost', 'mails that SNS refused', RED),
    audit('frozenLogs', 'frozen logs', undefined, 'Maximum'),
  ];
  const stalest = [audit('stalestHours', 'hours', undefined, 'Maximum')];
  return [
    graph('Seals and damage', seals, { height: lowHeight }),
    graph(title, stalest, { height: lowHeight, right, rightYAxis: fromZero }),
  ];
}

/** S3 counts the objects once a day, independently of the collector. */
function objectsIn({ bucketName }: IBucket): cloudwatch.IWidget {
  const metric = new cloudwatch.Metric({
    namespace: 'AWS/S3',
    metricName: 'NumberOfObjects',
    dimensionsMap: { BucketName: bucketName, StorageType: 'AllStorageTypes' },
    statistic: 'Average',
    period: Duration.days(1),
    label: 'objects, counted daily by S3',
  });
  return new cloudwatch.SingleValueWidget({ title: 'Archive', metrics: [metric], width: 6, height: lowHeight });
}

/** The commands for what no log line says: a change is seen only beside the run before. */
function readOn(address: StackAddress, { bucketName }: IBucket): cloudwatch.IWidget {
  const option = `--archive s3://${bucketName}`;
  const lines = [
    ['Complete a run', `run --stack ${addressText(address)} --run TIME`],
    ['Why a run is incomplete', `runs TIME ${option}`],
    ['Which manifests changed', `history --all ${option}`],
    ['Everything on one page', `report --out report.html ${option}`],
  ];
  const markdown = lines.map(([what, command]) => `${what}: \`npm run collector -- ${command}\``).join('  \n');
  return new cloudwatch.TextWidget({ markdown, width: 18, height: lowHeight });
}
