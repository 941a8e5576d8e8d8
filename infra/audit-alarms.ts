import { Duration } from 'aws-cdk-lib';
import { type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { metricNames } from '../lambda/stack-contract';
import * as windows from './alarm-windows';
import { type Alarms, missingFor, raisedBy, sumOf, where } from './alarms';
import type { Audit } from './audit';
import type { Collector } from './collector';

const { hoursText } = windows;
const period = Duration.seconds(windows.alarmPeriodSeconds);

/** @param missingHours without a signed seal after which an audit is missing; undefined: no alarm looks back that far */
export function auditAlarms(collector: Collector, audit: Audit, missingHours: number | undefined): Alarms {
  const { staleAfterHours, frozenAfterHours, logGaps } = audit.settings.alarms ?? {};
  const { gap } = audit.schedule;
  // As long as the next audit may take: an alarm that ends before it would be raised again every day.
  const untilNext = windows.stayHours(gap, windows.missingMarginHours, windows.longestWindowHours);
  const most = (name: keyof typeof metricNames) => collector.metric(name, { statistic: 'Maximum', period });
  return {
    AuditMissing: {
      title: 'Audit missing',
      pages: true,
      look: "The audit's log, its error in the other message on this topic, its schedule and the dead-letter queue.",
      act: 'Fix the cause, then audit now with the command of the output AuditNow. The next seal covers what is missing.',
      // Where no alarm looks back far enough, an audit that failed for good has to do.
      ...(missingHours === undefined
        ? {
            means: 'The last attempt of an audit failed: its time has no seal.',
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
          }),
    },
    AuditBehind: {
      title: 'Audit behind',
      means:
        'Two audits in a row left something for the next one: audits cannot keep up, and the newest objects are not sealed yet; or no time stamp could be had for three days.',
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
      act: 'Change nothing in the archive. Find out who wrote or deleted, then bring back the right versions.',
      props: {
        // In an hour there may be the audit that finds it, the repair, and the audit that sees it.
        ...raisedBy(most('auditFindings').with({ period: Duration.minutes(5) }), 1),
        // Only an audit can say that it is repaired: that there was none says nothing.
        treatMissingData: TreatMissingData.IGNORE,
      },
    },
    ClustersStale: (staleAfterHours ?? frozenAfterHours) !== undefined && {
      title: 'Clusters stale',
      means: `At least one cluster ${[
        staleAfterHours !== undefined && `was not archived for more than ${hoursText(staleAfterHours)}`,
        frozenAfterHours !== undefined &&
          `had nothing new in its log for ${hoursText(frozenAfterHours)}, although runs archive it`,
      ]
        .filter(Boolean)
        .join(', or ')}.`,
      look: '"npm run collector -- runs" names the clusters; the mail of the audit has the frozen logs, and the dashboard the failures.',
      act:
        'Fix the cause. Remove a cluster that is gone for good from the configuration, or mark it as optional. Ask the owner of a ' +
        'frozen log whether its fetcher is alive.',
      props: raisedBy(staleOrFrozen(collector, audit.settings.alarms ?? {}), untilNext),
    },
    LogGaps: logGaps && {
      title: 'Log lines may be lost',
      means:
        'At least one log moved on between two runs further than it reaches back, or started again from the beginning.',
      look: 'The mail of the audit, which names such a log. "npm run collector -- log <cluster> --seams".',
      act: 'Collect more often: schedule.expression. Lost lines cannot be recovered. Ask the service team to keep more lines.',
      props: raisedBy(most('logGaps'), untilNext),
    },
  };
}

function staleOrFrozen(
  collector: Collector,
  { staleAfterHours, frozenAfterHours }: NonNullable<Audit['settings']['alarms']>,
): IMetric {
  const most = (name: keyof typeof metricNames) => collector.metric(name, { statistic: 'Maximum', period });
  const stale =
    staleAfterHours !== undefined && where(`stalest > ${staleAfterHours}`, { stalest: most('stalestHours') });
  const parts = { ...(stale && { stale }), ...(frozenAfterHours !== undefined && { frozen: most('frozenLogs') }) };
  return sumOf(parts, 'Clusters with nothing new for too long');
}
