import { Annotations, Match } from 'aws-cdk-lib/assertions';
import * as windows from '../../infra/alarm-windows';
import { deliveryAgeSeconds, eventAgeSeconds, heldBackRetry } from '../../infra/limits';
import { longestGap } from '../../lambda/schedule/cron-gap';
import {
  asynchronousAttempts,
  auditMetricNames,
  deadlineReserveSeconds,
  functionTimeoutSeconds,
  metricNames,
  metricNamespace,
} from '../../lambda/stack-contract';
import { longestExecutionSeconds, longestRunSeconds, waits } from '../../lambda/verify/longest-run';
import { audited, exampleTemplate, resourcesOf, type TemplateJson } from './example-stack';
import { alarmsGuide, checkSolutions, observedStack, operations, type Setup } from './observability-setup';

interface MetricStat {
  Metric: { MetricName: string; Namespace: string };
  Period: number;
  Stat: string;
}

interface Alarm {
  AlarmName: string;
  AlarmDescription: string;
  ActionsEnabled?: boolean;
  AlarmActions: unknown;
  OKActions: unknown;
  MetricName?: string;
  Namespace?: string;
  Dimensions?: { Name: string; Value: string }[];
  Metrics?: { Expression?: string; ReturnData?: boolean; MetricStat?: MetricStat }[];
  Statistic?: string;
  Period: number;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  Threshold: number;
  ComparisonOperator: string;
  TreatMissingData: string;
  WarmUpConfiguration?: { WarmUpPeriodDurationInMinutes: number };
}

/** As soon as something was counted once. */
const atOnce = { Statistic: 'Sum', Threshold: 1, ComparisonOperator: 'GreaterThanOrEqualToThreshold' };

/** A metric that Lambda has of the function. */
const ofLambda = (MetricName: string) => ({
  Namespace: 'AWS/Lambda',
  MetricName,
  Dimensions: [{ Name: 'FunctionName', Value: 'collector' }],
});

/** With every alarm that there is. */
const watched = { staleAfterHours: 48, frozenAfterHours: 26, alarmOnLogGaps: true };
const complete: Setup = { copied: true, audit: { schedule: 'cron(30 6 * * ? *)', ...watched } };

const synthesised = new Map<string, Map<string, Alarm>>();

/** The alarms of a stack by their title; each stack is synthesised once. */
function alarmsOf(setup: Setup = {}): Map<string, Alarm> {
  const name = JSON.stringify(setup);
  const known = synthesised.get(name);
  if (known !== undefined) return known;
  const resources = Object.values(observedStack(setup).template().findResources('AWS::CloudWatch::Alarm'));
  const alarms = new Map(
    resources.map(({ Properties }) => [(Properties as Alarm).AlarmName.replace('observed - ', ''), Properties]),
  );
  synthesised.set(name, alarms);
  return alarms;
}

function alarm(title: string, setup?: Setup): Alarm {
  const found = alarmsOf(setup).get(title);
  if (found === undefined) throw new Error(`there is no alarm "${title}"`);
  return found;
}

/** What "Run missing" counts. */
function scheduledRuns({ Metrics }: Alarm): MetricStat {
  const found = Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ?? [];
  if (found[0] === undefined || found.length > 1) throw new Error(`expected one metric, found ${found.length}`);
  return found[0];
}

/** The metrics that an alarm adds up: namespace and name. */
function metricsOf({ Metrics = [] }: Alarm): string[] {
  return Metrics.flatMap(({ MetricStat }) =>
    MetricStat === undefined ? [] : `${MetricStat.Metric.Namespace} ${MetricStat.Metric.MetricName}`,
  ).sort();
}

