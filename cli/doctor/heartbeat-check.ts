import { dayMs, hourMs } from '../../archive/format/clocks';
import { longestGap } from '../../archive/format/schedule/cron-gap';
import type { CollectorConfig } from '../../infra/config/config';
import { metricNames, metricNamespace } from '../../lambda/stack-contract';
import { withAws } from '../stack/aws-access';
import { formatCount, formatTime } from '../terminal/format';
import { notSeen, right, type Shown, worthKnowing, wrong } from './check';

/** Hours that are looked back at least, and at most: CloudWatch gives 1,440 points in an answer. */
const [fewestHours, mostHours] = [7 * 24, 1440];

/** How long a run and the delivery of its metrics may take, in hours. */
const marginHours = 2;

/** Whether the monitoring service outside took what it was told: functions count what it did not. */
export async function heartbeatOf(
  region: string,
  { name, schedule }: Pick<CollectorConfig, 'name' | 'schedule'>,
  now: Date,
): Promise<Shown> {
  const { CloudWatchClient, GetMetricStatisticsCommand } = await import('@aws-sdk/client-cloudwatch');
  // What is looked back at: a schedule whose last firing is over has a pause too.
  const lastYear = new Date(now.getTime() - 366 * dayMs);
  const { hours: gapHours } = longestGap(schedule.expression, schedule.timeZone, lastYear);
  const hours = Math.ceil(Math.min(mostHours, Math.max(fewestHours, 2 * gapHours)));
  const metric = metricNames.heartbeatsLost;
  const input = {
    ...{ Namespace: metricNamespace, MetricName: metric, Dimensions: [{ Name: 'service', Value: name }] },
    ...{ StartTime: new Date(now.getTime() - hours * hourMs), EndTime: now, Period: 3600 },
    Statistics: ['Sum' as const],
  };
  const { Datapoints } = await withAws(`Reading the metric ${metric}`, () =>
    new CloudWatchClient({ region }).send(new GetMetricStatisticsCommand(input)),
  );
  const act = `the log line "heartbeat lost" says why; see docs/operations.md, "A witness outside"`;
  const points = Datapoints?.map(({ Sum, Timestamp }) => ({ lost: Sum, at: Timestamp?.getTime() ?? Number.NaN }));
  if (points === undefined || points.some(({ lost, at }) => lost === undefined || Number.isNaN(at)))
    return notSeen(`the answer about the metric ${metric} is not one of CloudWatch`, act);
  const lost = points.reduce((sum, { lost = 0 }) => sum + lost, 0);
  const since = `in the ${formatCount(Math.round(hours / 24), 'day')} before now`;
  // The metric counts what was refused and nothing else: where nothing was told there is none either.
  if (lost === 0)
    return right(`none was refused ${since}, says the metric ${metric}; the service itself says which arrived`);
  const last = Math.max(...points.filter(({ lost = 0 }) => lost > 0).map(({ at }) => at));
  const found = `the monitoring service did not take ${lost} ${since}, the last in the hour of ${formatTime(new Date(last))}`;
  const isNewest = now.getTime() - last <= (gapHours + marginHours) * hourMs;
  return isNewest ? wrong(found, act) : worthKnowing(`${found}; later ones were taken, or nothing was told`, act);
}
