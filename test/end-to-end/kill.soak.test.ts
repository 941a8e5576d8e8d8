import { injectFaults } from '../support/aws-faults';
import type { FaultService } from '../support/fault-service';
import { storedObjects } from '../support/stored-objects';
import { FunctionProcess } from './function-process';
import { expectOnlyWholeObjects, run, sources, startSources, uids } from './killed-run';
import { type DeployedCollector, LocalCollector } from './local-collector';

/** The process is killed at every event of a run that can be seen from outside, and the run is repeated. */

let service: FaultService;
let collector: LocalCollector;
let deployed: DeployedCollector;
/** Called for every event of a run. */
let onEvent: (name: string) => void = () => undefined;

beforeAll(async () => {
  service = await startSources((name) => onEvent(name));
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
    expectOnlyWholeObjects(await storedObjects(deployed.folder));

    const successor = await FunctionProcess.start(deployed);
    const { status, counts } = await successor.collect(run);
    expect([status, counts.archived + counts.alreadyArchived]).toEqual(['complete', 6]);
    expect(expectOnlyWholeObjects(await storedObjects(deployed.folder)).sort()).toEqual([...sources.keys()].sort());
    expect(await successor.temporaryFiles()).toEqual([]);
    await successor.kill();
  }
  expect(leftBehind).toBeGreaterThan(0);
});
