import { Agent, get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import {
  type Answer,
  type FaultService,
  type FaultServiceOptions,
  type Script,
  startFaultService,
} from './fault-service';
import * as answers from './fault-service-answers';
import { gzipBomb, hugeLogRecord, logRecord } from './fault-service-bodies';
import { type RawRequestOptions, requestRaw } from './fault-service-raw-client';
import { refusedAddress } from './fault-service-refusal';
import { type TestCertificates, testCertificates } from './tls';

let certificates: TestCertificates;

beforeAll(async () => {
  certificates = await testCertificates();
});
const body = logRecord({ uid: 'c1' });
const half = body.slice(0, Math.floor(Buffer.byteLength(body) / 2));
const running: FaultService[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

async function start(script: Script, options?: FaultServiceOptions): Promise<FaultService> {
  const service = await startFaultService(script, options);
  running.push(service);
  return service;
}

function fetchWith(agent: Agent, url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (message) => {
      message.resume();
      message.once('end', () => resolve(message));
    }).once('error', reject);
  });
}

describe.each<[string, () => FaultServiceOptions, () => string | undefined]>([
  ['http', () => ({}), () => undefined],
  ['https', () => ({ tls: certificates.server }), () => certificates.ca],
])('over %s', (_, options, ca) => {
  const exchange = async (answer: Answer, request: RawRequestOptions = {}) => {
    const service = await start(() => answer, options());
    return requestRaw(service.url, { ca: ca(), ...request });
  };
  const close = { headers: { Connection: 'close' } };

  it('a proper answer arrives whole, with its length', async () => {
    const { received, ended } = await exchange(answers.ok(body), close);
    expect(ended).toBe('closed');
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).toContain(`Content-Length: ${Buffer.byteLength(body)}\r\n`);
    expect(Buffer.from(received.split('\r\n\r\n')[1] ?? '', 'latin1').toString()).toBe(body);
  });

  it('a reset before the headers is a reset without a byte', async () => {
    expect(await exchange(answers.resetBeforeHeaders())).toEqual({ received: '', ended: 'ECONNRESET' });
  });

  it('a close before the headers is an orderly end without a byte', async () => {
    expect(await exchange(answers.closedBeforeHeaders())).toEqual({ received: '', ended: 'closed' });
  });

  it('a reset in the middle of the body follows half of it', async () => {
    const { received, ended } = await exchange(answers.resetMidBody(body));
    expect(ended).toBe('ECONNRESET');
    expect(received.split('\r\n\r\n')[1]).toBe(half);
  });

  it('a truncated body ends in good order before its announced length', async () => {
    const { received, ended } = await exchange(answers.truncatedLength(body));
    expect(ended).toBe('closed');
    expect(received).toContain(`Content-Length: ${Buffer.byteLength(body)}\r\n`);
    expect(received.split('\r\n\r\n')[1]).toBe(half);
  });

  it('a truncated chunked body ends in good order without its last chunk', async () => {
    const { received, ended } = await exchange(answers.truncatedChunked(body));
    expect(ended).toBe('closed');
    expect(received).toContain('Transfer-Encoding: chunked\r\n');
    expect(received.endsWith(`\r\n\r\n${Buffer.byteLength(half).toString(16)}\r\n${half}\r\n`)).toBe(true);
  });

  it('headers trickle for as long as the client stays, and never end', async () => {
    const service = await start(() => answers.slowHeaders(), options());
    const { received } = await requestRaw(service.url, { ca: ca(), leaveWhen: (seen) => seen.endsWith('aaaaa') });
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Slow: a{5,}$/);
    await service.requests[0]?.gone;
  });

  it('a stalled body sends its headers and half of itself, and then waits for the client to leave', async () => {
    const service = await start(() => answers.stalledBody(body), options());
    const { received } = await requestRaw(service.url, { ca: ca(), leaveWhen: (seen) => seen.endsWith(half) });
    expect(received).toContain(`Content-Length: ${Buffer.byteLength(body)}\r\n`);
    await service.requests[0]?.gone;
  });

  it('silence sends nothing, and the connection stays open until the client leaves', async () => {
    const service = await start(() => answers.silence(), options());
    const answer = await requestRaw(service.url, { ca: ca(), leaveOn: service.whenRequests(1) });
    expect(answer).toEqual({ received: '', ended: 'left' });
    await service.requests[0]?.gone;
  });

  it('a body made piece by piece is not made further than it is read', async () => {
    const total = 2 ** 30;
    let made = 0;
    const counted = function* () {
      for (const piece of hugeLogRecord({ uid: 'c1', bytes: total })) {
        made += piece.length;
        yield piece;
      }
    };
    const service = await start(() => answers.ok(counted(), { 'Content-Length': total }), options());
    const { received } = await requestRaw(service.url, { ca: ca(), leaveWhen: (seen) => seen.length > 2 ** 20 });
    await service.requests[0]?.gone;
    expect(received).toContain(`Content-Length: ${total}\r\n`);
    expect(made).toBeGreaterThan(2 ** 20);
    expect(made).toBeLessThan(total / 8);
  });
});

it('a refused address refuses, again and again, until it is released', async () => {
  const address = await refusedAddress();
  try {
    expect(await requestRaw(address.url)).toEqual({ received: '', ended: 'ECONNREFUSED' });
    expect(await requestRaw(address.url)).toEqual({ received: '', ended: 'ECONNREFUSED' });
  } finally {
    await address.release();
  }
});

