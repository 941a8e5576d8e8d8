import { type Answer, type FaultService, startFaultService } from '../../support/fault-service';
import { ok, silence, slowHeaders, stalledBody, tricklingBody } from '../../support/fault-service-answers';
import { logRecord } from '../../support/fault-service-bodies';
import { RealCollector } from '../../support/real-collector';

/** A service that keeps every worker busy for ever does not keep the function past its deadline. */

let service: FaultService;
let collector: RealCollector;

afterEach(async () => {
  await collector.close();
  await service.close();
});

const body = logRecord({ uid: 'c0' });

it.each<[string, Answer]>([
  ['says nothing', silence()],
  ['never ends its headers', slowHeaders()],
  ['stops in the middle of a body', stalledBody(body)],
  ['sends a body byte by byte', tricklingBody(body.repeat(1000))],
])('a service that %s on every connection costs the run its time, and the next attempt completes it', async (_name, slow) => {
  let recovered = false;
  const clusters = Array.from({ length: 6 }, (_, i) => ({ uid: `c${i}`, resources: ['log' as const] }));
  service = await startFaultService(({ uid = '', nth }) =>
    recovered || (uid === 'c0' && nth === 1) ? ok(logRecord({ uid })) : slow,
  );
  collector = await RealCollector.start({
    service: { baseUrl: service.url },
    clusters,
    limits: { concurrency: 3 },
    timeLimits: { connectMs: 60_000, responseMs: 60_000, idleMs: 60_000 },
  });
  // The fourth request is the first of the worker that has archived one.
  const first = await collector.attempt({}, service.whenRequests(4));
  expect(first.outcomes.map(({ outcome }) => outcome)).toEqual([
    'archived',
    ...Array(3).fill('failed'),
    ...Array(2).fill('not-attempted'),
  ]);
  expect(first.outcomes[1]?.error).toBe(
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
