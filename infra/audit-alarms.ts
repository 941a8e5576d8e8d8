import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Gap } from '../lambda/schedule/cron-gap';
import type { metricNames } from '../lambda/stack-contract';
import { alarmPeriodSeconds, longestWindowHours, missingMarginHours, stayHours } from './alarm-windows';
import { type AlarmDefinition, hoursText, missingFor } from './alarms';
import type { RunSource } from './run-source';

/** What the alarms about the audit watch. */
export interface WatchedAudit {
  /** Of the audit's own schedule. */
  readonly gap: Gap;
  /** Hours after which a cluster that was not archived raises an alarm; undefined: never. */
  readonly staleAfterHours?: number | undefined;
}

type Metrics = Pick<RunSource, 'metric'>;

/** @param hours without a signed seal after which an audit is missing */
export function auditMissing(metrics: Metrics, { gap }: WatchedAudit, hours: number): AlarmDefinition {
  return {
    id: 'AuditMissing',
    title: 'Audit missing',
    means:
      `No audit has stored and signed a seal for ${hoursText(hours)}. ` +
      `The longest gap of its schedule is ${hoursText(gap.hours)}.`,
    look: "The audit's log, its error in the other message on this topic, its schedule and its dead-letter queue.",
    act: 'Fix the cause, then audit now with the command of the output AuditNow. The next seal covers what is missing.',
    props: missingFor(hours, metrics.metric('sealsWritten', { period: hour }), 'Seals'),
  };
}

export function damageFound(metrics: Metrics, audit: WatchedAudit): AlarmDefinition {
  return {
    id: 'DamageFound',
    title: 'Audit found damage',
    means: 'The audit found objects, run records or seals that are missing, altered or forged.',
    look: 'The mail of the audit, which lists the findings. "npm run collector -- verify" lists all of them.',
    act: 'Change nothing in the archive. Find out who wrote or deleted (access logs), then restore former versions.',
    props: untilNextAudit(audit, metrics, 'auditFindings', {
      threshold: 1,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    }),
  };
}

/** @param hours without an archived object after which a cluster is stale */
export function clustersStale(metrics: Metrics, audit: WatchedAudit, hours: number): AlarmDefinition {
  return {
    id: 'ClustersStale',
    title: 'Clusters stale',
    means: `At least one cluster was not archived for more than ${hoursText(hours)}.`,
    look: 'The mail of the audit, which names the clusters, and the failures on the dashboard.',
    act: 'Fix the cause. Remove a cluster that is gone for good from the configuration, or mark it as optional.',
    props: untilNextAudit(audit, metrics, 'stalestHours', {
      threshold: hours,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
    }),
  };
}

const hour = Duration.seconds(alarmPeriodSeconds);

/** An alarm that one audit raises, and that stays until the next one has had its time. */
function untilNextAudit(
  { gap }: WatchedAudit,
  metrics: Metrics,
  name: keyof typeof metricNames,
  limit: Pick<cloudwatch.AlarmProps, 'threshold' | 'comparisonOperator'>,
): cloudwatch.AlarmProps {
  return {
    ...limit,
    metric: metrics.metric(name, { statistic: 'Maximum', period: hour }),
    // More than a day: an alarm that ends shortly before each daily audit would send two mails every day.
    evaluationPeriods: stayHours(gap, missingMarginHours, longestWindowHours),
    datapointsToAlarm: 1,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  };
}