it('a test can drive a trickling body step by step', async () => {
  let release: () => void = () => undefined;
  const pace = () =>
    new Promise<void>((resolve) => {
      release = resolve;
    });
  const service = await start(() => answers.tricklingBody('abc', { pace }));
  const bodies: string[] = [];
  const { received, ended } = await requestRaw(service.url, {
    headers: { Connection: 'close' },
    leaveWhen: (seen) => {
      bodies.push(seen.split('\r\n\r\n')[1] ?? '');
      release();
      return false;
    },
  });
  expect(bodies).toEqual(['', 'a', 'ab', 'abc']);
  expect(received).toContain('Content-Length: 3\r\n');
  expect(ended).toBe('closed');
});

it.each([
  ['gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
] as const)('an answer encoded with %s says so and decodes to the body', async (encoding, decode) => {
  const service = await start(() => answers.encoded(encoding, body));
  const { received } = await requestRaw(service.url, { headers: { Connection: 'close' } });
  const [head = '', ...rest] = received.split('\r\n\r\n');
  expect(head).toContain(`Content-Encoding: ${encoding}`);
  expect(decode(Buffer.from(rest.join('\r\n\r\n'), 'latin1')).toString()).toBe(body);
});

it('a wrongly encoded answer carries the plain body under an encoding that is not its own', async () => {
  const service = await start((_, nth) => answers.wronglyEncoded(body, nth === 1 ? undefined : 'gzip'));
  const close = { headers: { Connection: 'close' } };
  const first = await requestRaw(service.url, close);
  expect(first.received).toContain('Content-Encoding: x-unheard-of\r\n');
  expect(Buffer.from(first.received, 'latin1').toString()).toContain(body);
  expect((await requestRaw(service.url, close)).received).toContain('Content-Encoding: gzip\r\n');
});

it('a gzip bomb is a thousandth of what it becomes, and becomes a record of exactly that size', async () => {
  const bytes = 5_000_003;
  const service = await start(() => answers.ok(gzipBomb({ uid: 'c1', bytes }), { 'Content-Encoding': 'gzip' }));
  const answer = await new Promise<IncomingMessage>((resolve) => get(service.url, resolve));
  const packed = await buffer(answer);
  expect(packed.length).toBeLessThan(bytes / 500);
  const record = gunzipSync(packed);
  expect(record.length).toBe(bytes);
  expect(JSON.parse(record.toString())).toMatchObject({ spec: { clusterUid: 'c1' } });
});

it.each([
  ['204 without a body', answers.noContent(), /^HTTP\/1\.1 204 No Content\r\n(?!.*Content-Length)/s],
  ['301', answers.redirect(301, 'https://b.example/x'), /^HTTP\/1\.1 301 .*Location: https:\/\/b\.example\/x\r\n/s],
  ['307', answers.redirect(307, 'https://b.example/x'), /^HTTP\/1\.1 307 .*Location: https:\/\/b\.example\/x\r\n/s],
  ['400', answers.status(400), /^HTTP\/1\.1 400 .*"code":"E400"/s],
  ['429 without Retry-After', answers.throttled(), /^HTTP\/1\.1 429 (?!.*Retry-After)/s],
  ['429 with Retry-After', answers.throttled('soon, maybe'), /^HTTP\/1\.1 429 .*Retry-After: soon, maybe\r\n/s],
  ['503 with Retry-After', answers.throttled('7', 503), /^HTTP\/1\.1 503 .*Retry-After: 7\r\n/s],
])('%s is on the wire as it is called', async (_, answer, expected) => {
  const service = await start(() => answer);
  expect((await requestRaw(service.url, { headers: { Connection: 'close' } })).received).toMatch(expected);
});

it('requests are recorded in order, with what they ask for, their number, headers and connection', async () => {
  const service = await start(() => answers.ok(body));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const other = new Agent();
  const log = `${service.url}/v1/platformclusters/a%2Fb/features/logFetcher`;
  await fetchWith(agent, `${log}?requestId=r1`, { ApiKey: 'k' });
  await fetchWith(agent, log);
  await fetchWith(other, `${service.url}/v1/platformclusters/c/assets/manifest`);
  agent.destroy();
  other.destroy();
  expect(service.requests).toMatchObject([
    { index: 0, nth: 1, uid: 'a/b', resource: 'log', requestId: 'r1', connection: 0, headers: { apikey: 'k' } },
    { index: 1, nth: 2, uid: 'a/b', resource: 'log', connection: 0 },
    { index: 2, nth: 1, uid: 'c', resource: 'manifest', connection: 1 },
  ]);
  expect(service.connections).toBe(2);
  const times = service.requests.map(({ at }) => at);
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

it('a redirect reaches the other service only if the client follows it, and then the key is seen there', async () => {
  const other = await start(() => answers.ok('{}'));
  const service = await start(() => answers.redirect(307, `${other.url}/elsewhere`));
  await requestRaw(service.url, { headers: { Connection: 'close', ApiKey: 'k' } });
  expect(other.connections).toBe(0);
  await fetch(service.url, { headers: { ApiKey: 'k' } });
  expect(other.requests).toMatchObject([{ path: '/elsewhere', headers: { apikey: 'k' } }]);
});

it('a connection without a request is counted', async () => {
  const service = await start(() => answers.ok(''), { tls: certificates.server });
  await requestRaw(service.url, { ca: certificates.otherCa });
  expect(service.connections).toBe(1);
  expect(service.requests).toEqual([]);
});

it('a script that throws makes close fail, so that no test passes by accident', async () => {
  const service = await startFaultService(() => {
    throw new Error('not thought of');
  });
  expect(await requestRaw(service.url)).toEqual({ received: '', ended: 'closed' });
  await expect(service.close()).rejects.toThrow('not thought of');
});