describe('the messages', () => {
  it('have one heading and one row of the index each in the guide, which has no others', () => {
    const titles = [...alarmsOf(complete).keys()].sort();
    expect([...alarmsGuide.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading).sort()).toEqual(titles);
    expect([...alarmsGuide.matchAll(/^\| \[(.+)\]\(#.*\) \|/gm)].map(([, title]) => title).sort()).toEqual(titles);
  });

  it('say what it means, what to look at and what to do, in at most 1,024 characters', () => {
    for (const [title, { AlarmDescription }] of alarmsOf(complete)) {
      expect(AlarmDescription).toMatch(
        /^ALARM: [A-Z].{20,}\.\n\nOK: .{20,}\.\n\nLook at: .{20,}\.\n\nDo: .{20,}\.\n\nMore: /,
      );
      expect(AlarmDescription).toContain(`docs/alarms.md, "${title}"`);
      expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
  });

  it('name the execution of a fleet in shards, in at most 1,024 characters', () => {
    const alarms = alarmsOf({ ...complete, shards: 500 });
    expect([...alarms.keys()].sort()).toEqual([...alarmsOf(complete).keys()].sort());
    for (const { AlarmDescription } of alarms.values()) expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
    expect(alarms.get('Run failed for good')?.AlarmDescription).toMatch(
      /Do: .*complete the run .*Redrive repeats only the failed end/,
    );
    expect(alarms.get('Run missing')?.AlarmDescription).toMatch(/the records of all its shards/);
  });

  it('are published when an alarm begins and when it is over', () => {
    const { template } = observedStack();
    const topic = { Ref: Object.keys(template().findResources('AWS::SNS::Topic'))[0] };
    for (const { AlarmActions, OKActions, ActionsEnabled } of alarmsOf().values()) {
      expect({ AlarmActions, OKActions }).toEqual({ AlarmActions: [topic], OKActions: [topic] });
      expect(ActionsEnabled).not.toBe(false);
    }
  });

  it('wake people for what is damaged, missing or rejected, and inform the others, if there are two groups', () => {
    const waking = [...alarmsOf({ ...complete, informed: true })].filter(([, { AlarmActions }]) =>
      JSON.stringify(AlarmActions).includes('AlertsTopic'),
    );
    const titles = waking.map(([title]) => title).sort();
    expect(titles).toEqual(
      ['Audit found damage', 'Audit missing', 'Key rejected', 'Run failed for good', 'Run missing'].sort(),
    );
    const inGuide = [...alarmsGuide.matchAll(/^\| \[(.+)\]\(#.*\) \|.*\| page \|$/gm)].map(([, title]) => title);
    expect(inGuide.sort()).toEqual(titles);
    for (const { AlarmActions, OKActions } of alarmsOf({ ...complete, informed: true }).values())
      expect(OKActions).toEqual(AlarmActions);
  });
});

describe('alarms and dashboard', () => {
  it('the cost estimate counts the metrics and alarms there are, without and with an audit', () => {
    const alarmMetrics = (setup?: Setup) =>
      [...alarmsOf(setup).values()]
        .map(({ Metrics }) => Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1)
        .reduce((sum, count) => sum + count);
    const ofAudit = Object.keys(auditMetricNames).length;
    expect(operations).toContain(
      `${Object.keys(metricNames).length - ofAudit} metrics x $0.30 + ${alarmMetrics()} alarm metrics x $0.10`,
    );
    const { audit } = complete;
    const more = alarmMetrics({ ...(audit && { audit }) }) - alarmMetrics();
    expect(operations).toContain(`audit: ${ofAudit} metrics x $0.30 + ${more} alarm metrics x $0.10`);
    const inShards = alarmMetrics({ shards: 4 }) - alarmMetrics();
    expect(inShards).toBe(3);
    expect(operations).toContain('`shards` add three alarm metrics');

    const count = (changes: Record<string, unknown>, type: string) =>
      resourcesOf(exampleTemplate(changes).toJSON() as TemplateJson, type).length;
    const keys = count({}, 'AWS::KMS::Key');
    const fixed = `Fixed are ${Object.keys(metricNames).length - ofAudit} metrics, ${alarmMetrics()} alarm metrics, ${count({}, 'AWS::CloudWatch::Dashboard')} dashboard, ${keys} KMS key and ${count({}, 'AWS::SecretsManager::Secret')} secret`;
    const ofTheAudit = `with an audit ${ofAudit} metrics, ${more} alarm metrics and ${count(audited, 'AWS::KMS::Key') - keys} KMS key more`;
    expect(operations.replaceAll('\n', ' ')).toContain(`${fixed}, and ${ofTheAudit}`);
    // In dollars, by the list prices of the table.
    const cloudWatch = 0.3 * (Object.keys(metricNames).length - ofAudit) + 0.1 * alarmMetrics() + 3;
    expect(operations).toMatch(new RegExp(`\\| CloudWatch \\|.*\\| ${cloudWatch.toFixed(2)} \\|`));
    expect(operations).toContain(`$${(cloudWatch + 1 + 0.4 + 0.05 + 0.04).toFixed(1)} without**`);
  });

  it('cdk-nag and the built-in template validation find nothing', () => {
    expect(() => checkSolutions(observedStack({ ...complete, shards: 4 }).app)).not.toThrow();
  });
});

describe('run missing', () => {
  const schedules = [
    ['cron(0 * * * ? *)', 'Etc/UTC', 2],
    ['cron(0 * * * ? *)', 'Europe/Berlin', 3],
    ['cron(*/10 * * * ? *)', 'Etc/UTC', 2],
    ['cron(0 3 * * ? *)', 'Etc/UTC', 25],
    ['cron(30 2 * * ? *)', 'Europe/Berlin', 48],
    ['cron(0 6 ? * MON-FRI *)', 'America/New_York', 74],
  ] as const;

  it.each(schedules)('%s in %s is missing after %p hours without a run', (expression, timeZone, hours) => {
    const missing = alarm('Run missing', { schedule: { expression, timeZone } });
    expect(missing).toMatchObject({ EvaluationPeriods: hours, DatapointsToAlarm: hours });
    expect(scheduledRuns(missing).Period).toBe(3600);
  });

  it.each(schedules)('the window for %s in %s covers its longest gap and the margin, within seven days', (...given) => {
    const [expression, timeZone] = given;
    const missing = alarm('Run missing', { schedule: { expression, timeZone } });
    const window = scheduledRuns(missing).Period * missing.EvaluationPeriods;
    const needed = (longestGap(expression, timeZone).hours + windows.missingMarginHours) * 3600;
    expect(window).toBeGreaterThanOrEqual(needed);
    expect(window).toBeLessThanOrEqual(7 * 24 * 3600);
  });

  it('counts runs of the schedule that wrote their record, and missing data as a missing run', () => {
    const missing = alarm('Run missing');
    expect(scheduledRuns(missing)).toMatchObject({
      Metric: {
        Namespace: metricNamespace,
        MetricName: metricNames.scheduled,
        Dimensions: [{ Name: 'service', Value: 'observed' }],
      },
      Stat: 'Sum',
    });
    expect(missing).toMatchObject({
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    });
  });

  it('gives every hour a data point, so that CloudWatch looks at no hour before the window', () => {
    const expressions = alarm('Run missing').Metrics?.filter(({ ReturnData }) => ReturnData !== false);
    expect(expressions?.map(({ Expression }) => Expression)).toEqual(['FILL(scheduled, 0)']);
  });

  it.each([
    [2, 3],
    [40, 3],
    [500, 19],
  ])('with %p shards, the window of an hourly schedule is %p hours, because an execution counts at its end', (shards, hours) => {
    expect(alarm('Run missing', { shards }).EvaluationPeriods).toBe(hours);
    expect((hours - 1) * 3600).toBeGreaterThan(longestExecutionSeconds(shards));
    expect((hours - 2) * 3600).toBeLessThanOrEqual(longestExecutionSeconds(shards));
    expect(alarm('Run failed for good', { shards }).EvaluationPeriods).toBe(hours);
  });

  it.each([
    [undefined, 3],
    [4, 4],
  ])('with %p shards and one run at a time, the window counts one run that may have to end before it', (shards, hours) => {
    const setup = { ...(shards && { shards }), oneRunAtATime: true };
    expect(alarm('Run missing', setup).EvaluationPeriods).toBe(hours);
  });

  it('is quiet after a deployment until the first run had its time, for two days at most', () => {
    const warmUp = (expression: string) => alarm('Run missing', { schedule: { expression } }).WarmUpConfiguration;
    expect(warmUp('cron(0 * * * ? *)')).toMatchObject({ WarmUpPeriodDurationInMinutes: 120 });
    expect(warmUp('cron(0 6 ? * MON-FRI *)')).toMatchObject({ WarmUpPeriodDurationInMinutes: 2880 });
  });

  it('has no alarm while the schedule is disabled', () => {
    expect([...alarmsOf({ schedule: { enabled: false } }).keys()]).not.toContain('Run missing');
  });

  it.each([
    'cron(0 6 ? * SUN *)',
    'cron(0 0 1 * ? *)',
    'cron(0 0 1 1 ? 2199)',
  ])('has no alarm for %s, which fires too rarely for one, and synth warns of it', (expression) => {
    const setup = { schedule: { expression } };
    expect([...alarmsOf(setup).keys()]).not.toContain('Run missing');
    const warnings = Annotations.fromStack(observedStack(setup).stack).findWarning('*', Match.anyValue());
    expect(warnings.map(({ entry }) => entry.data)).toEqual([
      expect.stringContaining('No alarm watches for missing runs'),
    ]);
  });

  it('has no warning if it has an alarm', () => {
    expect(Annotations.fromStack(observedStack().stack).findWarning('*', Match.anyValue())).toEqual([]);
  });
});

describe('the alarms about the audit', () => {
  it('do not exist without an audit', () => {
    expect([...alarmsOf().keys()].filter((title) => /audit|stale/i.test(title))).toEqual([]);
  });

  it('an audit is missing after the longest gap of its own schedule without a signed seal', () => {
    const missing = alarm('Audit missing', complete);
    expect(missing).toMatchObject({
      EvaluationPeriods: 25,
      DatapointsToAlarm: 25,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
      WarmUpConfiguration: { WarmUpPeriodDurationInMinutes: 25 * 60 },
    });
    expect(scheduledRuns(missing)).toMatchObject({
      Metric: {
        Namespace: metricNamespace,
        MetricName: auditMetricNames.sealsWritten,
        Dimensions: [{ Name: 'service', Value: 'observed' }],
      },
      Stat: 'Sum',
      Period: 3600,
    });
  });

  it('an audit every second week, for which CloudWatch looks back too short a time, is missing when it fails for good', () => {
    const setup = { audit: { schedule: 'cron(30 6 1,15 * ? *)' } };
    expect(alarm('Audit missing', setup)).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'AsyncEventsDropped',
      Dimensions: [{ Name: 'FunctionName', Value: 'audit' }],
      ...atOnce,
      TreatMissingData: 'notBreaching',
    });
    expect(alarm('Audit missing', setup)).not.toHaveProperty('WarmUpConfiguration');
    const warnings = Annotations.fromStack(observedStack(setup).stack).findWarning('*', Match.anyValue());
    expect(warnings.map(({ entry }) => entry.data)).toEqual([
      expect.stringMatching(/No alarm watches for missing audits: .* Watch "Seals and damage" on the dashboard/),
    ]);
  });

  it('an audit was not started as long as its own dead-letter queue holds a message', () => {
    expect(alarm('Audit not started', complete)).toMatchObject({
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: 'audits-lost' }],
      TreatMissingData: 'ignore',
    });
  });

  it.each([
    ['cron(30 6 * * ? *)', 25],
    ['cron(30 0/2 * * ? *)', 3],
    ['cron(30 6 ? * SUN *)', 168],
  ])('audits of %s are behind if two in a row carry something over', (schedule, hours) => {
    expect(alarm('Audit behind', { audit: { schedule } })).toMatchObject({
      MetricName: auditMetricNames.auditCarriedOver,
      Statistic: 'Maximum',
      Period: 3600,
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      DatapointsToAlarm: 2,
      EvaluationPeriods: hours,
      TreatMissingData: 'notBreaching',
    });
  });

  it('damage stays until an audit says that nothing is open, even if no audit comes', () => {
    expect(alarm('Audit found damage', complete)).toMatchObject({
      MetricName: auditMetricNames.auditFindings,
      Statistic: 'Maximum',
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Period: 300,
      EvaluationPeriods: 1,
      DatapointsToAlarm: 1,
      TreatMissingData: 'ignore',
    });
  });

  it('clusters are stale only after more hours than configured, and never if none are', () => {
    expect(alarm('Clusters stale', complete)).toMatchObject({
      MetricName: auditMetricNames.stalestHours,
      Threshold: 48,
      ComparisonOperator: 'GreaterThanThreshold',
      EvaluationPeriods: 25,
      DatapointsToAlarm: 1,
      TreatMissingData: 'notBreaching',
    });
    expect([...alarmsOf({ audit: { schedule: 'cron(30 6 * * ? *)' } }).keys()]).not.toContain('Clusters stale');
  });
});

describe('the alarms about logs', () => {
  it.each([
    ['Logs frozen', auditMetricNames.frozenLogs],
    ['Log lines may be lost', auditMetricNames.logGaps],
  ])('%s as soon as an audit counts one, until the next audit, and only if asked for', (title, metric) => {
    expect(alarm(title, complete)).toMatchObject({
      MetricName: metric,
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 25,
      DatapointsToAlarm: 1,
      TreatMissingData: 'notBreaching',
    });
    expect([...alarmsOf({ audit: { schedule: 'cron(30 6 * * ? *)' } }).keys()]).not.toContain(title);
  });
});

describe('the other alarms', () => {
  it('a run failed for good when Lambda drops its event, not when one attempt fails', () => {
    expect(alarm('Run failed for good')).toMatchObject({ ...ofLambda('AsyncEventsDropped'), ...atOnce });
  });

  it('with shards, a run also failed for good when the execution fails', () => {
    expect(metricsOf(alarm('Run failed for good', { shards: 4 }))).toEqual([
      'AWS/Lambda AsyncEventsDropped',
      'AWS/States ExecutionsFailed',
      'AWS/States ExecutionsTimedOut',
    ]);
  });

  it('a delivery is lost as long as the dead-letter queue holds a message', () => {
    expect(alarm('Delivery lost')).toMatchObject({
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: 'lost' }],
      Statistic: 'Maximum',
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      TreatMissingData: 'ignore',
    });
  });

  it('a run is close to its time limit before the collector has to stop on its own', () => {
    const { Threshold, ...close } = alarm('Run close to its time limit');
    expect(close).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'Duration', Statistic: 'Maximum' });
    expect(Threshold).toBe(0.8 * functionTimeoutSeconds * 1000);
    expect(Threshold).toBeLessThan((functionTimeoutSeconds - deadlineReserveSeconds) * 1000);
  });

  it('the first attempt that ends by a rejected key raises its alarm', () => {
    expect(alarm('Key rejected')).toMatchObject({
      Namespace: metricNamespace,
      MetricName: metricNames.keyRejected,
      Dimensions: [{ Name: 'service', Value: 'observed' }],
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      DatapointsToAlarm: 1,
    });
  });

  it('throttling counts as a share of the answers, and only from ten answers on', () => {
    const { Metrics, Threshold } = alarm('Service throttling us');
    expect(Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression).toBe(
      'IF(throttled >= 10, 100 * throttled / (throttled + archived + failed), 0)',
    );
    expect(Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric.MetricName ?? []).sort()).toEqual(
      [metricNames.archived, metricNames.failed, metricNames.throttled].sort(),
    );
    expect(Threshold).toBe(windows.throttledPercent);
  });

  it('a failure message is lost when Lambda cannot hand it over, or the function cannot tell it', () => {
    expect(metricsOf(alarm('Failure message lost'))).toEqual([
      'AWS/Lambda AsyncEventsDropped',
      'AWS/Lambda DestinationDeliveryFailures',
    ]);
  });

  it('with shards, it is also lost when EventBridge cannot hand it over', () => {
    const lost = alarm('Failure message lost', { shards: 4 });
    expect(metricsOf(lost)).toContain('AWS/Events FailedInvocations');
    expect(lost.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression).toBe(
      'SUM([undelivered, untold, failedInvocations])',
    );
  });

  it('a copy failed when S3 could not replicate an object, if objects are copied', () => {
    expect(alarm('Copy failed', { copied: true })).toMatchObject({ Threshold: 1, Period: 3600 });
    expect([...alarmsOf().keys()]).not.toContain('Copy failed');
    exampleTemplate({ archive: { replicateTo: { bucketArn: 'arn:aws:s3:::copies' } } }).hasResourceProperties(
      'AWS::CloudWatch::Alarm',
      {
        Namespace: 'AWS/S3',
        MetricName: 'OperationsFailedReplication',
        Statistic: 'Sum',
        Dimensions: [
          { Name: 'DestinationBucket', Value: 'copies' },
          { Name: 'RuleId', Value: 'everything' },
          { Name: 'SourceBucket', Value: { Ref: Match.stringLikeRegexp('^ArchiveBucket') } },
        ],
      },
    );
  });

  it.each([
    'Run failed for good',
    'Run close to its time limit',
    'Key rejected',
    'Service throttling us',
    'Failure message lost',
  ])('"%s" begins with one bad hour, and stays until the next run had its time, a day at most', (title) => {
    const [hourly, daily] = ['cron(0 * * * ? *)', 'cron(0 3 * * ? *)'].map((expression) =>
      alarm(title, { schedule: { expression } }),
    );
    expect(hourly).toMatchObject({ EvaluationPeriods: 2, DatapointsToAlarm: 1, TreatMissingData: 'notBreaching' });
    expect(daily).toMatchObject({ EvaluationPeriods: 24, DatapointsToAlarm: 1 });
  });
});

