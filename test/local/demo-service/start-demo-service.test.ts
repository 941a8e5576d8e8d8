import { demoManifest } from '../../../local/demo-service/demo-content';
import { type FaultName, faultNames } from '../../../local/demo-service/demo-faults';
import {
  type DemoServiceOptions,
  manifestFormOf,
  startDemoService,
} from '../../../local/demo-service/start-demo-service';
import type { ListeningServer } from '../../../local/listen-locally';

const apiKey = 'only-this-key-opens';
const log = '/v1/platformclusters/c1/features/logFetcher';
const manifest = '/v1/platformclusters/c1/assets/manifest';
const running: ListeningServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

async function start(options: Partial<DemoServiceOptions> = {}): Promise<ListeningServer> {
  const service = await startDemoService({ apiKey, ...options });
  running.push(service);
  return service;
}

function ask(service: ListeningServer, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(service.url + path, { method, headers: { ApiKey: apiKey, Accept: 'application/json', ...headers } });
}

describe('the contract', () => {
  it.each([
    ['text', 'text/plain; charset=utf-8'],
    ['yaml', 'application/yaml'],
    ['json', 'application/json'],
  ] as const)('the manifests of some clusters are sent as %s', async (form, contentType) => {
    const uid = Array.from({ length: 99 }, (_, nth) => `c${nth}`).find((name) => manifestFormOf(name) === form) ?? '';
    const times = [new Date()];
    const answer = await ask(await start(), manifest.replace('c1', uid));
    times.push(new Date());
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(contentType);
    const sent = await (form === 'json' ? answer.json() : answer.text());
    expect(times.map((at) => demoManifest(uid, at))).toContain(sent);
  });
});

describe("the demo's own choices where the contract shows nothing", () => {
  it('a request without the key is 401, and the key can be rotated while it runs', async () => {
    let key = 'old';
    const service = await start({ apiKey: () => key });
    expect((await fetch(service.url + log)).status).toBe(401);
    expect((await ask(service, log, { ApiKey: 'old' })).status).toBe(200);
    key = 'new';
    expect((await ask(service, log, { ApiKey: 'old' })).status).toBe(401);
    expect((await ask(service, log, { ApiKey: 'new' })).status).toBe(200);
  });
});

describe('failures on purpose', () => {
  const expected: Record<FaultName, unknown> = {
    forbidden: 403,
    'not-found': 404,
    'server-error': 500,
    'throttled-once': 429,
    'html-page': expect.stringMatching(/^<!doctype html>/),
    'latin-1': expect.stringMatching(/^name: gr/),
    'other-cluster': expect.stringContaining('"clusterUid":"not-c1"'),
    'cut-short': 'cut',
  };

  it.each(faultNames)('%s fails as it is called, for its cluster alone', async (name) => {
    const service = await start({ failing: { c1: name } });
    const answer = await ask(service, name === 'latin-1' ? manifest : log);
    const seen = answer.status === 200 ? await answer.text().catch(() => 'cut') : answer.status;
    expect(seen).toEqual(expected[name]);
    expect((await ask(service, log.replace('c1', 'c2'))).status).toBe(200);
  });

  it('throttled-once is over with the second request, for each resource', async () => {
    const service = await start({ failing: { c1: 'throttled-once' } });
    const statuses = [];
    for (const path of [log, log, manifest, manifest]) statuses.push((await ask(service, path)).status);
    expect(statuses).toEqual([429, 200, 429, 200]);
  });
});
