import { setImmediate } from 'node:timers/promises';
import { objectKey } from '../../lambda/archive/archive-layout';
import { firstResources } from '../../lambda/resources';
import { demoContent } from '../../local/demo-service/demo-content';
import { type DemoService, startDemoService } from '../../local/demo-service/start-demo-service';
import { LocalCollector } from './local-collector';

const times = [0, 15, 30].map((minute) => new Date(Date.UTC(2026, 10, 20, 12, minute)));
const clusters = Array.from({ length: 8 }, (_, index) => `c-${index}`);
const requestsPerSecond = 40;
/** All objects of three runs. */
const all = times
  .flatMap((run) => clusters.flatMap((cluster) => firstResources.map((resource) => ({ cluster, resource, run }))))
  .map((object) => objectKey({ ...object }))
  .sort();

/** Holds the first invocations until they are released, counts how many are under way, and wakes others when one ends. */
function gate(held: number) {
  const seen = { underWay: 0, most: 0, count: 0, release: () => {} };
  const waiting: (() => void)[] = [];
  // A shard that is too early is tried again after minutes: here, when an invocation has ended.
  const clock = { now: () => Date.now(), wait: () => new Promise<void>((resolve) => waiting.push(resolve)) };
  const released = new Promise<void>((resolve) => {
    seen.release = resolve;
  });
  const around = async <Result>(_event: unknown, invoke: () => Promise<Result>): Promise<Result> => {
    seen.underWay += 1;
    seen.count += 1;
    seen.most = Math.max(seen.most, seen.underWay);
    try {
      if (seen.count <= held) await released;
      return await invoke();
    } finally {
      seen.underWay -= 1;
      void setImmediate().then(() => {
        for (const wake of waiting.splice(0)) wake();
      });
    }
  };
  return { seen, around, clock };
}

describe.each([
  ['one function', 1],
  ['two shards', 2],
])('three firings at once of %s, of which the first hangs', (_, shards) => {
  let service: DemoService;
  let collector: LocalCollector;
  let asked: number[];

  beforeAll(async () => {
    const onRequest = () => void asked.push(performance.now());
    service = await startDemoService({ apiKey: 'the-api-key-of-the-tests', source: demoContent(), onRequest });
    const limits = { requestsPerSecond, oneRunAtATime: true };
    collector = await new LocalCollector({ clusters, shards, limits, service: { baseUrl: service.url } }).start();
  });
  beforeEach(() => {
    asked = [];
  });
  afterEach(() => collector.closeDeployments());
  afterAll(async () => {
    await collector.close();
    await service.close();
  });

  it('never add up: none is lost, none runs twice, and the service is asked at the rate of one', async () => {
    const { seen, around, clock } = gate(shards);
    const deployed = await collector.deploy({ aroundInvocation: around, clock });
    const firings = times.map((time) => deployed.fireSchedule(time));
    while (seen.underWay < shards) await setImmediate();
    await expect(deployed.invoke({})).rejects.toThrow('TooManyRequestsException');
    seen.release();
    const results = await Promise.all(firings);

    expect(results.map(({ condition }) => condition)).toEqual([undefined, undefined, undefined]);
    expect(seen).toMatchObject({ most: shards, count: 3 * shards });
    expect((await deployed.keys()).filter((key) => /^(logs|manifests)\//.test(key))).toEqual(all);
    expect((await deployed.records()).map(({ attempt, status }) => [attempt, status])).toEqual(
      Array(3 * shards).fill([1, 'complete']),
    );
    expect(asked).toHaveLength(all.length);
    // Each invocation may ask once at its beginning; the others of its requests come at the rate.
    const seconds = ((asked.at(-1) ?? 0) - (asked[0] ?? 0)) / 1000;
    expect(seconds).toBeGreaterThan((all.length - 3 * shards) / requestsPerSecond - 0.1);
  });
});

it('a firing that waits longer than Lambda keeps it is lost, and people are told', async () => {
  const collector = await new LocalCollector({ clusters: ['c-0'], limits: { oneRunAtATime: true } }).start();
  const { seen, around } = gate(1);
  let now = Date.now();
  const clock = { now: () => now, wait: async () => {} };
  const deployed = await collector.deploy({ aroundInvocation: around, clock });
  const [first, second] = times.slice(0, 2).map((time) => deployed.fireSchedule(time));
  while (seen.underWay < 1) await setImmediate();
  now += 6 * 3_600_000 + 1;
  seen.release();
  expect((await first)?.condition).toBeUndefined();
  expect(await second).toMatchObject({ condition: 'EventAgeExceeded', attempts: [] });
  expect(deployed.messages).toMatchObject([
    { to: expect.stringMatching(/^arn:aws:sns:/), body: expect.stringContaining('waited too long for its turn') },
  ]);
  await collector.close();
});
