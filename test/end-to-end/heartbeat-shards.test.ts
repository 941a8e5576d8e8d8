import { isInShard } from '../../archive/format/shard';
import { uids, useLocalCollector } from './local-collector';
import { counted, expectNoTrace, lost, path, useMonitoringService } from './monitoring-service';
import { policyOf, without, withSid } from './template-policies';

const noon = new Date('2026-11-20T12:00:00Z');
const scheduledTime = noon.toISOString();
const shards = 2;
/** What the last step of the state machine asks for. */
const lastStep = { scheduledTime, heartbeat: { shards } };
const members = { clusters: uids, shards, alerts: { heartbeat: { secret: 'monitoring/heartbeat' } } };

const service = useMonitoringService();
const collector = useLocalCollector(members);
const deploy = () => collector.deploy({ heartbeatAddress: service.address });
const ofRun = (counts: object) => ({ path, body: { stack: 'end-to-end', run: scheduledTime, counts } });

it('a run of the schedule is told once, after all of its shards, with the sum of what they came to', async () => {
  expect(new Set(uids.map((uid) => isInShard(uid, { index: 0, count: shards }))).size).toBe(shards);
  const deployed = await deploy();
  expect((await deployed.fireSchedule(noon)).failure).toBeUndefined();
  expect(await deployed.records()).toHaveLength(shards);
  expect(service.told).toEqual([ofRun({ archived: 6, alreadyArchived: 0, failed: 0, notAttempted: 0 })]);
  expect(lost(deployed)).toBe('');
  await expectNoTrace(deployed);
});

it('is not told while one shard is incomplete, whoever asks, and is told once another execution completes it', async () => {
  const deployed = await deploy();
  collector.failing.alpha = 'html-page';
  expect((await deployed.fireSchedule(noon)).failure?.errorType).toBe('ShardsFailedError');
  expect(await deployed.invoke(lastStep)).toMatchObject({ payload: { run: scheduledTime, isTold: false } });
  expect(service.told).toEqual([]);
  const index = isInShard('alpha', { index: 0, count: shards }) ? 0 : 1;
  expect(lost(deployed)).toContain(
    `Adding up the shards of the run ${scheduledTime} failed: no record of the schedule says that the shard ${index} of 2 is complete`,
  );
  expect(counted(deployed)).toBe(1);
  delete collector.failing.alpha;
  expect((await deployed.fireSchedule(noon)).failure).toBeUndefined();
  expect(service.told).toEqual([ofRun({ archived: 2, alreadyArchived: 4, failed: 0, notAttempted: 0 })]);
});

it.each([
  ['what a person starts', {}],
  ['a dry run', { scheduledTime, dryRun: true }],
  ['some of the clusters', { scheduledTime, clusters: ['alpha'] }],
  ['a ticket', { scheduledTime, requestId: 'ticket-42' }],
])('%s says nothing of the schedule: it is not told, and the records do not let anybody tell it', async (_what, event) => {
  const deployed = await deploy();
  await deployed.shards?.start(event);
  expect(service.told).toEqual([]);
  expect(lost(deployed)).toBe('');
  expect(await deployed.invoke(lastStep)).toMatchObject({ payload: { isTold: false } });
  expect(service.told).toEqual([]);
});

it('is not told of fewer or more shards than the run had', async () => {
  const deployed = await deploy();
  await deployed.fireSchedule(noon);
  for (const other of [1, 3])
    expect(await deployed.invoke({ scheduledTime, heartbeat: { shards: other } })).toMatchObject({
      payload: { isTold: false },
    });
  expect(service.told).toHaveLength(1);
});

describe('a heartbeat that is lost fails no run: it is a line of the log and a metric', () => {
  it('the service refuses it twice', async () => {
    service.answers = [500, 503];
    const deployed = await deploy();
    expect((await deployed.fireSchedule(noon)).failure).toBeUndefined();
    expect(service.told).toHaveLength(2);
    expect(lost(deployed)).toMatch(/failed in 2 requests; the last one: it answered with the status 503/);
    expect(counted(deployed)).toBe(1);
    await expectNoTrace(deployed);
  });

  it('its role may not read the address, or not the records', async () => {
    for (const [sid, refused] of [
      ['ReadHeartbeatAddress', /not authorized to perform: secretsmanager:GetSecretValue/],
      ['ListRunRecords', /403/],
    ] as const) {
      const deployed = await collector.deploy({
        heartbeatAddress: service.address,
        edit: (template) => without(policyOf(template, 'AWS::IAM::Policy', 'CollectorRole'), withSid(sid)),
      });
      expect((await deployed.fireSchedule(noon)).failure).toBeUndefined();
      expect(lost(deployed)).toMatch(refused);
      expect(counted(deployed)).toBe(1);
    }
    expect(service.told).toEqual([]);
  });
});

it.each([
  ['no time', { heartbeat: { shards } }, /scheduledTime/],
  ['no shards', { scheduledTime, heartbeat: {} }, /heartbeat.shards/],
  ['no shard at all', { scheduledTime, heartbeat: { shards: 0 } }, /a number of shards of at least 1/],
  ['counts of its own', { scheduledTime, heartbeat: { shards, counts: { archived: 6 } } }, /heartbeat.counts/],
  ['a run too', { ...lastStep, clusters: ['alpha'] }, /clusters/],
])('an event with %s is refused, and nobody is told', async (_what, event, problem) => {
  const deployed = await deploy();
  const { error } = await deployed.invoke(event);
  expect(error?.errorType).toBe('InvalidEventError');
  expect(error?.errorMessage).toMatch(problem);
  expect(error?.errorMessage).toContain('nobody was told');
  expect(service.told).toEqual([]);
  expect(await deployed.keys()).toEqual([]);
});

describe('a stack that tells nobody outside', () => {
  const silent = useLocalCollector({ clusters: uids, shards });

  it('refuses the event of the last step, and collects nothing', async () => {
    const deployed = await silent.deploy();
    const { error } = await deployed.invoke(lastStep);
    expect(error?.errorMessage).toContain('expected no heartbeat: alerts.heartbeat is not configured');
    expect(await deployed.keys()).toEqual([]);
  });
});
