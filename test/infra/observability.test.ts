import { functionTimeoutSeconds } from '../../archive/format/clocks';
import { longestGap } from '../../archive/format/schedule/cron-gap';
import * as windows from '../../infra/alarm-windows';
import { eventAgeSeconds, heldBackRetry } from '../../infra/limits';
import {
  asynchronousAttempts,
  deadlineReserveSeconds,
  longestExecutionSeconds,
  longestRunSeconds,
  runMarginHours,
  waits,
} from '../../lambda/time-limits';
import { type Alarm, alarmsOf, type Data, metricsOf, spansOf } from './alarm-evaluator';
import { audited, everything, textOf, toldAtSynth } from './example-stack';
import { alarmsGuide, background, operations } from './guides';

type Changes = Record<string, unknown>;

const { alarms } = everything.audit;
/** With every alarm that there is where each incomplete run pages. */
const watched = {
  archive: { replicateTo: { bucketArn: 'arn:aws:s3:::copies' } },
  audit: { ...audited.audit, alarms },
};
const inShards = { ...watched, shards: 4 };
const groups = { page: { emails: ['night@example.com'] }, inform: { emails: ['day@example.com'] } };
/** The same where many missing clusters page. */
const withShare = { ...watched, alerts: { ...groups, pageFrom: { missingPercent: 5 } } };

/** The same with a list from outside. */
const fromOutside = { ...watched, clusters: { from: 's3://inventory/fleet.json' } };

const titlesOf = (changes?: Changes) => [...alarmsOf(changes).keys()].sort();

function alarm(title: string, changes?: Changes): Alarm {
  const found = alarmsOf(changes).get(title);
  if (found === undefined) throw new Error(`there is no alarm "${title}"`);
  return found;
}

const unreported = 'AsyncEventsDropped <FailureMessagesFunction>';
const undelivered = (name: string) => `DestinationDeliveryFailures <${name}Function>`;
const none = undefined;
/** A metric that has this value in every hour of a day. */
const daily = (value: number) => Array.from({ length: 24 }, () => value);

