import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Gap } from '../lambda/schedule/cron-gap';
import {
  alarmPeriodSeconds,
  longestWindowHours,
  missingMarginHours,
  promptWindowHours,
  stayHours,
} from './alarm-windows';
import { type AlarmDefinition, hoursText, missingFor, whileHolding } from './alarms';
import type { RunSource } from './run-source';

/** What the alarms about the audit watch. */
export interface WatchedAudit {
  /** Of the audit's own schedule. */
  readonly gap: Gap;
  readonly function: IFunction;
  /** Receives audits that the scheduler could not start. */
  readonly deadLetterQueue: IQueue;
  /** Hours after which a cluster that was not archived raises an alarm; undefined: never. */
  readonly staleAfterHours?: number | undefined;
  /** Hours after which a log with nothing new raises an alarm; undefined: never. */
  readonly frozenAfterHours?: number | undefined;
  /** Whether an alarm is raised where lines of logs may be lost. */
  readonly alarmOnLogGaps?: boolean | undefined;
}

type Metrics = Pick<RunSource, 'metric'>;

/**
 * @param hours without a signed seal after which an audit is missing; undefined: no alarm looks back that far, and an audit
 * that failed for good has to do
 */
export function auditMissing(metrics: Metrics, audit: WatchedAudit, hours: number | undefined): AlarmDefinition {
  const { gap } = audit;
  return {
    id: 'AuditMissing',
    title: 'Audit missing',
    pages: true,
    means:
      hours === undefined
        ? 'The last attempt of an audit failed: there is no seal of its time.'
        : `No audit has stored and signed a seal for ${hoursText(hours)}. ` +
          `The longest gap of its schedule is ${hoursText(gap.hours)}.`,
    look: "The audit's log, its error in the other message on this topic, its schedule and its dead-letter queue.",
    act: 'Fix the cause, then audit now with the command of the output AuditNow. The next seal covers what is missing.',
    props:
      hours === undefined
        ? {
            ...once,
            metric: audit.function.metric('AsyncEventsDropped', { statistic: 'Sum', period: hour }),
            evaluationPeriods: promptWindowHours,
          }
        : missingFor(hours, metrics.metric('sealsWritten', { period: hour }), 'Seals'),
  };
}

export function auditNotStarted({ deadLetterQueue }: WatchedAudit): AlarmDefinition {
  return {
    id: 'AuditNotStarted',
    title: 'Audit not started',
    means: 'The scheduler could not start an audit and gave up: its event is in the dead-letter queue of the audit.',
    look: 'The attributes of the message in the queue: they say why the invocation was refused.',
    act: 'Fix the cause, audit now with the command of the output AuditNow, then delete the message.',
    props: whileHolding(deadLetterQueue),
  };
}

/** Two audits in a row: one alone may have had a large fleet's first day to read. */
export function auditBehind(metrics: Metrics, { gap }: WatchedAudit): AlarmDefinition {
  return {
    id: 'AuditBehind',
    title: 'Audit behind',
    means: 'Two audits in a row left something for the next one: they cannot keep up, and the newest objects wait.',
    look: 'What is left for the next audit, on the dashboard, and whether it grows.',
    act: 'Audit more often with audit.schedule, collect less often, or raise audit.rereadDays.',
    props: {
      ...once,
      metric: metrics.metric('auditCarriedOver', { statistic: 'Maximum', period: hour }),
      evaluationPeriods: stayHours(gap, missingMarginHours, longestWindowHours),
      datapointsToAlarm: 2,
    },
  };
}

export function damageFound(metrics: Metrics): AlarmDefinition {
  return {
    id: 'DamageFound',
    pages: true,
    title: 'Audit found damage',
    means: 'Objects, run records or seals are missing, altered or forged, and neither repaired nor acknowledged.',
    look: 'The mail of the audit says what is open and since when. "npm run collector -- verify" lists all of it.',
    act: 'Change nothing in the archive. Find out who wrote or deleted (access logs), then restore former versions.',
    props: {
      ...once,
      // In an hour there may be the audit that finds it, the repair, and the audit that sees it.
      metric: metrics.metric('auditFindings', { statistic: 'Maximum', period: Duration.minutes(5) }),
      evaluationPeriods: 1,
      // Only an audit can say that it is repaired: that there was none says nothing.
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
  };
}

/** @param hours without an archived object after which a cluster is stale */
export function clustersStale(metrics: Metrics, { gap }: WatchedAudit, hours: number): AlarmDefinition {
  return {
    id: 'ClustersStale',
    title: 'Clusters stale',
    means: `At least one cluster was not archived for more than ${hoursText(hours)}.`,
    look: 'The mail of the audit, which names the clusters, and the failures on the dashboard.',
    act: 'Fix the cause. Remove a cluster that is gone for good from the configuration, or mark it as optional.',
    props: {
      metric: metrics.metric('stalestHours', { statistic: 'Maximum', period: hour }),
      threshold: hours,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      // More than a day: an alarm that ends shortly before each daily audit would send two mails every day.
      evaluationPeriods: stayHours(gap, missingMarginHours, longestWindowHours),
      datapointsToAlarm: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    },
  };
}

/** @param hours without anything new in a log after which it is frozen */
export function logsFrozen(metrics: Metrics, { gap }: WatchedAudit, hours: number): AlarmDefinition {
  return {
    id: 'LogsFrozen',
    title: 'Logs frozen',
    means: `At least one log has had nothing new for ${hoursText(hours)}, although runs archive it.`,
    look: 'The mail of the audit names the first. "npm run collector -- log <cluster> --seams" shows since when.',
    act: 'Ask whose cluster it is whether its fetcher is alive. Raise audit.frozenAfterHours if its log is that quiet.',
    props: {
      ...once,
      metric: metrics.metric('frozenLogs', { statistic: 'Maximum', period: hour }),
      // As long as the next audit may take: an alarm that ends before it would be raised again every day.
      evaluationPeriods: stayHours(gap, missingMarginHours, longestWindowHours),
    },
  };
}

export function logGaps(metrics: Metrics, { gap }: WatchedAudit): AlarmDefinition {
  return {
    id: 'LogGaps',
    title: 'Log lines may be lost',
    means: 'At least one log moved on between two runs further than it reaches back, or was begun anew.',
    look: 'The mail of the audit, which says how far such a log reaches back. "npm run collector -- log <cluster> --seams".',
    act: 'Collect more often: schedule.expression. What is lost is lost; the service may keep more lines if asked.',
    props: {
      ...once,
      metric: metrics.metric('logGaps', { statistic: 'Maximum', period: hour }),
      evaluationPeriods: stayHours(gap, missingMarginHours, longestWindowHours),
    },
  };
}

const hour = Duration.seconds(alarmPeriodSeconds);

/** As soon as something was counted once. */
const once = {
  threshold: 1,
  comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  datapointsToAlarm: 1,
  treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
};
