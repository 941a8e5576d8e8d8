import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { objectKey } from '../../lambda/archive/archive-layout';
import { resourceNames } from '../../lambda/resources';
import { type BundledCollector, summaryOf, useBundle } from '../support/bundled-collector';
import { ok } from '../support/fault-service-answers';
import { logRecord, manifestText } from '../support/fault-service-bodies';

/** The process is killed at every event of a run that can be seen from outside, and the run is repeated. */

const run = '2026-11-20T10:00:00.000Z';
const uids = ['small-1', 'small-2', 'large'];
/** Does not compress, so that it spills to a file. */
const largeLog = Array.from({ length: 400_000 }, (_, i) =>
  createHash('md5').update(`${i}`).digest('hex').slice(0, 8),
).join('');
const sources = new Map(
  uids.flatMap((cluster) =>
    resourceNames.map((resource) => [
      objectKey({ cluster, resource, run: new Date(run) }),
      resource === 'manifest'
        ? manifestText(cluster)
        : logRecord({ uid: cluster, ...(cluster === 'large' && { log: largeLog }) }),
    ]),
  ),
);
const sourceOf = (cluster: string, resource: (typeof resourceNames)[number]) =>
  sources.get(objectKey({ cluster, resource, run: new Date(run) })) ?? '';

let collector: BundledCollector;
/** Called for every event of a run. */
let onEvent: (name: string) => void = () => undefined;

const bundle = useBundle(({ uid = '', resource = 'log' }) => {
  onEvent(`GET ${resource} of ${uid}`);
  const type = resource === 'log' ? 'application/json' : 'text/plain';
  return ok(sourceOf(uid, resource), { 'Content-Type': type });
});

/** A collector with an empty archive. */
function start(): Promise<BundledCollector> {
  return bundle.start({
    collection: { clusters: uids.map((uid) => ({ uid })), limits: { concurrency: 2 } },
    intercept: ({ action, key }) => {
      onEvent(`${action} ${key ?? ''} begins`);
      return undefined;
    },
    onRequest: ({ action, key }) => onEvent(`${action} ${key ?? ''} is done`),
  });
}

/** What is visible is whole: its content is the source's, and what it says of itself is true. */
async function expectOnlyWholeObjects(): Promise<string[]> {
  const objects = await collector.objects();
  for (const [key, { body, metadata }] of objects) {
    if (!/^(logs|manifests)\//.test(key)) continue;
    const unpacked = gunzipSync(body);
    expect(unpacked.equals(Buffer.from(sources.get(key) ?? ''))).toBe(true);
    expect(metadata.sha256).toBe(createHash('sha256').update(unpacked).digest('hex'));
  }
  return [...objects.keys()].filter((key) => /^(logs|manifests)\//.test(key));
}

/** Runs until an event and kills the process there. */
async function killAt(event: string): Promise<void> {
  const victim = await collector.startProcess();
  let killed: Promise<void> | undefined;
  onEvent = (name) => {
    if (name === event) killed ??= victim.kill();
  };
  const outcome = await victim.invoke({ scheduledTime: run });
  onEvent = () => undefined;
  expect(outcome).toMatchObject({ error: { errorType: 'Runtime.ExitError' } });
  await killed;
}

/** Everything that can be seen from outside of a run that nothing disturbs. */
async function eventsOfARun(): Promise<string[]> {
  const events: string[] = [];
  collector = await start();
  onEvent = (name) => events.push(name);
  summaryOf(await (await collector.startProcess()).invoke({ scheduledTime: run }));
  await collector.close();
  return events;
}

it('killed at any event of a run, everything is there once and whole after the run is repeated', async () => {
  const events = await eventsOfARun();
  // The list, the configuration, the key, six objects and the record, each when it begins and when it is done, and six requests.
  expect(new Set(events).size).toBe(26);
  let leftBehind = 0;
  for (const event of events) {
    collector = await start();
    await killAt(event);
    await expectOnlyWholeObjects();
    leftBehind += (await collector.temporaryFiles()).length;

    const successor = await collector.startProcess();
    const { status, counts } = summaryOf(await successor.invoke({ scheduledTime: run }));
    expect([status, counts.archived + counts.alreadyArchived]).toEqual(['complete', 6]);
    expect((await expectOnlyWholeObjects()).sort()).toEqual([...sources.keys()].sort());
    expect(await collector.temporaryFiles()).toEqual([]);
    await collector.close();
  }
  expect(leftBehind).toBeGreaterThan(0);
});
