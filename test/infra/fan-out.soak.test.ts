import { objectKey, parseObjectKey, parseRunRecordKey } from '../../archive/format/keys';
import { firstResources } from '../../archive/format/resources';
import { isInShard } from '../../archive/format/shard';
import { FolderArchiveReader } from '../../archive/read/folder-archive-reader';
import { type Run, readRun } from '../../archive/read/read-run';
import { runsBetween } from '../../archive/read/run-keys';
import { lostRunIn } from '../../lambda/notify/lost-run';
import { metricNames, metricNamespace } from '../../lambda/stack-contract';
import { type DeployedCollector, useLocalCollector } from '../end-to-end/local-collector';
import { policyOf, without, withSid } from '../end-to-end/template-policies';
import { findCommand } from '../local/aws/moto-server';
import { injectFaults } from '../support/aws-faults';
import { useMotoStates } from './moto-states';

const name = 'in-shards';
const shards = 4;
const uids = Array.from({ length: 60 }, (_, index) => `cluster-${index}`);
const scheduledTime = '2026-11-20T12:00:00Z';
const run = new Date(scheduledTime);
const ofSchedule = { namespace: metricNamespace, name: metricNames.scheduled, value: 1, dimensions: { service: name } };

describe('a schedule that starts the state machine', () => {
  const noon = new Date('2026-11-20T12:00:00Z');
  const collector = useLocalCollector({ shards: 2 });

  it('passes its own input', async () => {
    const deployed = await collector.deploy();
    expect((await deployed.fireSchedule(noon)).failure).toBeUndefined();
    expect((await deployed.records()).map(({ run, shard }) => [run, shard?.index])).toEqual([
      [noon.toISOString(), 0],
      [noon.toISOString(), 1],
    ]);
  });

  it('sends its event to the dead-letter queue if its role may not start it', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(policyOf(template, 'AWS::IAM::Policy', 'ScheduleRole'), withSid('StartRun')),
    });
    await expect(deployed.fireSchedule(noon)).rejects.toThrow(/states:StartExecution .*lies in the dead-letter queue/);
    expect(await deployed.keys()).toEqual([]);
    expect(deployed.messages).toEqual([
      { to: expect.stringMatching(/^arn:aws:sqs:/), body: '{"scheduledTime":"2026-11-20T12:00:00Z"}' },
    ]);
  });
});

const moto = findCommand('moto_server');

