import { createServer } from 'node:http';
import type { AuditResult } from '../../lambda/audit/audit';
import type { Template } from '../../local/deployment/stack-template';
import { listenLocally } from '../../local/listen-locally';
import { type DeployedCollector, uids, useLocalCollector } from './local-collector';
import { counted, expectNoTrace, lost, path, useMonitoringService } from './monitoring-service';
import { policyOf, statementsOf, without, withSid } from './template-policies';

const noon = new Date('2026-11-20T12:00:00Z');

const collector = useLocalCollector({
  clusters: uids,
  audit: { schedule: 'cron(30 12 * * ? *)' },
  alerts: { heartbeat: { secret: 'monitoring/heartbeat' } },
});

const service = useMonitoringService();

const deploy = (options: { edit?: (template: Template) => void; address?: string } = {}) => {
  const { address = service.address, edit = () => {} } = options;
  return collector.deploy({ heartbeatAddress: address, edit });
};

const rolePolicy = (template: Template, role: string) => policyOf(template, 'AWS::IAM::Policy', role);

it('a complete run of the schedule and a seal are each told once, with what they came to', async () => {
  const deployed = await deploy();
  await deployed.fireSchedule(noon);
  const counts = { archived: 6, alreadyArchived: 0, failed: 0, notAttempted: 0 };
  const ofRun = { path, body: { stack: 'end-to-end', run: noon.toISOString(), counts } };
  expect(service.told).toEqual([ofRun]);
  const { number, sha256 } = (await deployed.audit?.invoke({}))?.payload as AuditResult;
  expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(service.told).toEqual([ofRun, { path, body: { stack: 'end-to-end', number, sha256 } }]);
  expect(lost(deployed)).toBe('');
  await expectNoTrace(deployed);
});

it('a run with something missing is not told, until an attempt completes it', async () => {
  const deployed = await deploy();
  collector.failing.alpha = 'html-page';
  expect((await deployed.invoke({ scheduledTime: noon.toISOString() })).error?.errorType).toBe('RunIncompleteError');
  expect(service.told).toEqual([]);
  delete collector.failing.alpha;
  await deployed.invoke({ scheduledTime: noon.toISOString() });
  expect(service.told).toMatchObject([{ body: { counts: { archived: 2, alreadyArchived: 4 } } }]);
});

it.each([
  ['what a person starts', {}],
  ['a dry run', { scheduledTime: noon.toISOString(), dryRun: true }],
  ['some of the clusters', { scheduledTime: noon.toISOString(), clusters: ['alpha'] }],
  ['one shard', { scheduledTime: noon.toISOString(), shard: { index: 0, count: 2 } }],
])('%s says nothing of the schedule, and is not told', async (_what, event) => {
  const deployed = await deploy();
  expect((await deployed.invoke(event)).error).toBeUndefined();
  expect(service.told).toEqual([]);
  expect(lost(deployed)).toBe('');
});

describe('a heartbeat that is lost fails neither a run nor an audit: it is a line of the log and a metric', () => {
  const bothLost = async (deployed: DeployedCollector, reason: RegExp) => {
    expect((await deployed.fireSchedule(noon)).failure).toBeUndefined();
    expect(lost(deployed)).toMatch(reason);
    expect(counted(deployed)).toBe(1);
    expect(await deployed.audit?.invoke({})).toMatchObject({ payload: { number: 1, damage: 0 } });
    expect(counted(deployed)).toBe(2);
    expect((await deployed.records()).map(({ status }) => status)).toEqual(['complete']);
  };

  it('the service refuses it twice', async () => {
    service.answers = [500, 503, 429, 404];
    const deployed = await deploy();
    await bothLost(deployed, /failed in 2 requests; the last one: it answered with the status 503/);
    expect(service.told).toHaveLength(4);
    await expectNoTrace(deployed);
  });

  it('nobody answers there', async () => {
    const { url, close } = await listenLocally(createServer());
    await close();
    const deployed = await deploy({ address: `${url}${path}` });
    await bothLost(deployed, /the connection failed \(ECONNREFUSED\)/);
    await expectNoTrace(deployed);
    await expectNoTrace(deployed, new URL(url).host);
  });

  it('it leads elsewhere', async () => {
    service.answers = [307, 307, 301, 302];
    const deployed = await deploy();
    await bothLost(deployed, /it answered with the status 307/);
    expect(service.told.map((one) => one.path)).toEqual([path, path, path, path]);
    await expectNoTrace(deployed);
  });

  it.each([
    ['is not an address', `monitor${path}`, /its value is not an address/],
    ['is not encrypted on the way', `http://monitor.example${path}`, /its value is not an https address/],
    ['is another kind of address', `data:text/plain,${path}`, /its value is not an https address/],
    ['has a password', `https://user:word@monitor.example${path}`, /its value has a user or a password/],
    ['has no characters', ' \n', /its value is not an address/],
  ])('its address %s', async (_what, address, reason) => {
    const deployed = await deploy({ address });
    await bothLost(deployed, reason);
    await expectNoTrace(deployed);
    await expectNoTrace(deployed, 'monitor.example');
  });

  it('its secret has no value', async () => {
    await bothLost(await collector.deploy(), /it does not exist, or has no value/);
    expect(service.told).toEqual([]);
  });

  it('its roles may not read the address', async () => {
    const edit = (template: Template) => {
      for (const role of ['CollectorRole', 'AuditRole'])
        without(rolePolicy(template, role), withSid('ReadHeartbeatAddress'));
    };
    await bothLost(await deploy({ edit }), /not authorized to perform: secretsmanager:GetSecretValue/);
    expect(service.told).toEqual([]);
  });
});

it('one lost request is repeated, and nothing is counted', async () => {
  service.answers = [502];
  const deployed = await deploy();
  await deployed.fireSchedule(noon);
  expect(service.told).toHaveLength(2);
  expect(lost(deployed)).toBe('');
});

it('roles have one statement more, which is broken above', () => {
  for (const role of ['CollectorRole', 'AuditRole'])
    expect(statementsOf(rolePolicy(collector.template, role))).toContain('ReadHeartbeatAddress');
});
