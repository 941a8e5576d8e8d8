import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { objectKey, parseObjectKey } from '../../archive/format/keys';
import { resourceNames } from '../../archive/format/resources';
import { type DeployedCollector, uids, useLocalCollector } from './local-collector';

const noon = new Date('2026-11-20T12:00:00Z');
/** Objects of a complete run. */
const all = uids.length * resourceNames.length;

const collector = useLocalCollector();

const keysOf = (clusters: readonly string[], run: Date) =>
  clusters.flatMap((cluster) => resourceNames.map((resource) => objectKey({ cluster, resource, run }))).sort();

async function contents({ folder }: DeployedCollector, keys: readonly string[]): Promise<string[]> {
  return Promise.all(keys.map(async (key) => (await readFile(join(folder, key))).toString('base64')));
}

describe('a scheduled event', () => {
  let deployed: DeployedCollector;
  let attempts: Awaited<ReturnType<DeployedCollector['fireSchedule']>>['attempts'];

  beforeAll(async () => {
    deployed = await collector.deployForAll();
    attempts = (await deployed.fireSchedule(noon)).attempts;
  });

  it('archives both resources of every cluster, under the keys of its time', async () => {
    expect(attempts).toEqual([
      expect.objectContaining({
        payload: expect.objectContaining({
          run: '2026-11-20T12:00:00.000Z',
          status: 'complete',
          counts: { archived: all, alreadyArchived: 0, failed: 0, notAttempted: 0 },
          record: expect.stringMatching(/^s3:\/\/.*\/runs\/date=2026-11-20\/20261120T120000\.000Z\.attempt-1\.jsonl$/),
        }),
      }),
    ]);
    const [record] = await deployed.records();
    const others = [
      `configurations/${record?.configuration}.json.gz`,
      'runs/date=2026-11-20/20261120T120000.000Z.attempt-1.jsonl',
    ];
    expect(await deployed.keys()).toEqual([...keysOf(uids, noon), ...others].sort());
  });

  it('sets a flag that V8 knows', () => {
    expect(deployed.logs).toContainEqual(expect.stringContaining('"run finished"'));
    expect(deployed.logs.filter((line) => line.includes('flag'))).toEqual([]);
  });
});

it('a duplicate delivery writes nothing but a second record, which says that everything is archived', async () => {
  const configurations: string[] = [];
  const deployed = await collector.deploy({
    onRequest: ({ action, key }) => {
      if (action === 'PutObject' && key?.startsWith('configurations/')) configurations.push(key);
    },
  });
  await deployed.fireSchedule(noon);
  const before = await deployed.keys();
  const bytes = await contents(deployed, before);
  const { attempts } = await deployed.fireSchedule(noon);
  expect(attempts).toHaveLength(1);
  expect((await deployed.keys()).filter((key) => !before.includes(key))).toEqual([
    'runs/date=2026-11-20/20261120T120000.000Z.attempt-2.jsonl',
  ]);
  expect(await contents(deployed, before)).toEqual(bytes);
  // The function was warm, and knows that it has stored it.
  expect(configurations).toHaveLength(1);
  const [first, second] = await deployed.records();
  expect(second?.status).toBe('complete');
  expect(second?.outcomes.map(({ outcome }) => outcome)).toEqual(Array(all).fill('already-archived'));
  expect(second?.outcomes.map(({ sha256 }) => sha256)).toEqual(first?.outcomes.map(({ sha256 }) => sha256));
});

it('by hand, a dry run writes nothing, and {} from the console collects everything now', async () => {
  const deployed = await collector.deploy();
  const dry = await deployed.invoke({ dryRun: true });
  expect(dry.payload).toMatchObject({ dryRun: true, counts: { wouldArchive: all } });
  expect(await deployed.keys()).toEqual([]);
  const before = Date.now();
  const { payload } = await deployed.invoke({});
  const run = new Date((payload as { run: string }).run);
  expect(run.getTime()).toBeGreaterThanOrEqual(before);
  expect(run.getTime()).toBeLessThanOrEqual(Date.now());
  const keys = await deployed.keys();
  expect(keys.filter(parseObjectKey)).toEqual(keysOf(uids, run));
  // The function was warm: that the dry run did not store it is not taken for having stored it.
  expect(keys.filter((key) => key.startsWith('configurations/'))).toHaveLength(1);
});

it('a cluster that fails stops no other: Lambda retries, people are told, and the run is completed later', async () => {
  const deployed = await collector.deploy();
  collector.failing.beta = 'other-cluster';
  const { attempts, failure } = await deployed.fireSchedule(noon);
  expect(attempts.map(({ error }) => error?.errorType)).toEqual(Array(3).fill('RunIncompleteError'));
  expect(attempts[0]?.error?.errorMessage).toMatch(/log of cluster beta: .*"not-beta"/);
  expect(failure?.errorType).toBe('RunIncompleteError');
  expect((await deployed.records()).map(({ counts }) => counts)).toEqual([
    // The manifest beside the wrong log has a doubt.
    { archived: all - 1, alreadyArchived: 0, failed: 1, notAttempted: 0, doubts: 1 },
    { archived: 0, alreadyArchived: all - 1, failed: 1, notAttempted: 0, doubts: 1 },
    { archived: 0, alreadyArchived: all - 1, failed: 1, notAttempted: 0, doubts: 1 },
  ]);
  const [message, ...others] = deployed.messages;
  expect(others).toEqual([]);
  expect(message).toMatchObject({
    to: expect.stringMatching(/^arn:aws:sns:/),
    subject: 'end-to-end: failed for good',
    body: expect.stringMatching(
      /after 3 attempts.*RunIncompleteError: .*log of cluster beta: .*npm run collector -- run /s,
    ),
  });
  expect(JSON.parse(message?.record ?? '')).toMatchObject({
    requestPayload: { scheduledTime: '2026-11-20T12:00:00Z' },
    responsePayload: { errorType: 'RunIncompleteError' },
  });
  expect(await deployed.keys()).not.toContainEqual(expect.stringContaining('logs/cluster=beta/'));

  delete collector.failing.beta;
  const { payload } = await deployed.invoke({ run: '2026-11-20T12:00:00.000Z' });
  expect(payload).toMatchObject({ status: 'complete', counts: { archived: 1, alreadyArchived: all - 1 } });
  expect((await deployed.keys()).filter(parseObjectKey)).toEqual(keysOf(uids, noon));
});

it('the trace of an error names lines of the sources, not of the bundle', async () => {
  const { error } = await (await collector.deploy({ hasSourceMaps: true })).invoke({ unknown: 1 });
  expect(error).toMatchObject({
    errorType: 'InvalidEventError',
    trace: expect.arrayContaining([expect.stringMatching(/^ {4}at .*\(.*\/lambda\/collect\/event\.ts:\d+:\d+\)$/)]),
  });
});
