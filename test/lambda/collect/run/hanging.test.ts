import { type Answer, startFaultService } from '../../../support/fault-service';
import { ok, silence, stalledBody, status } from '../../../support/fault-service-answers';
import { logRecord } from '../../../support/fault-service-bodies';
import { RealCollector } from '../../../support/real-collector';

/** Clusters and services that hang, over real sockets. */

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const body = logRecord({ uid: 'c0' });

it('of an archived cluster that is asked whether the service is up, the head of the answer is enough', async () => {
  let isStalled = false;
  const service = await startFaultService(({ uid = '' }) => {
    if (uid !== 'c0') return status(500);
    return isStalled ? stalledBody(body) : ok(body);
  });
  const limitMs = 3_600_000;
  const collector = await RealCollector.start({
    service: { baseUrl: service.url },
    clusters: Array.from({ length: 12 }, (_, i) => ({ uid: `c${i}`, resources: ['log' as const] })),
    limits: { concurrency: 2, responseTimeoutSeconds: 40 },
    timeLimits: { connectMs: 60_000, responseMs: limitMs, idleMs: limitMs },
    // A body that is waited for ends the run never.
    timeStands: true,
  });
  opened.push(service, collector);
  await collector.attempt();
  isStalled = true;
  const { outcomes, summary } = await collector.attempt();
  expect(summary?.counts).toMatchObject({ alreadyArchived: 1, failed: 11, notAttempted: 0 });
  expect(outcomes.slice(1).map(({ requests }) => requests)).toEqual(Array(11).fill(5));
  expect(service.requests.filter(({ uid }) => uid === 'c0').length).toBeGreaterThan(1);
});

const hanging: [string, Answer][] = [
  ['says nothing', silence()],
  ['stops in the middle of a body', stalledBody(body)],
];

it.each(
  hanging,
)('a service that %s on every connection costs the run its time, and the next attempt completes it', async (_name, slow) => {
  let recovered = false;
  const clusters = Array.from({ length: 6 }, (_, i) => ({ uid: `c${i}`, resources: ['log' as const] }));
  const service = await startFaultService(({ uid = '', nth }) =>
    recovered || (uid === 'c0' && nth === 1) ? ok(logRecord({ uid })) : slow,
  );
  const collector = await RealCollector.start({
    service: { baseUrl: service.url },
    clusters,
    limits: { concurrency: 3 },
    timeLimits: { connectMs: 60_000, responseMs: 60_000, idleMs: 60_000 },
  });
  opened.push(service, collector);
  // The fourth request is the first of the worker that has archived one.
  const first = await collector.attempt({}, service.whenRequests(4));
  const results = first.outcomes.map(({ outcome }) => outcome);
  expect(results.sort()).toEqual(['archived', ...Array(3).fill('failed'), ...Array(2).fill('not-attempted')]);
  expect(first.outcomes.find(({ outcome }) => outcome === 'failed')?.error).toBe(
    "cancelled: the function's time limit is near; the next attempt completes the run",
  );
  expect(first.error?.message).toContain("It ended early: the function's time limit is near");
  const [record] = await collector.records();
  expect(record).toMatchObject({ status: 'incomplete', stopped: first.summary?.stopped, outcomes: first.outcomes });
  expect(await collector.spooled()).toEqual([]);

  recovered = true;
  const second = await collector.attempt();
  expect(second.summary).toMatchObject({ status: 'complete', counts: { archived: 5, alreadyArchived: 1 } });
});