describe('numbers that belong together', () => {
  it('the margin of a missing run covers a run whose last attempt alone reports', () => {
    expect(longestRunSeconds).toBe(asynchronousAttempts * functionTimeoutSeconds + 60 + 120);
    expect(longestRunSeconds).toBeLessThan(windows.missingMarginHours * 3600);
  });

  it('an event lives longer than the longest run with all its attempts, and not longer than Lambda allows', () => {
    expect(eventAgeSeconds(false)).toBeGreaterThan(longestRunSeconds);
    // Of three firings at once, the last one waits for two runs.
    expect(eventAgeSeconds(true)).toBeGreaterThan(3 * longestRunSeconds);
    expect(eventAgeSeconds(true)).toBeLessThanOrEqual(6 * 3600);
    expect(waits(heldBackRetry)).toBe(eventAgeSeconds(true));
  });

  it('the operations guide has the configured times', () => {
    expect(deliveryAgeSeconds).toBe(3600);
    expect(alarmsGuide).toContain('The scheduler could not start a run for an hour');
    expect(windows.longestWindowHours - windows.missingMarginHours).toBe(167);
    expect(alarmsGuide).toMatch(/may pause for more than 167\s+hours/);
    expect(asynchronousAttempts).toBe(3);
    expect(alarmsGuide).toContain('Lambda tried the run three times and gave up');
  });

  it('windows keep within what CloudWatch accepts', () => {
    expect(windows.alarmPeriodSeconds).toBeGreaterThanOrEqual(3600);
    expect(windows.longestWindowHours * 3600).toBeLessThanOrEqual(604_800);
    expect(windows.promptWindowHours * 3600).toBeLessThanOrEqual(86_400);
    expect(windows.missingWindowHours({ hours: 167 })).toBe(168);
    expect(windows.missingWindowHours({ hours: 167.01 })).toBeUndefined();
  });
});
