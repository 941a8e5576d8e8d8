import { Annotations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type Gap, longestGap } from '../lambda/schedule/cron-gap';
import { runMarginHours } from '../lambda/verify/longest-run';
import { longestWarmUpMinutes, longestWindowHours, missingMarginHours, missingWindowHours } from './alarm-windows';
import {
  type AlarmDefinition,
  closeToLimit,
  copyFailed,
  deliveryLost,
  hoursText,
  keyRejected,
  messageLost,
  runFailed,
  runMissing,
  throttled,
  type Watched,
} from './alarms';
import type { Alerts } from './alerts';
import {
  auditBehind,
  auditMissing,
  auditNotStarted,
  clustersStale,
  damageFound,
  logGaps,
  logsFrozen,
  type WatchedAudit,
} from './audit-alarms';
import type { CollectorConfig } from './config/config';
import { Dashboard } from './dashboard';
import type { FailureMessages } from './failure-messages';
import type { FanOut } from './fan-out';
import { ExecutionRuns, FunctionRuns, type RunSource } from './run-source';

export interface ObservabilityProps {
  readonly config: Pick<CollectorConfig, 'name' | 'schedule' | 'limits' | 'shards'>;
  /** Gets the alarms that wake people. */
  readonly page: Pick<Alerts, 'topic'>;
  /** Gets the others. */
  readonly inform: Pick<Alerts, 'topic'>;
  readonly failures: Pick<FailureMessages, 'untold'>;
  readonly function: IFunction;
  readonly logGroup: ILogGroup;
  /** Receives events that the scheduler could not deliver. */
  readonly deadLetterQueue: IQueue;
  readonly archiveBucket: IBucket;
  /** Counts objects that could not be copied to another bucket; undefined if nothing is copied. */
  readonly failedReplications?: cloudwatch.Metric | undefined;
  /** Works on the shards of a fleet that is too large for one invocation. */
  readonly fanOut?: Pick<FanOut, 'stateMachine' | 'shards'> | undefined;
  /** Verifies and seals the archive; undefined if nothing does. */
  readonly audit?: WatchedAudit | undefined;
}

/** The alarms, each of which sends a message when it begins and when it is over, and the dashboard. */
export class Observability extends Construct {
  readonly #alarms: cloudwatch.Alarm[] = [];
  readonly #props: ObservabilityProps;

  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    this.#props = props;
    const { config, fanOut, failedReplications, audit } = props;
    const { expression, timeZone, enabled } = config.schedule;
    const gap = longestGap(expression, timeZone);
    const runs: RunSource =
      fanOut === undefined
        ? new FunctionRuns(config.name, props.function)
        : new ExecutionRuns(config.name, props.function, fanOut);
    const watched: Watched = {
      ...props,
      runs,
      gap,
      marginHours: runMarginHours(config.shards, config.limits.oneRunAtATime),
    };
    this.#alarm(runFailed(watched));
    if (enabled) this.#watchRuns(watched);
    for (const define of [deliveryLost, closeToLimit, keyRejected, throttled, messageLost])
      this.#alarm(define(watched));
    if (failedReplications !== undefined) this.#alarm(copyFailed(watched, failedReplications));
    if (audit !== undefined) this.#watchAudit(runs, audit);
    new Dashboard(this, 'Dashboard', { ...props, alarms: this.#alarms, runs, gap });
  }

  #watchRuns(watched: Watched): void {
    const { gap, marginHours } = watched;
    const hours = missingWindowHours(gap, marginHours);
    if (hours === undefined) this.#warnOfMissing('run', 'Last green runs', gap);
    else this.#warmUp(this.#alarm(runMissing(watched, hours)), hours);
  }

  #watchAudit(runs: RunSource, audit: WatchedAudit): void {
    const hours = missingWindowHours(audit.gap, missingMarginHours);
    const missing = this.#alarm(auditMissing(runs, audit, hours));
    if (hours === undefined) this.#warnOfMissing('audit', 'Seals and damage', audit.gap);
    else this.#warmUp(missing, hours);
    for (const define of [auditBehind, damageFound]) this.#alarm(define(runs, audit));
    this.#alarm(auditNotStarted(audit));
    if (audit.staleAfterHours !== undefined) this.#alarm(clustersStale(runs, audit, audit.staleAfterHours));
    if (audit.frozenAfterHours !== undefined) this.#alarm(logsFrozen(runs, audit, audit.frozenAfterHours));
    if (audit.alarmOnLogGaps === true) this.#alarm(logGaps(runs, audit));
  }

  /** @param widget on the dashboard, to watch instead */
  #warnOfMissing(what: 'run' | 'audit', widget: string, gap: Gap): void {
    const reason = Number.isFinite(gap.hours)
      ? `the schedule may pause for ${hoursText(gap.hours)}`
      : 'the schedule fires only once more';
    Annotations.of(this).addWarningV2(
      `cluster-log-collector:no-${what}-missing-alarm`,
      `No alarm watches for missing ${what}s: ${reason}, and an alarm looks back ${hoursText(longestWindowHours)} at ` +
        `most. One that fails, or cannot be started, is told all the same. Watch "${widget}" on the dashboard for the rest.`,
    );
  }

  /** After the first deployment there is no run and no seal yet, and that is no reason to wake anybody. */
  #warmUp(alarm: cloudwatch.Alarm, hours: number): void {
    const resource = alarm.node.defaultChild as cloudwatch.CfnAlarm;
    resource.warmUpConfiguration = {
      warmUpPeriodDurationInMinutes: Math.min(hours * 60, longestWarmUpMinutes),
      onlyStartEvaluatingAfterWarmUpPeriodEnds: true,
    };
    // CloudFormation has had the property since 2026; the linter does not know it yet.
    resource.addMetadata('cfn-lint', { config: { ignore_checks: ['E3002'] } });
  }

  #alarm({ id, title, pages, means, look, act, props }: AlarmDefinition): cloudwatch.Alarm {
    const alarm = new cloudwatch.Alarm(this, id, {
      ...props,
      alarmName: `${this.#props.config.name} - ${title}`,
      alarmDescription:
        `ALARM: ${means}\n\nOK: It is over. A new alarm begins with OK.\n\n` +
        `Look at: ${look}\n\nDo: ${act}\n\nMore: docs/alarms.md, "${title}".`,
    });
    const notify = new SnsAction(this.#props[pages ? 'page' : 'inform'].topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
    this.#alarms.push(alarm);
    return alarm;
  }
}
