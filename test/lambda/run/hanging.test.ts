import { type Answer, type FaultService, startFaultService } from '../../support/fault-service';
import { ok, silence, slowHeaders, stalledBody, status, tricklingBody } from '../../support/fault-service-answers';
import { logRecord } from '../../support/fault-service-bodies';
import { RealCollector, type RealCollectorOptions } from '../../support/real-collector';

/** Clusters that hang, over real sockets. To try ten seconds of patience, the collector's clock goes a hundred times as fast. */

let service: FaultService;
let collector: RealCollector;

afterEach(async () => {
  await collector.close();
  await service.close();
});

const body = logRecord({ uid: 'c0' });

interface Setting extends Partial<Pick<RealCollectorOptions, 'clockSpeed' | 'timeLimits'>> {
  readonly clusters: number;
}

const hundredfold = { clockSpeed: 100, timeLimits: { connectMs: 400, responseMs: 400, idleMs: 400 } };

/** @param bad answers of the clusters that are not well */
async function start(bad: (uid: string) => Answer | undefined, { clusters, ...options }: Setting): Promise<void> {
  service = await startFaultService(({ uid = '' }) => bad(uid) ?? ok(logRecord({ uid })));
  collector = await RealCollector.start({
    service: { baseUrl: service.url },
    clusters: Array.from({ length: clusters }, (_, i) => ({ uid: `c${i}`, resources: ['log' as const] })),
    limits: { concurrency: 2, responseTimeoutSeconds: 40 },
    timeLeftMs: 200_000,
    ...options,
  });
}

it.each<[string, Answer]>([
  ['says nothing', silence()],
  ['never ends its headers', slowHeaders()],
  ['stops in the middle of a body', stalledBody(body)],
  ['sends a body byte by byte', tricklingBody(body.repeat(1000))],
])('a cluster that %s gives its worker to others, and is asked again after them', async (_name, slow) => {
  const isSlow = (uid: string) => ['c0', 'c1', 'c2'].includes(uid);
  await start((uid) => (isSlow(uid) ? slow : undefined), { clusters: 20, ...hundredfold });
  const { outcomes, error } = await collector.attempt();
  const archived = outcomes.filter(({ outcome }) => outcome === 'archived');
  expect(archived.map(({ cluster }) => cluster)).toEqual(Array.from({ length: 17 }, (_, i) => `c${i + 3}`));
  expect(error?.message).toContain('3 of 20 not archived (3 failed, 0 not attempted)');
  const order = service.requests.map(({ uid = '' }) => uid);
  // Each had one turn, one of them perhaps a long one, before the last of the others was asked for the first time.
  const lastGood = Math.max(...archived.map(({ cluster }) => order.indexOf(cluster)));
  expect(order.slice(0, lastGood).filter(isSlow).length).toBeLessThanOrEqual(3);
  expect(order.slice(lastGood).filter(isSlow).length).toBeGreaterThanOrEqual(2);
  expect(await collector.spooled()).toEqual([]);
});

/** Less than a body may stall, in milliseconds. */
const quickly = 4_000;

it(
  'of an archived cluster that is asked whether the service is up, the head of the answer is enough',
  async () => {
    let isStalled = false;
    await start((uid) => (uid !== 'c0' ? status(500) : isStalled ? stalledBody(body) : undefined), {
      clusters: 12,
      clockSpeed: 1,
      timeLimits: {},
    });
    await collector.attempt();
    isStalled = true;
    const { outcomes, summary } = await collector.attempt();
    expect(summary?.counts).toMatchObject({ alreadyArchived: 1, failed: 11, notAttempted: 0 });
    expect(outcomes.slice(1).map(({ requests }) => requests)).toEqual(Array(11).fill(5));
    expect(service.requests.filter(({ uid }) => uid === 'c0').length).toBeGreaterThan(1);
  },
  quickly,
);
