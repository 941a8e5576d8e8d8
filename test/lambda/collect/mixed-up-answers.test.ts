import type { Socket } from 'node:net';
import { objectKey } from '../../../archive/format/keys';
import type { Resource } from '../../../archive/format/resources';
import { parseContractPath } from '../../../local/demo-service/contract-path';
import { logRecord, manifestText } from '../../support/fault-service-bodies';
import { type RawService, startRawService, wire } from '../../support/raw-service';
import { RealCollector, testRun } from '../../support/real-collector';

/**
 * Whole runs through a gateway that mixes up the answers on a connection. What comes first on a connection is right: nothing
 * can be left of an earlier answer. Where a gateway spoils that too, no collector can tell.
 */

const clusters = Array.from({ length: 10 }, (_, index) => `c${index}`);
const bodyOf = (uid: string, resource: Resource) => (resource === 'log' ? logRecord({ uid }) : manifestText(uid));

let gateway: RawService;
let collector: RealCollector;

afterEach(async () => {
  await collector.close();
  await gateway.close();
});

/**
 * The bytes for one request.
 * @param before the right answer to the request before it on the same connection; undefined: it is the first one
 * @param elsewhere the right answer to the last request on another connection
 */
type Answering = (nth: number, right: string, before?: string, elsewhere?: string) => string;

const late = 'HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n';

const gateways: Record<string, Answering> = {
  'sends each answer again before the next': (_nth, right, before) =>
    (before === undefined ? '' : wire(before)) + wire(right),
  'gives each request the answer to the one before': (_nth, right, before = right) => wire(before),
  'sends every third answer only after a 504': (nth, right, before = right) => (nth % 3 === 1 ? late : wire(before)),
  'swaps the answers of two connections': (_nth, right, before, elsewhere) =>
    wire(before === undefined ? right : (elsewhere ?? right)),
  'does all of that in turn': (nth, right, before, elsewhere = right) => {
    if (before === undefined) return nth % 7 === 1 ? late : wire(right);
    return (
      [wire(right), wire(before), wire(before) + wire(right), wire(elsewhere), wire(elsewhere) + late][nth % 5] ?? late
    );
  },
};

const both: readonly Resource[] = ['log', 'manifest'];

describe.each(Object.entries(gateways))('a gateway that %s', (_what, answer) => {
  it.each<[string, readonly Resource[], number]>([
    ['manifests, one after the other', ['manifest'], 1],
    ['manifests, four at once', ['manifest'], 4],
    ['logs and manifests, one after the other', both, 1],
    ['logs and manifests, four at once', both, 4],
  ])('gives no cluster the answer for another (%s)', async (_of, resources, concurrency) => {
    const last = new Map<Socket, string>();
    gateway = await startRawService(({ socket, nth, head }) => {
      const { uid = '', resource = 'log' } = parseContractPath(head.split(' ')[1] ?? '', 'platformclusters') ?? {};
      const right = bodyOf(uid, resource);
      const elsewhere = [...last].findLast(([other]) => other !== socket)?.[1];
      socket.write(answer(nth, right, last.get(socket), elsewhere));
      last.delete(socket);
      last.set(socket, right);
    });
    collector = await RealCollector.start({
      service: { baseUrl: gateway.url },
      clusters: clusters.map((uid) => ({ uid, resources })),
      limits: { concurrency },
    });
    // So many errors may use up all requests for a cluster in one attempt; Lambda makes three.
    const statuses: unknown[] = [];
    while (statuses.length < 3 && !statuses.includes('complete'))
      statuses.push((await collector.attempt()).summary?.status);
    expect(statuses).toContain('complete');
    const objects = await collector.objects();
    for (const cluster of clusters)
      for (const resource of resources) {
        const key = objectKey({ cluster, resource, run: testRun });
        expect(objects.get(key)?.toString()).toBe(bodyOf(cluster, resource));
      }
  });
});
