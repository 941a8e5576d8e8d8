import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { objectKey, parseObjectKey } from '../../archive/format/keys';
import { firstResources } from '../../archive/format/resources';
import { injectFaults } from '../support/aws-faults';
import { type FaultService, startFaultService } from '../support/fault-service';
import { ok } from '../support/fault-service-answers';
import { logRecord, manifestText } from '../support/fault-service-bodies';
import { storedObjects } from '../support/stored-objects';
import { FunctionProcess } from './function-process';
import { type DeployedCollector, LocalCollector } from './local-collector';

/** The process is killed at every event of a run that can be seen from outside, and the run is repeated. */

const run = '2026-11-20T10:00:00.000Z';
const uids = ['small-1', 'small-2', 'large'];
/** Does not compress, so that it spills to a file. */
const largeLog = Array.from({ length: 400_000 }, (_, i) =>
  createHash('md5').update(`${i}`).digest('hex').slice(0, 8),
).join('');
const sources = new Map(
  uids.flatMap((cluster) =>
    firstResources.map((resource) => [
      objectKey({ cluster, resource, run: new Date(run) }),
      resource === 'manifest'
        ? manifestText(cluster)
        : logRecord({ uid: cluster, ...(cluster === 'large' && { log: largeLog }) }),
    ]),
  ),
);
const sourceOf = (cluster: string, resource: (typeof firstResources)[number]) =>
  sources.get(objectKey({ cluster, resource, run: new Date(run) })) ?? '';

let service: FaultService;
let collector: LocalCollector;
let deployed: DeployedCollector;
/** Called for every event of a run. */
let onEvent: (name: string) => void = () => undefined;

beforeAll(async () => {
  service = await startFaultService(({ uid = '', resource = 'log' }) => {
    onEvent(`GET ${resource} of ${uid}`);
    const type = resource === 'log' ? 'application/json' : 'text/plain';
    return ok(sourceOf(uid, resource), { 'Content-Type': type });
  });
  const limits = { concurrency: 2 };
  collector = await new LocalCollector({ clusters: uids, limits, service: { baseUrl: service.url } }).start();
});
afterAll(async () => {
  await collector.close();
  await service.close();
});

/** With an empty archive. */
async function deploy(): Promise<void> {
  await collector.closeDeployments();
  deployed = await collector.deploy({
    around: injectFaults(({ action, key }) => {
      onEvent(`${action} ${key ?? ''} begins`);
      return undefined;
    }),
    onRequest: ({ action, key }) => onEvent(`${action} ${key ?? ''} is done`),
  });
}

/** What is visible is whole: its content is the source's, and what it says of itself is true. */
async function expectOnlyWholeObjects(): Promise<string[]> {
  const objects = await storedObjects(deployed.folder);
  for (const [key, { body, metadata }] of objects) {
    if (parseObjectKey(key) === undefined) continue;
    const unpacked = gunzipSync(body);
    expect(unpacked.equals(Buffer.from(sources.get(key) ?? ''))).toBe(true);
    expect(metadata.sha256).toBe(createHash('sha256').update(unpacked).digest('hex'));
  }
  return [...objects.keys()].filter(parseObjectKey);
}

/** Runs until an event and kills the process there. @returns the bodies that it left in temporary files */
async function killAt(event: string): Promise<string[]> {
  const victim = await FunctionProcess.start(deployed);
  let killed: Promise<void> | undefined;
  onEvent = (name) => {
    if (name === event) killed ??= victim.kill();
  };
  const outcome = await victim.invoke({ scheduledTime: run });
  onEvent = () => undefined;
  expect(outcome).toMatchObject({ error: { errorType: 'Runtime.ExitError' } });
  await killed;
  return victim.temporaryFiles();
}

/** Everything that can be seen from outside of a run that nothing disturbs. */
async function eventsOfARun(): Promise<string[]> {
  const events: string[] = [];
  await deploy();
  onEvent = (name) => events.push(name);
  const process = await FunctionProcess.start(deployed);
  await process.collect(run);
  await process.kill();
  return events;
}

it('killed at any event of a run, everything is there once and whole after the run is repeated', async () => {
  const events = await eventsOfARun();
  // The list, the configuration, the key, six objects and the record, each when it begins and when it is done, and six requests.
  expect(new Set(events).size).toBe(26);
  let leftBehind = 0;
  for (const event of events) {
    await deploy();
    leftBehind += (await killAt(event)).length;
    await expectOnlyWholeObjects();

    const successor = await FunctionProcess.start(deployed);
    const { status, counts } = await successor.collect(run);
    expect([status, counts.archived + counts.alreadyArchived]).toEqual(['complete', 6]);
    expect((await expectOnlyWholeObjects()).sort()).toEqual([...sources.keys()].sort());
    expect(await successor.temporaryFiles()).toEqual([]);
    await successor.kill();
  }
  expect(leftBehind).toBeGreaterThan(0);
});
