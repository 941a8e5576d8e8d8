import * as windows from '../../infra/alarm-windows';
import { deliveryAgeSeconds, eventAgeSeconds, heldBackRetry } from '../../infra/limits';
import { longestGap } from '../../lambda/schedule/cron-gap';
import { auditMetricNames, metricNames } from '../../lambda/stack-contract';
import {
  asynchronousAttempts,
  deadlineReserveSeconds,
  functionTimeoutSeconds,
  longestExecutionSeconds,
  longestRunSeconds,
  runMarginHours,
  waits,
} from '../../lambda/time-limits';
import { audited, everything, resourcesOf, templateOf, textOf, toldAtSynth } from './example-stack';
import { alarmsGuide, operations } from './guides';

type Changes = Record<string, unknown>;

interface MetricStat {
  Metric: { MetricName: string; Namespace: string; Dimensions: { Value: unknown }[] };
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
  Namespace: string;
  Dimensions: { Value: unknown }[];
  Metrics?: { Expression?: string; ReturnData?: boolean; MetricStat?: MetricStat }[];
  Statistic: string;
  Period: number;
  Threshold: number;
  EvaluationPeriods: number;
}

const { staleAfterHours, frozenAfterHours, alarmOnLogGaps } = everything.audit;
/** With every alarm that there is. */
const watched = {
  archive: { replicateTo: { bucketArn: 'arn:aws:s3:::copies' } },
  audit: { ...audited.audit, staleAfterHours, frozenAfterHours, alarmOnLogGaps },
};
const inShards = { ...watched, shards: 4 };

