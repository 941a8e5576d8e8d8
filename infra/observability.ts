import { Annotations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import type { Gap } from '../archive/format/schedule/cron-gap';
import { runMarginHours } from '../lambda/time-limits';
import { hoursText, longestWarmUpMinutes, longestWindowHours, missingWindowHours } from './alarm-windows';
import { type AlarmDefinition, runAlarms } from './alarms';
import { auditAlarms } from './audit-alarms';
import { Dashboard, dashboardLink } from './dashboard';
import type { Parts } from './parts';

/** The alarms, each of which sends a message when it begins and when it is over, and the dashboard. */
export class Observability extends Construct {
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, parts: Parts) {
    super(scope, id);
    const { config, collector, schedule, audit } = parts;
    const marginHours = runMarginHours(config.shards, config.limits.oneRunAtATime);
    const missingHours = config.schedule.enabled ? missingWindowHours(schedule.gap, marginHours) : undefined;
    if (config.schedule.enabled && missingHours === undefined)
      this.#warnOfMissing('run', 'Outcomes per run', schedule.gap);
    const definitions = runAlarms(parts, marginHours, missingHours);
    if (audit !== undefined) {
      const unsealedHours = missingWindowHours(audit.schedule.gap);
      if (unsealedHours === undefined) this.#warnOfMissing('audit', 'Seals and damage', audit.schedule.gap);
      Object.assign(definitions, auditAlarms(collector, audit, unsealedHours));
    }
    this.alarms = Object.entries(definitions).flatMap(([id, definition]) =>
      definition ? this.#alarm(id, definition, parts) : [],
    );
    new Dashboard(this, 'Dashboard', { ...parts, alarms: [...this.alarms] });
  }

  /** @param widget on the dashboard, to watch instead */
  #warnOfMissing(what: 'run' | 'audit', widget: string, gap: Gap): void {
    const reason = Number.isFinite(gap.hours)
      ? `the schedule may pause for ${hoursText(gap.hours)}`
      : 'the schedule fires only once more';
    Annotations.of(this).addWarningV2(
      `cluster-log-collector:no-${what}-missing-alarm`,
      `No alarm watches for missing ${what}s: ${reason}, and an alarm looks back ${hoursText(longestWindowHours)} at ` +
        `most. You still get a mail if one fails or cannot start. For the rest watch "${widget}" on the dashboard.`,
    );
  }

  #alarm(id: string, definition: AlarmDefinition, { config, page, inform }: Parts): cloudwatch.Alarm {
    const { title, pages, means, look, act, props } = definition;
    const alarm = new cloudwatch.Alarm(this, id, {
      ...props,
      alarmName: `${config.name} - ${title}`,
      alarmDescription:
        `ALARM: ${means}\n\nOK: The problem is gone. (A newly created alarm also sends one OK.)\n\n` +
        `Look at: ${look}\n\nDo: ${act}\n\nMore: docs/alarms.md, "${title}". ${dashboardLink(config.name)}`,
    });
    const notify = new SnsAction((pages ? page : inform).topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
    if (props.treatMissingData === cloudwatch.TreatMissingData.BREACHING) warmUp(alarm, props.evaluationPeriods);
    return alarm;
  }
}

/** A new stack has no data yet, because it has neither run nor sealed, which must wake nobody up. */
function warmUp(alarm: cloudwatch.Alarm, hours: number): void {
  const resource = alarm.node.defaultChild as cloudwatch.CfnAlarm;
  resource.warmUpConfiguration = {
    warmUpPeriodDurationInMinutes: Math.min(hours * 60, longestWarmUpMinutes),
    onlyStartEvaluatingAfterWarmUpPeriodEnds: true,
  };
  // CloudFormation has had the property since 2026; the linter does not know it yet.
  resource.addMetadata('cfn-lint', { config: { ignore_checks: ['E3002'] } });
}
