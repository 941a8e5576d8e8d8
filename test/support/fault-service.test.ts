import { type FaultService, type Script, startFaultService } from './fault-service';
import * as answers from './fault-service-answers';

/** What would let other tests pass by accident. `fault-matrix.test.ts` shows each fault as a client meets it. */

const running: FaultService[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

async function start(script: Script): Promise<FaultService> {
  const service = await startFaultService(script);
  running.push(service);
  return service;
}

it('a redirect reaches the other service if the client follows it, and then the key is seen there', async () => {
  const other = await start(() => answers.ok('{}'));
  const service = await start(() => answers.status(307, { Location: `${other.url}/elsewhere` }));
  await fetch(service.url, { headers: { ApiKey: 'k' } });
  expect(other.requests).toMatchObject([{ path: '/elsewhere', headers: { apikey: 'k' } }]);
});

it('requests are recorded in order, with what they ask for, their number and their headers', async () => {
  const service = await start(() => answers.ok('{}'));
  const log = `${service.url}/v1/platformclusters/a%2Fb/features/logFetcher`;
  await fetch(`${log}?requestId=r1`, { headers: { ApiKey: 'k' } });
  await fetch(log);
  await fetch(`${service.url}/v1/platformclusters/c/assets/manifest`);
  expect(service.requests).toMatchObject([
    { index: 0, nth: 1, uid: 'a/b', resource: 'log', requestId: 'r1', headers: { apikey: 'k' } },
    { index: 1, nth: 2, uid: 'a/b', resource: 'log' },
    { index: 2, nth: 1, uid: 'c', resource: 'manifest' },
  ]);
});

it('a script that throws makes close fail', async () => {
  const service = await startFaultService(() => {
    throw new Error('not thought of');
  });
  await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  await expect(service.close()).rejects.toThrow('not thought of');
});
