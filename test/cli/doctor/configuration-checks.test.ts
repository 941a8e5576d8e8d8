import { isWorthKnowing } from '../../../cli/doctor/check';
import { configurationChecks, regionChecks, scheduleChecks } from '../../../cli/doctor/configuration-checks';
import { parseConfig } from '../../../infra/config/config';
import { exampleConfig, minimal } from '../../infra/example-config';
import { resourcesOf, templateOf } from '../../infra/example-stack';

const schedule = (expression: string, timeZone = 'Europe/Berlin') =>
  parseConfig({ ...minimal, schedule: { expression, timeZone } }, 'mine.json');
const now = new Date('2026-11-22T04:30:00Z');

describe('a schedule that the doctor looks at', () => {
  it('has its next runs in its own time zone and in UTC', () => {
    const [next] = scheduleChecks(schedule('cron(0 4 * * ? *)'), now);
    expect(next).toEqual({
      what: 'schedule',
      verdict: 'right',
      found:
        'next runs, Europe/Berlin: 2026-11-23 04:00 (2026-11-23T03:00:00Z), 2026-11-24 04:00 (2026-11-24T03:00:00Z), 2026-11-25 04:00 (2026-11-25T03:00:00Z)',
    });
  });

  it('says after how long the alarm about a missing run comes, longer over a clock change', () => {
    const missing = (zone: string) =>
      scheduleChecks(schedule('cron(0 2 * * ? *)', zone), now).find(({ what }) => what === 'missing runs')?.found;
    expect(missing('Etc/UTC')).toContain('comes after 25 h without a run');
    expect(missing('Europe/Berlin')).toMatch(
      /comes after \d\d h without a run: the longest pause of the schedule is 4\d h, from 2027-03-2/,
    );
  });

  it.each([
    ['shards', { shards: 4 }, 3],
    ['one run at a time', { limits: { oneRunAtATime: true } }, 3],
    ['shards, one run at a time', { shards: 4, limits: { oneRunAtATime: true } }, 4],
  ])('has the window that the stack has with %s', (_, members, hours) => {
    const changes = { schedule: { expression: 'cron(0 * * * ? *)' }, ...members };
    const found = scheduleChecks(exampleConfig(changes), now).find(({ what }) => what === 'missing runs')?.found;
    expect(found).toContain(`comes after ${hours} h without a run`);
    const alarms = resourcesOf(templateOf(changes), 'AWS::CloudWatch::Alarm');
    expect(
      alarms.map(([, { Properties }]) => Properties).find(({ AlarmName }) => String(AlarmName).endsWith('Run missing')),
    ).toMatchObject({ EvaluationPeriods: hours });
  });

  it('says that runs may overlap, and pauses of less than an hour in minutes', () => {
    const found = (...args: Parameters<typeof schedule>) =>
      scheduleChecks(schedule(...args), now).map((check) => check.found);
    const [, missing, overlap] = found('cron(* * * * ? *)', 'Etc/UTC');
    expect(missing).toContain('the longest pause of the schedule is 1 min, from');
    expect(overlap).toMatch(
      /^The schedule fires again after 1 minute, and a run with its retries may last 48 minutes: runs may/,
    );
    expect(found('cron(0 * * * ? *)')).toHaveLength(2);
    const { schedule: fast, ...config } = schedule('cron(* * * * ? *)');
    const inTurn = { ...config, schedule: fast, limits: { ...config.limits, oneRunAtATime: true } };
    expect(scheduleChecks(inTurn, now)).toHaveLength(2);
  });

  it('that is disabled or over is told', () => {
    const { schedule: enabled, ...config } = schedule('cron(0 4 * * ? *)');
    expect(scheduleChecks({ ...config, schedule: { ...enabled, enabled: false } }, now)[0]).toMatchObject({
      verdict: 'right',
      act: 'set schedule.enabled to true and deploy',
    });
    expect(scheduleChecks(schedule('cron(0 4 * * ? 2030)'), now)[0]).toMatchObject({ verdict: 'wrong' });
  });
});

describe('a configuration that the doctor looks at', () => {
  const check = (members: object) =>
    configurationChecks('mine.json', parseConfig({ ...minimal, ...members }, 'mine.json'), now);
  const recipients = (alerts: object) => check({ alerts }).find(({ what }) => what === 'recipients');

  it('with an example address and without recipients has two warnings, each with what to do', () => {
    const warnings = check({}).filter(isWorthKnowing);
    expect(warnings.map(({ what }) => what)).toEqual(['configuration', 'recipients']);
    for (const { act } of warnings) expect(act).toMatch(/^set /);
  });

  it('on this machine is told, which no function reaches', () => {
    const [configuration] = check({ service: { baseUrl: 'http://127.0.0.1:8080' } });
    expect(configuration?.found).toMatch(
      /service http:\/\/127\.0\.0\.1:8080: no function in AWS reaches this machine$/,
    );
    expect(configuration?.act).toMatch(/^set service\.baseUrl/);
  });

  it.each([
    [{ page: { emails: ['a@b.org'] } }, undefined, 'messages go to a@b.org'],
    [
      { page: { emails: ['a@b.org'] }, inform: { emails: ['c@d.org'] } },
      undefined,
      'messages go to a@b.org, the others to c@d.org',
    ],
    [
      { page: { emails: ['a@b.org'] }, inform: {} },
      expect.stringMatching(/^set alerts/),
      'nobody gets alarms and failed runs',
    ],
  ])('names its recipients, of both groups, and warns if one has none: %j', (alerts, act, found) => {
    expect(recipients(alerts)).toEqual({ what: 'recipients', verdict: 'right', found, act });
  });
});

it.each([
  ['eu-centrl-1', ['eu-centrl-1 is not a region that this version knows (the nearest is eu-central-1)']],
  ['eu-central-1', []],
])('says that the region %s of a deployment may be misspelt', async (region, said) => {
  const checks = await regionChecks({ deployTo: { account: '111122223333', region } });
  expect(checks.map(({ found }) => found)).toEqual(said);
});