describe('an alarm', () => {
  it.each<[string, Changes, Data, number[]]>([
    ['Run failed for good', {}, { MissingPercent: [0] }, []],
    ['Run failed for good', {}, { MissingPercent: [0.001] }, [0, 2]],
    ['Run failed for good', {}, { MissingPercent: [1, 1, 1] }, [0, 4]],
    ['Run failed for good', { schedule: { expression: 'cron(0 3 * * ? *)' } }, { MissingPercent: [1] }, [0, 24]],
    ['Run failed for good', {}, { [unreported]: [1] }, [0, 2]],
    ['Run failed for good', withShare, { MissingPercent: [0.001] }, [0, 2]],
    ['Many clusters missing', withShare, { MissingPercent: [4.9] }, []],
    ['Many clusters missing', withShare, { MissingPercent: [3, 3] }, []],
    ['Many clusters missing', withShare, { MissingPercent: [5] }, [0, 2]],
    ['Many clusters missing', withShare, { MissingPercent: [0.1], [unreported]: [1] }, [0, 2]],
    ['Many clusters missing', withShare, { [undelivered('Collector')]: [1] }, [0, 2]],
    ['Many clusters missing', { ...withShare, shards: 4 }, { FailedInvocations: [1] }, [0, 3]],
    ['List refused', fromOutside, { ListRefused: [0] }, []],
    ['List refused', fromOutside, { ListRefused: [1], MissingPercent: [0] }, [0, 2]],
    ['Many clusters leaving', fromOutside, { ManyLeaving: [0] }, []],
    ['Many clusters leaving', fromOutside, { ManyLeaving: [3] }, [0, 2]],
    ['Run missing', {}, { ScheduledRun: [1, 1, none, none, 1] }, [3, 4]],
    ['Run missing', {}, { ScheduledRun: [1, 0, 0, 0] }, [2]],
    ['Delivery lost', {}, { ApproximateNumberOfMessagesVisible: [0, 1, none, none, 1, 0] }, [1, 5]],
    ['Run close to a limit', {}, { Duration: [719_999] }, []],
    ['Run close to a limit', {}, { Duration: [720_000] }, [0, 2]],
    ['Run close to a limit', {}, { Throttled: [9], Archived: [1], Failed: [0] }, []],
    ['Run close to a limit', {}, { Throttled: [10], Archived: [91], Failed: [0] }, []],
    ['Run close to a limit', {}, { Throttled: [10], Archived: [80], Failed: [10] }, [0, 2]],
    ['Failure message lost', watched, { [undelivered('Collector')]: [1] }, [0, 2]],
    ['Failure message lost', watched, { [undelivered('Audit')]: [1] }, [0, 2]],
    ['Failure message lost', watched, { [undelivered('FailureMessages')]: [1] }, [0, 2]],
    ['Failure message lost', watched, { MailsLost: [1] }, [0, 2]],
    ['Failure message lost', { shards: 4 }, { FailedInvocations: [1] }, [0, 3]],
    ['Copy failed', watched, { OperationsFailedReplication: [1] }, [0, 2]],
    ['Copy failed', watched, { OperationsFailedReplication: [0], ReplicationLatency: [86_399] }, []],
    ['Copy failed', watched, { ReplicationLatency: [86_400] }, [0, 2]],
    ['Audit missing', watched, { SealsWritten: [1, ...daily(0), 0, 1] }, [25, 26]],
    ['Audit missing', { audit: { schedule: 'cron(30 6 1,15 * ? *)' } }, { AsyncEventsDropped: [1] }, [0, 24]],
    ['Audit behind', watched, { AuditCarriedOver: [1] }, []],
    ['Audit behind', watched, { AuditCarriedOver: [...daily(0), 1, ...daily(0).slice(1), 1] }, [48, 49]],
    ['Audit found damage', watched, { AuditFindings: [1, none, none, none, 0] }, [0, 4]],
    ['Clusters stale', watched, { StalestHours: [48] }, []],
    ['Clusters stale', watched, { StalestHours: [49] }, [0, 25]],
    ['Clusters stale', watched, { FrozenLogs: [1] }, [0, 25]],
    ['Log lines may be lost', watched, { LogGaps: [1] }, [0, 25]],
  ])('"%s" is raised and over when it should be: case %#', (title, changes, data, expected) => {
    // Where nothing follows, "Run missing" and "Audit missing" are raised once more.
    expect(spansOf(alarm(title, changes), data, 60).slice(0, 2)).toEqual(expected);
  });

  it('watches the metrics of its own stack', () => {
    for (const [, one] of [...alarmsOf(withShare), ...alarmsOf(inShards)])
      for (const line of metricsOf(one)) expect(line).toMatch(/ (cluster-log-collector|<\w+(\.QueueName)?>)( |$)/);
  });

  it('exists only for what is configured, and there are at most twelve without shards', () => {
    const always = ['Delivery lost', 'Failure message lost', 'Run close to a limit', 'Run failed for good'];
    expect(titlesOf({ schedule: { expression: 'cron(0 * * * ? *)', enabled: false } })).toEqual(always);
    expect(titlesOf()).toEqual([...always, 'Run missing']);
    const ofAudits = ['Audit behind', 'Audit found damage', 'Audit missing'];
    expect(titlesOf(audited)).toEqual([...ofAudits, ...titlesOf()].sort());
    const asked = ['Clusters stale', 'Copy failed', 'Log lines may be lost'];
    expect(titlesOf(watched)).toEqual([...titlesOf(audited), ...asked].sort());
    expect(titlesOf(inShards)).toEqual(titlesOf(watched));
    expect(titlesOf(withShare)).toEqual([...titlesOf(watched), 'Many clusters missing'].sort());
    expect(titlesOf(fromOutside)).toEqual([...titlesOf(watched), 'List refused', 'Many clusters leaving'].sort());
  });

  it('about audits stays until the next audit has had its time', () => {
    const behind = (schedule: string) => alarm('Audit behind', { audit: { schedule } }).EvaluationPeriods;
    expect(['cron(30 0/2 * * ? *)', 'cron(30 6 ? * SUN *)'].map(behind)).toEqual([3, 168]);
  });

  it('that the first deployment sets off by hand is there, and reaches the group that it is to try', () => {
    const [, plain = ''] = /set-alarm-state --alarm-name "NAME - ([^"]+)" --state-value ALARM/.exec(operations) ?? [];
    const [, withPageFrom = ''] = /With `alerts\.pageFrom` take `"NAME - ([^"]+)"`/.exec(operations) ?? [];
    const [, informed = ''] = /For `inform`: `"NAME - ([^"]+)"`/.exec(operations) ?? [];
    const reaches = (title: string, changes: Changes) => textOf(alarm(title, changes).AlarmActions);
    expect(reaches(plain, {})).toBe('{0: <AlertsTopic>}');
    expect(reaches(plain, { alerts: groups })).toBe('{0: <AlertsTopic>}');
    expect(reaches(withPageFrom, withShare)).toBe('{0: <AlertsTopic>}');
    for (const changes of [{ alerts: groups }, withShare])
      expect(reaches(informed, changes)).toBe('{0: <InformTopic>}');
  });

  it('reaches people when it begins and when it is over: page what is damaged, missing or failed', () => {
    const titlesIn = (topic: string, changes: Changes) => {
      const alarms = [...alarmsOf({ ...fromOutside, alerts: groups, ...changes })];
      for (const [, { AlarmActions, OKActions, ActionsEnabled }] of alarms) {
        expect(OKActions).toEqual(AlarmActions);
        expect(ActionsEnabled).not.toBe(false);
      }
      return alarms.flatMap(([title, one]) => (textOf(one.AlarmActions) === `{0: <${topic}>}` ? title : [])).sort();
    };
    const paging = [
      'Audit found damage',
      'Audit missing',
      'Many clusters leaving',
      'Run failed for good',
      'Run missing',
    ];
    expect(titlesIn('AlertsTopic', {})).toEqual(paging);
    expect(titlesIn('AlertsTopic', { shards: 4 })).toEqual(paging);
    const others = ['Audit behind', 'Clusters stale', 'Copy failed', 'Delivery lost', 'Failure message lost'];
    const informing = [...others, 'List refused', 'Log lines may be lost', 'Run close to a limit'];
    expect(titlesIn('InformTopic', {})).toEqual(informing);
    // With a threshold, a run that fails informs.
    const many = 'Many clusters missing';
    const { alerts } = withShare;
    expect(titlesIn('AlertsTopic', { alerts })).toEqual(
      [...paging, many].filter((one) => one !== 'Run failed for good').sort(),
    );
    expect(titlesIn('InformTopic', { alerts })).toEqual([...informing, 'Run failed for good'].sort());
    const inGuide = [...alarmsGuide.matchAll(/^\| \[(.+)\]\(#.*\) \|.*\| page.* \|$/gm)].map(([, title]) => title);
    expect(inGuide.sort()).toEqual([...paging, many].sort());
  });
});

describe('the messages', () => {
  const all = new Map([...alarmsOf(inShards), ...alarmsOf(withShare), ...alarmsOf(fromOutside)]);

  it('have one heading and one row of the index each in the guide, which has no others', () => {
    const titles = [...all.keys()].sort();
    expect([...alarmsGuide.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading).sort()).toEqual(titles);
    expect([...alarmsGuide.matchAll(/^\| \[(.+)\]\(#.*\) \|/gm)].map(([, title]) => title).sort()).toEqual(titles);
  });

  it('say what it means, where to look and what to do, with heading and dashboard, in 1,024 characters at most', () => {
    for (const [title, { AlarmDescription }] of all) {
      const text = textOf(AlarmDescription);
      expect(text).toMatch(/^ALARM: [A-Z].{20,}\.\n\nOK: .{20,}\n\nLook at: .{20,}\.\n\nDo: .{20,}\.\n\nMore: /);
      expect(text).toMatch(new RegExp(`More: docs/alarms.md, "${title}"\\. https://.*#dashboards/dashboard/`));
      // The region is longer than its name in the template.
      expect(text.length).toBeLessThanOrEqual(1000);
    }
  });

  it('name the execution of a fleet in shards', () => {
    expect(textOf(alarm('Run failed for good', inShards).AlarmDescription)).toMatch(
      /Do: .*complete the run .*Redrive repeats only the failed end/,
    );
    expect(textOf(alarm('Run missing', inShards).AlarmDescription)).toMatch(/the records of all its shards/);
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
    expect(windows.missingWindowHours(longestGap(expression, timeZone, new Date()), runMarginHours(1, false))).toBe(
      hours,
    );
  });

  it('is quiet after a deployment until the first run had its time, for two days at most', () => {
    const schedule = { expression: 'cron(0 6 ? * MON-FRI *)', timeZone: 'America/New_York' };
    const warmUp = (changes?: Changes) =>
      alarm('Run missing', changes).WarmUpConfiguration?.WarmUpPeriodDurationInMinutes;
    expect([warmUp(), warmUp({ schedule })]).toEqual([120, 48 * 60]);
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
    expect(alarm('Run missing', { shards, limits: { oneRunAtATime: true } }).EvaluationPeriods).toBe(hours);
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
      expect.stringMatching(/No alarm watches for missing audits: .* watch "Seals and damage" on the dashboard/),
    ]);
  });
});

it('docs/background.md counts the metrics of the alarms, each of which is paid for', () => {
  const count = (changes?: Changes) => [...alarmsOf(changes).values()].flatMap(metricsOf).length;
  const pageFrom = { alerts: { ...groups, pageFrom: { missingPercent: 5 } } };
  const more = (changes: Changes, before?: Changes) => wordFor(count({ ...before, ...changes }) - count(before));
  const shards = { shards: 4 };
  for (const words of [
    `+ ${count()} alarm metrics x $0.10`,
    `${count({ audit: watched.audit }) - count()} alarm metrics with all its options`,
    `and ${more({ archive: watched.archive })} alarm metrics. Without a lifecycle`,
    `\`alerts.pageFrom\` adds ${more(pageFrom)} alarm metrics, with \`shards\` ${more(pageFrom, shards)}; \`shards\` add ${more(shards)},`,
    `(\`clusters.from\`) adds ${more({ clusters: fromOutside.clusters })}, and a metric.`,
  ])
    expect(background.replace(/\s+/g, ' ')).toContain(words);
});

const wordFor = (count: number) => ['no', 'one', 'two', 'three', 'four'][count];

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

  it('windows keep within what CloudWatch accepts', () => {
    expect(windows.alarmPeriodSeconds).toBeGreaterThanOrEqual(3600);
    expect(windows.longestWindowHours * 3600).toBeLessThanOrEqual(604_800);
    expect(windows.promptWindowHours * 3600).toBeLessThanOrEqual(86_400);
    expect(windows.missingWindowHours({ hours: 167 })).toBe(168);
    expect(windows.missingWindowHours({ hours: 167.01 })).toBeUndefined();
  });
});