(moto === undefined ? describe.skip : describe)('an execution in moto (skipped where moto_server is not found)', () => {
  const interpreter = useMotoStates(moto ?? '');
  const collector = useLocalCollector({ name, shards, clusters: uids });
  let written: string[];

  async function deploy(): Promise<DeployedCollector> {
    written = [];
    return collector.deploy({
      onRequest: ({ action, key, status }) => {
        if (action === 'PutObject' && status === 200) written.push(key ?? '');
      },
    });
  }

  const objects = () => written.filter(parseObjectKey).sort();
  const recordNames = () => written.flatMap((key) => parseRunRecordKey(key) ?? []);

  it('4 shards archive all of 60 clusters, each object once', async () => {
    const deployed = await deploy();
    expect((await interpreter.start(deployed, { scheduledTime })).failure).toBeUndefined();
    expect(objects()).toEqual(allKeys(run));
    expect((await deployed.keys()).filter(parseObjectKey)).toEqual(allKeys(run));
    expect(
      recordNames()
        .map(({ shard }) => shard?.index)
        .sort(),
    ).toEqual([0, 1, 2, 3]);
    expect(await runIn(deployed)).toMatchObject({ status: 'complete', shards, counts: { archived: 120, failed: 0 } });
    expect(await interpreter.metrics()).toEqual([ofSchedule]);
  });

  it('a failing shard stops no other, the execution names it, and a second one completes the run', async () => {
    const deployed = await deploy();
    const [bad = '', ...others] = uids.filter((uid) => isInShard(uid, { index: 2, count: shards }));
    expect(others.length).toBeGreaterThan(8);
    collector.failing[bad] = 'not-found';
    const { failure } = await interpreter.start(deployed, { scheduledTime });
    expect(failure).toEqual({
      error: 'ShardsFailedError',
      cause: expect.stringContaining('The shards [2] of 4 did not succeed'),
    });
    expect(failure?.cause).toMatch(
      /The first of them says: [^\\]* not attempted; most of all for: 404 Not Found\.\. All/,
    );
    // What the function that reports failures makes of it.
    const input = JSON.stringify({ scheduledTime });
    const ended = { detail: { stateMachineArn: 'arn', name: 'e', status: 'FAILED', input, ...failure } };
    const missingPercent = (100 * 2) / (2 * (others.length + 1)) / shards;
    expect(lostRunIn(ended)).toEqual({ isOfSchedule: true, missingPercent, isListRefused: false });
    expect(failure?.cause).toContain(`{"scheduledTime":"${scheduledTime}"}`);
    expect(objects()).toEqual(allKeys(run).filter((key) => !key.includes(`cluster=${bad}/`)));
    // As many attempts as Lambda makes.
    expect(recordNames().filter(({ shard }) => shard?.index === 2)).toHaveLength(3);
    expect(recordNames()).toHaveLength(3 + 3);
    expect(await runIn(deployed)).toMatchObject({ status: 'incomplete', counts: { failed: 2 } });
    // The schedule had its run. That the run failed is for another alarm.
    expect(await interpreter.metrics()).toEqual([ofSchedule]);

    delete collector.failing[bad];
    expect((await interpreter.start(deployed, { scheduledTime })).failure).toBeUndefined();
    expect(objects()).toEqual(allKeys(run));
    expect(await runIn(deployed)).toMatchObject({ status: 'complete', counts: { archived: 120, failed: 0 } });
  });

  it('a shard that succeeds at a retry fails nothing', async () => {
    const deployed = await collector.deploy({
      around: injectFaults(({ action, key }) => {
        if (action !== 'PutObject' || !key?.startsWith('runs/') || !key.includes('shard-1')) return undefined;
        failures += 1;
        return failures === 1 ? { kind: 'error', status: 403, code: 'AccessDenied', message: 'once' } : undefined;
      }),
    });
    let failures = 0;
    expect((await interpreter.start(deployed, { scheduledTime })).failure).toBeUndefined();
    expect(failures).toBeGreaterThan(1);
    expect(await runIn(deployed)).toMatchObject({ status: 'complete', counts: { archived: 120 } });
  });

  it('other members of the event reach every shard', async () => {
    const deployed = await deploy();
    const chosen = uids.slice(0, 10);
    expect(new Set(chosen.map(shardOf)).size).toBe(shards);
    expect((await interpreter.start(deployed, { scheduledTime, clusters: chosen })).failure).toBeUndefined();
    expect(objects()).toEqual(allKeys(run, chosen));
    // The schedule asks for all: an alarm about a run that is missing must not be silenced by a few clusters.
    expect(await interpreter.metrics()).toEqual([]);
    expect((await interpreter.start(deployed, { scheduledTime, requestId: 'r' })).failure).toBeUndefined();
    expect(objects()).toEqual(allKeys(run));
    expect(await interpreter.metrics()).toEqual([]);
  });

  it('a dry run writes nothing and counts as no run of the schedule', async () => {
    const deployed = await deploy();
    expect((await interpreter.start(deployed, { scheduledTime, dryRun: true })).failure).toBeUndefined();
    expect(written).toEqual([]);
    expect(await interpreter.metrics()).toEqual([]);
  });

  it('a run without the records of all shards does not count, and a permanent error is not retried', async () => {
    const deployed = await deploy();
    const { failure } = await interpreter.start(deployed, { scheduledTime, clusters: ['nobody'] });
    expect(failure?.cause).toContain('The shards [0,1,2,3] of 4 did not succeed');
    expect(await interpreter.metrics()).toEqual([]);
    expect(interpreter.invocations()).toBe(shards);
    expect(written).toEqual([]);
  });

  it('an input for one shard is refused before anything is collected', async () => {
    const deployed = await deploy();
    const { failure } = await interpreter.start(deployed, { shard: { index: 0, count: shards } });
    expect(failure?.error).toBe('InvalidInputError');
    expect(written).toEqual([]);
  });
});

function shardOf(uid: string): number {
  return Array.from({ length: shards }, (_, index) => index).findIndex((index) =>
    isInShard(uid, { index, count: shards }),
  );
}

function allKeys(time: Date, clusters: readonly string[] = uids): string[] {
  return clusters
    .flatMap((cluster) => firstResources.map((resource) => objectKey({ cluster, resource, run: time })))
    .sort();
}

/** The archive's only run, as the command line reads it. */
async function runIn({ folder }: DeployedCollector): Promise<Run> {
  const archive = new FolderArchiveReader(folder);
  const runs: Run[] = [];
  for await (const listed of runsBetween(archive, {})) runs.push(await readRun(archive, listed));
  const [only, ...others] = runs;
  if (only === undefined || others.length > 0) throw new Error(`expected one run, found ${runs.length}`);
  return only;
}
