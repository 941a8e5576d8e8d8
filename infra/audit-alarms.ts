import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { metricNames } from '../lambda/stack-contract';
import * as windows from './alarm-windows';
import { type Alarms, missingFor, raisedBy, whileHolding } from './alarms';
import type { Audit } from './audit';
import type { Collector } from './collector';

const { hoursText } = windows;
const period = Duration.seconds(windows.alarmPeriodSeconds);

/** @param missingHours without a signed seal after which an audit is missing; undefined: no alarm looks back that far */
export function auditAlarms(collector: Collector, audit: Audit, missingHours: number | undefined): Alarms {
  const { staleAfterHours, frozenAfterHours, alarmOnLogGaps } = audit.settings;
  const { gap, deadLetterQueue } = audit.schedule;
  // As long as the next audit may take: an alarm that ends before it would be raised again every day.
  const untilNext = windows.stayHours(gap, windows.missingMarginHours, windows.longestWindowHours);
  const most = (name: keyof typeof metricNames) => collector.metric(name, { statistic: 'Maximum', period });
  return {
    AuditMissing: {
      title: 'Audit missing',
      pages: true,
      look: "The audit's log, its error in the other message on this topic, its schedule and its dead-letter queue.",
      act: 'Fix the cause, then audit now with the command of the output AuditNow. The next seal covers what is missing.',
      // Where no alarm looks back far enough, an audit that failed for good has to do.
      ...(missingHours === undefined
        ? {
            means: 'The last attempt of an audit failed: there is no seal of its time.',
            props: raisedBy(
              audit.function.metric('AsyncEventsDropped', { statistic: 'Sum', period }),
              windows.promptWindowHours,
            ),
          }
        : {
            means:
              `No audit has stored and signed a seal for ${hoursText(missingHours)}. ` +
              `The longest gap of its schedule is ${hoursText(gap.hours)}.`,
            props: missingFor(missingHours, collector.metric('sealsWritten', { period }), 'Seals'),
            warmUpHours: missingHours,
          }),
    },
    AuditBehind: {
      title: 'Audit behind',
      means: 'Two audits in a row left something for the next one: they cannot keep up, and the newest objects wait.',
      look: 'What is left for the next audit, on the dashboard, and whether it grows.',
      act: 'Audit more often with audit.schedule, collect less often, or raise audit.rereadDays.',
      // One alone may have had a large fleet's first day to read.
      props: { ...raisedBy(most('auditCarriedOver'), untilNext), datapointsToAlarm: 2 },
    },
    DamageFound: {
      pages: true,
      title: 'Audit found damage',
      means: 'Objects, run records or seals are missing, altered or forged, and neither repaired nor acknowledged.',
      look: 'The mail of the audit says what is open and since when. "npm run collector -- verify" lists all of it.',
      act: 'Change nothing in the archive. Find out who wrote or deleted (access logs), then restore former versions.',
      props: {
        // In an hour there may be the audit that finds it, the repair, and the audit that sees it.
        ...raisedBy(most('auditFindings').with({ period: Duration.minutes(5) }), 1),
        // Only an audit can say that it is repaired: that there was none says nothing.
        treatMissingData: TreatMissingData.IGNORE,
      },
    },
    AuditNotStarted: {
      title: 'Audit not started',
      means: 'The scheduler could not start an audit and gave up: its event is in the dead-letter queue of the audit.',
      look: 'The attributes of the message in the queue: they say why the invocation was refused.',
      act: 'Fix the cause, audit now with the command of the output AuditNow, then delete the message.',
      props: whileHolding(deadLetterQueue),
    },
    ClustersStale: staleAfterHours !== undefined && {
      title: 'Clusters stale',
      means: `At least one cluster was not archived for more than ${hoursText(staleAfterHours)}.`,
      look: 'The mail of the audit, which names the clusters, and the failures on the dashboard.',
      act: 'Fix the cause. Remove a cluster that is gone for good from the configuration, or mark it as optional.',
      props: {
        ...raisedBy(most('stalestHours'), untilNext, staleAfterHours),
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      },
    },
    LogsFrozen: frozenAfterHours !== undefined && {
      title: 'Logs frozen',
      means: `At least one log has had nothing new for ${hoursText(frozenAfterHours)}, although runs archive it.`,
      look: 'The mail of the audit names the first. "npm run collector -- log <cluster> --seams" shows since when.',
      act: 'Ask whose cluster it is whether its fetcher is alive. Raise audit.frozenAfterHours if its log is that quiet.',
      props: raisedBy(most('frozenLogs'), untilNext),
    },
    LogGaps: alarmOnLogGaps && {
      title: 'Log lines may be lost',
      means: 'At least one log moved on between two runs further than it reaches back, or was begun anew.',
      look: 'The mail of the audit, which says how far such a log reaches back. "npm run collector -- log <cluster> --seams".',
      act: 'Collect more often: schedule.expression. What is lost is lost; the service may keep more lines if asked.',
      props: raisedBy(most('logGaps'), untilNext),
    },
  };
}
