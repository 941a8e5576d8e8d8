import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startFaultService } from './fault-service';
import { everyPair, randomFaults } from './fault-service-random';

const uids = Array.from({ length: 500 }, (_, index) => `cluster-${index}`);

/** What a plain client gets: the body of a complete 200, otherwise nothing. */
async function read(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    get(url, { agent: false }, (message) =>
      buffer(message).then(
        (body) => resolve(message.statusCode === 200 ? body.toString() : undefined),
        () => resolve(undefined),
      ),
    ).once('error', () => resolve(undefined));
  });
}

it('the plan depends on the seed and on nothing else', () => {
  const plans = (seed: string) =>
    everyPair(uids).map(({ uid, resource }) => randomFaults({ seed, rate: 0.2 }).plan(uid, resource));
  expect(plans('one')).toEqual(plans('one'));
  expect(plans('one')).not.toEqual(plans('two'));
});

it('the rate is the share of what has a fault', () => {
  for (const rate of [0, 0.2, 1]) {
    const faults = randomFaults({ seed: 'share', rate });
    const spoiled = everyPair(uids).filter(({ uid, resource }) => faults.plan(uid, resource).kind !== 'none').length;
    expect(Math.abs(spoiled / 1000 - rate)).toBeLessThan(0.04);
  }
});

it('what is computed to be archivable is exactly what a client gets over the wire', async () => {
  const faults = randomFaults({ seed: 'wire', rate: 0.6 });
  const service = await startFaultService(faults.script);
  const kinds = new Set<string>();
  for (const { uid, resource } of everyPair(uids.slice(0, 60))) {
    kinds.add(faults.plan(uid, resource).kind);
    const path = resource === 'log' ? 'features/logFetcher' : 'assets/manifest';
    let got = false;
    for (let requests = 1; requests <= 3; requests++) {
      got ||= (await read(`${service.url}/v1/platformclusters/${uid}/${path}`)) === faults.content(uid, resource);
      expect({ uid, resource, requests, got }).toEqual({
        uid,
        resource,
        requests,
        got: faults.archivable(uid, resource, requests),
      });
    }
  }
  await service.close();
  expect([...kinds].sort()).toEqual(['none', 'permanent', 'transient']);
});