/** The alarms of a stack by their title. */
function alarmsOf(changes: Changes = {}): Map<string, Alarm> {
  const alarms = resourcesOf(templateOf(changes), 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
  return new Map(
    (alarms as unknown as Alarm[]).map((alarm) => [alarm.AlarmName.replace('cluster-log-collector - ', ''), alarm]),
  );
}

function alarm(title: string, changes?: Changes): Alarm {
  const found = alarmsOf(changes).get(title);
  if (found === undefined) throw new Error(`there is no alarm "${title}"`);
  return found;
}

const titlesOf = (changes?: Changes) => [...alarmsOf(changes).keys()].sort();

/** What an alarm watches: a line of namespace, name, dimensions, statistic and seconds for each metric. */
function metricsOf({ Metrics, ...only }: Alarm): string[] {
  const all = Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ?? [
    { Metric: only, Stat: only.Statistic, Period: only.Period },
  ];
  return all.map(({ Metric: { Namespace, MetricName, Dimensions }, Stat, Period }) =>
    [Namespace, MetricName, ...Dimensions.map(({ Value }) => textOf(Value)), Stat, Period].join(' '),
  );
}

function expressionOf(title: string, changes?: Changes): string | undefined {
  return alarm(title, changes).Metrics?.find(({ ReturnData }) => ReturnData !== false)?.Expression;
}

/** A metric of the collector. */
const own = (name: string, statistic: string, seconds = 3600) =>
  `ClusterLogCollector ${name} cluster-log-collector ${statistic} ${seconds}`;

const atOnce = { Threshold: 1, ComparisonOperator: 'GreaterThanOrEqualToThreshold', DatapointsToAlarm: 1 };
/** Until the next hourly run had its time. */
const raised = { ...atOnce, EvaluationPeriods: 2, TreatMissingData: 'notBreaching' };
/** Until the next daily audit had its time. */
const byAudit = { ...raised, EvaluationPeriods: 25 };
const holding = { Threshold: 1, ComparisonOperator: atOnce.ComparisonOperator, TreatMissingData: 'ignore' };
/** After so many hours without anything. */
const missing = (hours: number) => ({
  Threshold: 1,
  ComparisonOperator: 'LessThanThreshold',
  DatapointsToAlarm: hours,
  TreatMissingData: 'breaching',
  WarmUpConfiguration: expect.objectContaining({ WarmUpPeriodDurationInMinutes: hours * 60 }),
});

const dropped = 'AWS/Lambda AsyncEventsDropped';
const lost = ['AWS/Lambda DestinationDeliveryFailures <CollectorFunction> Sum 3600'];
const untold = [...lost, `${dropped} <FailureMessagesFunction> Sum 3600`];
const states = ['ExecutionsFailed', 'ExecutionsTimedOut'].map(
  (name) => `AWS/States ${name} <FanOutStateMachine> Sum 3600`,
);
const failedCopies = 'AWS/S3 OperationsFailedReplication copies everything <ArchiveBucket> Sum 3600';

describe('the alarms', () => {
  it.each<[string, Changes, string[], object]>([
    ['Run failed for good', {}, [`${dropped} <CollectorFunction> Sum 3600`], raised],
    [
      'Run failed for good',
      { shards: 4 },
      [`${dropped} <CollectorFunction> Sum 3600`, ...states],
      { ...raised, EvaluationPeriods: 3 },
    ],
    ['Run missing', {}, [own(metricNames.scheduled, 'Sum')], missing(2)],
    [
      'Delivery lost',
      {},
      ['AWS/SQS ApproximateNumberOfMessagesVisible <ScheduleUndelivered.QueueName> Maximum 300'],
      holding,
    ],
    [
      'Run close to its time limit',
      {},
      ['AWS/Lambda Duration <CollectorFunction> Maximum 3600'],
      { ...raised, Threshold: 0.8 * functionTimeoutSeconds * 1000 },
    ],
    ['Key rejected', {}, [own(metricNames.keyRejected, 'Maximum')], raised],
    [
      'Service throttling us',
      {},
      [metricNames.throttled, metricNames.archived, metricNames.failed].map((name) => own(name, 'Sum')),
      { ...raised, Threshold: windows.throttledPercent },
    ],
    ['Failure message lost', {}, untold, raised],
    [
      'Failure message lost',
      { shards: 4 },
      [...untold, 'AWS/Events FailedInvocations <FailureMessagesFailedExecutions> Sum 3600'],
      { ...raised, EvaluationPeriods: 3 },
    ],
    ['Copy failed', watched, [failedCopies], raised],
    ['Audit missing', watched, [own(auditMetricNames.sealsWritten, 'Sum')], missing(25)],
    [
      'Audit missing',
      { audit: { schedule: 'cron(30 6 1,15 * ? *)' } },
      [`${dropped} <AuditFunction> Sum 3600`],
      { ...raised, EvaluationPeriods: 24 },
    ],
    [
      'Audit behind',
      watched,
      [own(auditMetricNames.auditCarriedOver, 'Maximum')],
      { ...byAudit, DatapointsToAlarm: 2 },
    ],
    [
      'Audit found damage',
      watched,
      [own(auditMetricNames.auditFindings, 'Maximum', 300)],
      { ...atOnce, EvaluationPeriods: 1, TreatMissingData: 'ignore' },
    ],
    [
      'Audit not started',
      watched,
      ['AWS/SQS ApproximateNumberOfMessagesVisible <AuditScheduleUndelivered.QueueName> Maximum 300'],
      holding,
    ],
    [
      'Clusters stale',
      watched,
      [own(auditMetricNames.stalestHours, 'Maximum')],
      { ...byAudit, Threshold: 48, ComparisonOperator: 'GreaterThanThreshold' },
    ],
    ['Logs frozen', watched, [own(auditMetricNames.frozenLogs, 'Maximum')], byAudit],
    ['Log lines may be lost', watched, [own(auditMetricNames.logGaps, 'Maximum')], byAudit],
  ])('"%s" watches what it says, with %j', (title, changes, metrics, expected) => {
    const found = alarm(title, changes);
    expect(metricsOf(found)).toEqual(metrics);
    expect(found).toMatchObject(expected);
  });

  it('calculate only so that a metric without data changes nothing, and every hour is a data point', () => {
    expect(expressionOf('Run missing')).toBe('FILL(scheduled, 0)');
    expect(expressionOf('Audit missing', watched)).toBe('FILL(scheduled, 0)');
    expect(expressionOf('Service throttling us')).toBe(
      'IF(throttled >= 10, 100 * throttled / (throttled + archived + failed), 0)',
    );
    expect(expressionOf('Run failed for good', { shards: 4 })).toBe('SUM([dropped, failed, timedOut])');
    expect(expressionOf('Failure message lost', { shards: 4 })).toBe('SUM([undelivered, untold, failedInvocations])');
  });

  it('exist only for what is configured', () => {
    const always = ['Delivery lost', 'Failure message lost', 'Key rejected', 'Run close to its time limit'];
    const more = ['Run failed for good', 'Service throttling us'];
    const ofAudits = ['Audit behind', 'Audit found damage', 'Audit missing', 'Audit not started'];
    expect(titlesOf({ schedule: { expression: 'cron(0 * * * ? *)', enabled: false } })).toEqual([...always, ...more]);
    expect(titlesOf()).toEqual([...always, 'Run failed for good', 'Run missing', 'Service throttling us']);
    expect(titlesOf(audited)).toEqual([...ofAudits, ...titlesOf()].sort());
    const asked = ['Clusters stale', 'Copy failed', 'Log lines may be lost', 'Logs frozen'];
    expect(titlesOf(watched)).toEqual([...titlesOf(audited), ...asked].sort());
    expect(titlesOf(inShards)).toEqual(titlesOf(watched));
  });

  it('that one bad hour raises stay until the next run had its time, a day at most', () => {
    const schedule = { expression: 'cron(0 3 * * ? *)' };
    for (const title of ['Run failed for good', 'Run close to its time limit', 'Key rejected', 'Failure message lost'])
      expect(alarm(title, { schedule })).toMatchObject({ EvaluationPeriods: 24 });
  });

  it.each([
    ['cron(30 0/2 * * ? *)', 3],
    ['cron(30 6 ? * SUN *)', 168],
  ])('about audits of %s stay for %p hours', (schedule, hours) => {
    expect(alarm('Audit behind', { audit: { schedule } })).toMatchObject({ EvaluationPeriods: hours });
  });

  it('reach people when they begin and when they are over: page what is damaged, missing or rejected', () => {
    const alerts = { page: { emails: ['night@example.com'] }, inform: { emails: ['day@example.com'] } };
    const alarms = [...alarmsOf({ ...inShards, alerts })];
    for (const [, { AlarmActions, OKActions, ActionsEnabled }] of alarms) {
      expect(OKActions).toEqual(AlarmActions);
      expect(ActionsEnabled).not.toBe(false);
    }
    const waking = alarms.filter(([, { AlarmActions }]) => textOf(AlarmActions) === '{0: <AlertsTopic>}');
    const titles = waking.map(([title]) => title).sort();
    expect(titles).toEqual([
      'Audit found damage',
      'Audit missing',
      'Key rejected',
      'Run failed for good',
      'Run missing',
    ]);
    const others = alarms.filter(([title]) => !titles.includes(title));
    for (const [, { AlarmActions }] of others) expect(textOf(AlarmActions)).toBe('{0: <InformTopic>}');
    const inGuide = [...alarmsGuide.matchAll(/^\| \[(.+)\]\(#.*\) \|.*\| page \|$/gm)].map(([, title]) => title);
    expect(inGuide.sort()).toEqual(titles);
  });
});

describe('the messages', () => {
  it('have one heading and one row of the index each in the guide, which has no others', () => {
    const titles = titlesOf(inShards);
    expect([...alarmsGuide.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading).sort()).toEqual(titles);
    expect([...alarmsGuide.matchAll(/^\| \[(.+)\]\(#.*\) \|/gm)].map(([, title]) => title).sort()).toEqual(titles);
  });

  it.each([
    watched,
    inShards,
  ])('say what it means, where to look and what to do, in 1,024 characters at most', (changes) => {
    for (const [title, { AlarmDescription }] of alarmsOf(changes)) {
      expect(AlarmDescription).toMatch(
        /^ALARM: [A-Z].{20,}\.\n\nOK: .{20,}\.\n\nLook at: .{20,}\.\n\nDo: .{20,}\.\n\nMore: /,
      );
      expect(AlarmDescription).toContain(`docs/alarms.md, "${title}"`);
      expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
  });

  it('name the execution of a fleet in shards', () => {
    const { AlarmDescription } = alarm('Run failed for good', inShards);
    expect(AlarmDescription).toMatch(/Do: .*complete the run .*Redrive repeats only the failed end/);
    expect(alarm('Run missing', inShards).AlarmDescription).toMatch(/the records of all its shards/);
  });
});

describe('the cost estimate', () => {
  it('counts the metrics, alarms and keys there are, without and with an audit', () => {
    const alarmMetrics = (changes?: Changes) => [...alarmsOf(changes).values()].flatMap(metricsOf).length;
    const count = (changes: Changes, type: string) => resourcesOf(templateOf(changes), type).length;
    const ofAudit = Object.keys(auditMetricNames).length;
    const ofRuns = Object.keys(metricNames).length - ofAudit;
    const more = alarmMetrics({ audit: watched.audit }) - alarmMetrics();
    expect(operations).toContain(`${ofRuns} metrics x $0.30 + ${alarmMetrics()} alarm metrics x $0.10`);
    expect(operations).toContain(`audit: ${ofAudit} metrics x $0.30 + ${more} alarm metrics x $0.10`);
    expect(alarmMetrics({ shards: 4 }) - alarmMetrics()).toBe(3);
    expect(operations).toContain('`shards` add three alarm metrics');

    const keys = count({}, 'AWS::KMS::Key');
    const fixed = `Fixed are ${ofRuns} metrics, ${alarmMetrics()} alarm metrics, ${count({}, 'AWS::CloudWatch::Dashboard')} dashboard, ${keys} KMS key and ${count({}, 'AWS::SecretsManager::Secret')} secret`;
    const ofTheAudit = `with an audit ${ofAudit} metrics, ${more} alarm metrics and ${count(audited, 'AWS::KMS::Key') - keys} KMS key more`;
    expect(operations.replaceAll('\n', ' ')).toContain(`${fixed}, and ${ofTheAudit}`);
    // In dollars, by the list prices of the table.
    const cloudWatch = 0.3 * ofRuns + 0.1 * alarmMetrics() + 3;
    expect(operations).toMatch(new RegExp(`\\| CloudWatch \\|.*\\| ${cloudWatch.toFixed(2)} \\|`));
    expect(operations).toContain(`$${(cloudWatch + 1 + 0.4 + 0.05 + 0.04).toFixed(1)} without**`);
  });
});

describe('run missing', () => {
  it.each([
    ['cron(0 * * * ? *)', 'Etc/UTC', 2],
    ['cron(0 * * * ? *)', 'Europe/Berlin', 3],
    ['cron(*/10 * * * ? *)', 'Etc/UTC', 2],
    ['cron(0 3 * * ? *)', 'Etc/UTC', 25],
    ['cron(30 2 * * ? *)', 'Europe/Berlin', 48],
    ['cron(0 6 ? * MON-FRI *)', 'America/New_York', 74],
  ])('with %s in %s comes after the longest gap and an hour: %p hours', (expression, timeZone, hours) => {
    expect(windows.missingWindowHours(longestGap(expression, timeZone), runMarginHours(1, false))).toBe(hours);
  });

  it('is quiet after a deployment until the first run had its time, for two days at most', () => {
    const schedule = { expression: 'cron(0 6 ? * MON-FRI *)', timeZone: 'America/New_York' };
    const quiet = { WarmUpPeriodDurationInMinutes: 48 * 60 };
    expect(alarm('Run missing', { schedule })).toMatchObject({ ...missing(74), WarmUpConfiguration: quiet });
  });

  it.each([
    [2, 3],
    [40, 3],
    [500, 19],
  ])('with %p shards, the window of an hourly schedule is %p hours, because an execution counts at its end', (shards, hours) => {
    expect(windows.missingWindowHours({ hours: 1 }, runMarginHours(shards, false))).toBe(hours);
    expect((hours - 1) * 3600).toBeGreaterThan(longestExecutionSeconds(shards));
    expect((hours - 2) * 3600).toBeLessThanOrEqual(longestExecutionSeconds(shards));
  });

  it.each([
    [1, 3],
    [4, 4],
  ])('with %p shards and one run at a time, the window counts one run that may have to end before it', (shards, hours) => {
    expect(alarm('Run missing', { shards, limits: { oneRunAtATime: true } })).toMatchObject(missing(hours));
  });

  it.each([
    'cron(0 6 ? * SUN *)',
    'cron(0 0 1 * ? *)',
    'cron(0 0 1 1 ? 2199)',
  ])('has no alarm for %s, which fires too rarely for one, and synth warns of it', (expression) => {
    const changes = { schedule: { expression } };
    expect(titlesOf(changes)).not.toContain('Run missing');
    expect(toldAtSynth(changes, /watches for missing/)).toEqual([
      expect.stringContaining('No alarm watches for missing runs'),
    ]);
  });

  it('has no warning if it has an alarm, and audits have one of their own', () => {
    expect(toldAtSynth(audited, /watches for missing/)).toEqual([]);
    expect(toldAtSynth({ audit: { schedule: 'cron(30 6 1,15 * ? *)' } }, /watches for missing/)).toEqual([
      expect.stringMatching(/No alarm watches for missing audits: .* Watch "Seals and damage" on the dashboard/),
    ]);
  });
});

describe('numbers that belong together', () => {
  it('the margin of a missing run covers a run whose last attempt alone reports', () => {
    expect(longestRunSeconds).toBe(asynchronousAttempts * functionTimeoutSeconds + 60 + 120);
    expect(longestRunSeconds).toBeLessThan(windows.missingMarginHours * 3600);
  });

  it('a run is close to its limit before the collector has to stop on its own', () => {
    expect(windows.closeToLimitShare * functionTimeoutSeconds).toBeLessThan(
      functionTimeoutSeconds - deadlineReserveSeconds,
    );
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
