import { type Answer, type FaultService, startFaultService } from '../../support/fault-service';
import { ok, silence, slowHeaders, stalledBody, status, tricklingBody } from '../../support/fault-service-answers';
import { logRecord } from '../../support/fault-service-bodies';
import { RealCollector } from '../../support/real-collector';

/** Clusters and services that hang, over real sockets. */

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const body = logRecord({ uid: 'c0' });

const hanging: [string, Answer][] = [
  ['says nothing', silence()],
  ['never ends its headers', slowHeaders()],
  ['stops in the middle of a body', stalledBody(body)],
  ['sends a body byte by byte', tricklingBody(body.repeat(1000))],
];

interface Started {
  readonly service: FaultService;
  readonly collector: RealCollector;
}

interface Bad {
  readonly answer: Answer;
  /** Whether the service never ends the answer. */
  readonly hangs: boolean;
}

/**
 * @param bad answers of the clusters that are not well
 * @param limitMs for an answer that nobody else's request ends
 */
async function start(clusters: number, bad: (uid: string) => Bad | undefined, limitMs: number): Promise<Started> {
  const arrived = new Map<string, () => void>();
  const service = await startFaultService(({ uid = '' }) => {
    const { answer, hangs } = bad(uid) ?? { answer: ok(logRecord({ uid })), hangs: false };
    if (hangs) arrived.get(uid)?.();
    return answer;
  });
  const collector = await RealCollector.start({
    service: { baseUrl: service.url },
    clusters: Array.from({ length: clusters }, (_, i) => ({ uid: `c${i}`, resources: ['log' as const] })),
    limits: { concurrency: 2, responseTimeoutSeconds: 40 },
    timeLimits: { connectMs: 60_000, responseMs: limitMs, idleMs: limitMs },
    hangs: ({ cluster }) => new Promise<void>((resolve) => arrived.set(cluster, resolve)),
  });
  opened.push(service, collector);
  return { service, collector };
}

it('a cluster that hangs in any way gives its worker to others, and is asked again after them', async () => {
  const isSlow = (uid: string) => ['c0', 'c1', 'c2'].includes(uid);
  const attempt = async ([way, slow]: [string, Answer]) => {
    const bad = (uid: string) => (isSlow(uid) ? { answer: slow, hangs: true } : undefined);
    const { service, collector } = await start(20, bad, 1000);
    return { way, service, collector, attempted: await collector.attempt() };
  };
  // At the same time, because each waits for seconds.
  for (const { way, service, collector, attempted } of await Promise.all(hanging.map(attempt))) {
    const { outcomes, error } = attempted;
    const archived = outcomes.filter(({ outcome }) => outcome === 'archived');
    expect([way, ...archived.map(({ cluster }) => cluster)]).toEqual([
      way,
      ...Array.from({ length: 17 }, (_, i) => `c${i + 3}`),
    ]);
    expect(error?.message).toContain('3 of 20 not archived (3 failed, 0 not attempted)');
    const order = service.requests.map(({ uid = '' }) => uid);
    // Each had one turn, one of them perhaps a long one, before the last of the others was asked for the first time.
    const lastGood = Math.max(...archived.map(({ cluster }) => order.indexOf(cluster)));
    expect(order.slice(0, lastGood).filter(isSlow).length).toBeLessThanOrEqual(3);
    expect(order.slice(lastGood).filter(isSlow).length).toBeGreaterThanOrEqual(2);
    expect(await collector.spooled()).toEqual([]);
  }
});

it('of an archived cluster that is asked whether the service is up, the head of the answer is enough', async () => {
  let isStalled = false;
  // Time goes on only while nothing is under way: a body that is waited for ends the run never.
  const { service, collector } = await start(
    12,
    (uid) =>
      uid !== 'c0'
        ? { answer: status(500), hangs: false }
        : isStalled
          ? { answer: stalledBody(body), hangs: false }
          : undefined,
    3_600_000,
  );
  await collector.attempt();
  isStalled = true;
  const { outcomes, summary } = await collector.attempt();
  expect(summary?.counts).toMatchObject({ alreadyArchived: 1, failed: 11, notAttempted: 0 });
  expect(outcomes.slice(1).map(({ requests }) => requests)).toEqual(Array(11).fill(5));
  expect(service.requests.filter(({ uid }) => uid === 'c0').length).toBeGreaterThan(1);
});

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
