import { Annotations, Match } from 'aws-cdk-lib/assertions';
import * as windows from '../../infra/alarm-windows';
import { deliveryAgeSeconds, eventAgeSeconds, longestExecutionSeconds } from '../../infra/limits';
import { longestGap } from '../../lambda/schedule/cron-gap';
import {
  asynchronousAttempts,
  auditMetricNames,
  deadlineReserveSeconds,
  functionTimeoutSeconds,
  metricNames,
  metricNamespace,
} from '../../lambda/stack-contract';
import { exampleTemplate, topicArn } from './example-stack';
import { checkSolutions, observedStack, operations, type Setup } from './observability-setup';

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
const complete: Setup = { copied: true, audit: { schedule: 'cron(30 6 * * ? *)', staleAfterHours: 48 } };

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

describe('the messages', () => {
  it('have one heading each in the operations guide, which has no others', () => {
    const section = /^## Alarms$(.*?)(?=^## )/ms.exec(operations)?.[1] ?? '';
    const headings = [...section.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
    expect(headings.sort()).toEqual([...alarmsOf(complete).keys()].sort());
  });

  it('say what it means, what to look at and what to do, in at most 1,024 characters', () => {
    for (const [title, { AlarmDescription }] of alarmsOf(complete)) {
      expect(AlarmDescription).toMatch(/^[A-Z].{20,}\.\n\nLook at: .{20,}\.\n\nDo: .{20,}\.\n\nMore: /);
      expect(AlarmDescription).toContain(`docs/operations.md, "${title}"`);
      expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
  });

  it('name the execution of a fleet in shards, in at most 1,024 characters', () => {
    const alarms = alarmsOf({ ...complete, shards: 500 });
    expect([...alarms.keys()].sort()).toEqual([...alarmsOf(complete).keys()].sort());
    for (const { AlarmDescription } of alarms.values()) expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
    expect(alarms.get('Run failed for good')?.AlarmDescription).toMatch(/Do: .*complete the run .*another execution/);
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

  it('has no alarm for an audit every second week, and synth warns of it', () => {
    const setup = { audit: { schedule: 'cron(30 6 1,15 * ? *)' } };
    expect([...alarmsOf(setup).keys()]).not.toContain('Audit missing');
    const warnings = Annotations.fromStack(observedStack(setup).stack).findWarning('*', Match.anyValue());
    expect(warnings.map(({ entry }) => entry.data)).toEqual([
      expect.stringMatching(/No alarm watches for missing audits: .* Watch "Seals and damage" on the dashboard/),
    ]);
  });

  it('damage stays until the next audit had its time, even if that is more than a day', () => {
    expect(alarm('Audit found damage', complete)).toMatchObject({
      MetricName: auditMetricNames.auditFindings,
      Statistic: 'Maximum',
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 25,
      DatapointsToAlarm: 1,
      TreatMissingData: 'notBreaching',
    });
  });

  it('clusters are stale only after more hours than configured, and never if none are', () => {
    expect(alarm('Clusters stale', complete)).toMatchObject({
      MetricName: auditMetricNames.stalestHours,
      Threshold: 48,
      ComparisonOperator: 'GreaterThanThreshold',
    });
    expect([...alarmsOf({ audit: { schedule: 'cron(30 6 * * ? *)' } }).keys()]).not.toContain('Clusters stale');
  });
});

describe('the other alarms', () => {
  it('a run failed for good when Lambda drops its event, not when one attempt fails', () => {
    expect(alarm('Run failed for good')).toMatchObject({ ...ofLambda('AsyncEventsDropped'), ...atOnce });
  });

  it('with shards, a run also failed for good when the execution fails', () => {
    const names = alarm('Run failed for good', { shards: 4 }).Metrics?.flatMap(({ MetricStat }) =>
      MetricStat === undefined ? [] : `${MetricStat.Metric.Namespace} ${MetricStat.Metric.MetricName}`,
    );
    expect(names?.sort()).toEqual([
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

  it('a failure message is lost when Lambda cannot deliver it to the topic', () => {
    expect(alarm('Failure message lost')).toMatchObject({ ...ofLambda('DestinationDeliveryFailures'), ...atOnce });
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

describe('a failed execution', () => {
  const pattern = {
    source: ['aws.states'],
    'detail-type': ['Step Functions Execution Status Change'],
    detail: {
      stateMachineArn: ['arn:aws:states:eu-central-1:111111111111:stateMachine:shards'],
      status: ['FAILED', 'TIMED_OUT'],
    },
  };

  it('sends a message every time, because an alarm that is raised already sends none', () => {
    const template = observedStack({ shards: 4 }).template();
    const topic = Object.keys(template.findResources('AWS::SNS::Topic'))[0];
    template.hasResourceProperties('AWS::Events::Rule', {
      State: 'ENABLED',
      EventPattern: pattern,
      Targets: [{ Arn: { Ref: topic }, RoleArn: Match.absent(), InputTransformer: Match.anyValue() }],
    });
    observedStack().template().resourceCountIs('AWS::Events::Rule', 0);
  });

  it('reaches an existing topic, too', () => {
    const template = observedStack({ shards: 4, alerts: { topicArn } }).template();
    template.hasResourceProperties('AWS::Events::Rule', { Targets: [Match.objectLike({ Arn: topicArn })] });
  });

  it('is described in plain text with its name, its status and its cause', () => {
    const [rule] = Object.values(observedStack({ shards: 4 }).template().findResources('AWS::Events::Rule'));
    const { InputPathsMap, InputTemplate } = rule?.Properties.Targets[0].InputTransformer as {
      InputPathsMap: Record<string, string>;
      InputTemplate: string;
    };
    const event: Record<string, string> = {
      '$.detail.name': 'run-7',
      '$.detail.status': 'FAILED',
      '$.detail.cause': 'shard 2',
    };
    const text = InputTemplate.replace(/<([^>]+)>/g, (_, name) => event[InputPathsMap[name] ?? ''] ?? 'nothing');
    expect(text.split('\n').map((line) => JSON.parse(line))).toEqual([
      'observed: an execution of the state machine ended with FAILED.',
      'Execution: run-7',
      'Cause: shard 2',
      'More: docs/operations.md, "Run failed for good".',
    ]);
  });
});

describe('numbers that belong together', () => {
  it('the margin of a missing run covers a run whose last attempt alone reports', () => {
    expect(windows.longestRunSeconds).toBe(asynchronousAttempts * functionTimeoutSeconds + 60 + 120);
    expect(windows.longestRunSeconds).toBeLessThan(windows.missingMarginHours * 3600);
  });

  it('an event lives longer than the longest run with all its attempts, and not longer than Lambda allows', () => {
    expect(eventAgeSeconds).toBeGreaterThan(windows.longestRunSeconds);
    expect(eventAgeSeconds).toBeLessThanOrEqual(6 * 3600);
  });

  it('the operations guide has the configured times', () => {
    expect(deliveryAgeSeconds).toBe(3600);
    expect(operations).toContain('The scheduler could not start a run for an hour');
    expect(windows.longestWindowHours - windows.missingMarginHours).toBe(167);
    expect(operations).toMatch(/may pause for more than 167\s+hours/);
    expect(asynchronousAttempts).toBe(3);
    expect(operations).toContain('Lambda tried the run three times and gave up');
  });

  it('windows keep within what CloudWatch accepts', () => {
    expect(windows.alarmPeriodSeconds).toBeGreaterThanOrEqual(3600);
    expect(windows.longestWindowHours * 3600).toBeLessThanOrEqual(604_800);
    expect(windows.promptWindowHours * 3600).toBeLessThanOrEqual(86_400);
    expect(windows.missingWindowHours({ hours: 167 })).toBe(168);
    expect(windows.missingWindowHours({ hours: 167.01 })).toBeUndefined();
  });
});
