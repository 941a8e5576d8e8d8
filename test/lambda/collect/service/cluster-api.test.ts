import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ManifestContent } from '../../../../lambda/collect/body/manifest-content';
import { ClusterApi } from '../../../../lambda/collect/service/cluster-api';
import type { RequestTimeLimits } from '../../../../lambda/collect/service/request-watch';
import type { ResourceRequest } from '../../../../lambda/collect/service/resource-request';
import { startFaultService } from '../../../support/fault-service';
import { ok } from '../../../support/fault-service-answers';
import { newFolder } from '../../../support/new-folder';
import { type RawRequest, startRawService, wire } from '../../../support/raw-service';
import { testCertificates } from '../../../support/tls';

/** What HTTP allows, and what breaks it, below what an HTTP server would send. */

const key = 'key-"1f\\7c3a';
const never = new AbortController().signal;
const manifestOf = (cluster: string): ResourceRequest => ({ cluster, resource: 'manifest' });
const logOfA: ResourceRequest = { cluster: 'a', resource: 'log' };
const record = JSON.stringify({ spec: { clusterUid: 'a' } });

const directory = newFolder();
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface ApiOptions {
  readonly limits?: Partial<RequestTimeLimits>;
  readonly ca?: string;
}

function apiFor(baseUrl: string, { limits = {}, ca }: ApiOptions = {}): ClusterApi {
  const receiver = { spoolDirectory: directory, maxBytes: 2 ** 30 };
  const service = { baseUrl, collection: 'c', ...(ca === undefined ? {} : { caCertificate: ca }) };
  const timeLimits = { connectMs: 20_000, responseMs: 20_000, idleMs: 20_000, ...limits };
  const api = new ClusterApi({ service, receiver, timeLimits, userAgent: 'test' });
  closing.push(() => api.close());
  return api;
}

async function rawApi(
  answer: (request: RawRequest) => void,
  options?: ApiOptions,
  onConnection?: (socket: Socket) => void,
) {
  const service = await startRawService(answer, onConnection);
  closing.push(() => service.close());
  return { service, api: apiFor(service.url, options) };
}

/** The length of what came, or the error's message. */
async function get(api: ClusterApi, request = manifestOf('a'), signal = never): Promise<number | string> {
  try {
    const { body } = await api.get(request, key, signal);
    await body.release();
    return body.length;
  } catch (error) {
    return (error as Error).message;
  }
}

const perhapsTls = '; if this is a port of TLS, service.baseUrl has to begin with https';
const failed = (reason: string) => `GET assets/manifest of cluster a failed: ${reason}`;

it.each<[string, string, number | string]>([
  ['100 and 103 before the answer', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${wire('text')}`, 4],
  [
    'trailers after a chunked body',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n4\r\ntext\r\n0\r\nX: y\r\n\r\n',
    4,
  ],
  ['HTTP/1.0 with a length', 'HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ntext', 4],
  [
    '101 to a protocol nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    failed('101 Switching Protocols'),
  ],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\ntext',
    failed('the answer is not valid HTTP (HPE_UNEXPECTED_CONTENT_LENGTH)'),
  ],
  [
    'a length beside chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n',
    failed('the answer is not valid HTTP (HPE_INVALID_TRANSFER_ENCODING)'),
  ],
  [
    'another protocol',
    'SSH-2.0-OpenSSH_9.2\r\n',
    failed(`the answer is not valid HTTP (HPE_INVALID_CONSTANT)${perhapsTls}`),
  ],
  [
    'a chunk without a length',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\nZZ\r\n',
    failed('its body was cut short or damaged (ECONNRESET)'),
  ],
])('%s', async (_name, bytes, expected) => {
  const { api } = await rawApi(({ socket }) => socket.write(bytes));
  expect(await get(api)).toBe(expected);
});

describe('connections', () => {
  it('that the service closed between two requests are not used again', async () => {
    const closed: Promise<unknown>[] = [];
    const { api, service } = await rawApi(({ socket }) => {
      closed.push(once(socket, 'close'));
      socket.end(wire('text'));
    });
    for (let nth = 1; nth <= 3; nth += 1) {
      expect(await get(api)).toBe(4);
      // The client has closed its side too.
      await closed.at(-1);
    }
    expect(service.connections).toBe(3);
  });

  it.each<[string, (socket: Socket) => unknown]>([
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ])('that the service %s as soon as they are made end their requests at once', async (_how, end) => {
    const { api } = await rawApi(() => undefined, {}, end);
    expect(await get(api)).toBe(failed(`no answer (ECONNRESET)${perhapsTls}`));
  });

  it('handed from one request to the next under TLS do not count as being made for ever', async () => {
    const { server, ca } = testCertificates();
    const connectMs = 500;
    const service = await startFaultService(
      ({ index }) =>
        ({ response }) => {
          // The last answer comes when a time limit for connecting would have passed.
          if (index === 2) jest.advanceTimersByTime(connectMs + 200);
          response.end(record);
        },
      { tls: server },
    );
    closing.push(() => service.close());
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    closing.push(() => jest.useRealTimers());
    const api = apiFor(service.url, { ca, limits: { connectMs } });
    for (let index = 0; index <= 2; index += 1) expect(await get(api, logOfA)).toBe(record.length);
    // One of its own, and one that was used again.
    expect(service.connections).toBe(2);
  });
});

describe('a request that is cancelled', () => {
  it('stops unpacking a body that has arrived whole', async () => {
    const cancelled = new AbortController();
    const packed = gzipSync(Buffer.alloc(64 * 2 ** 20), { level: 1 });
    const service = await startFaultService(() => ok(packed, { 'Content-Encoding': 'gzip' }));
    closing.push(() => service.close());
    let checked = 0;
    const checking = jest.spyOn(ManifestContent.prototype, 'write').mockImplementation((content) => {
      checked += content.length;
      cancelled.abort(new Error('time ran out'));
      return content;
    });
    closing.push(() => checking.mockRestore());
    expect(await get(apiFor(service.url), manifestOf('a'), cancelled.signal)).toBe('time ran out');
    expect(checked).toBeLessThan(2 ** 20);
    expect(await readdir(directory)).toEqual([]);
  });
});

it('a body that takes longer to check than to arrive is not late', async () => {
  const service = await startFaultService(() => ok(gzipSync(Buffer.alloc(2 ** 20)), { 'Content-Encoding': 'gzip' }));
  closing.push(() => service.close());
  const checking = jest.spyOn(ManifestContent.prototype, 'write').mockImplementation((content) => {
    const until = Date.now() + 5;
    while (Date.now() < until);
    return content;
  });
  closing.push(() => checking.mockRestore());
  const api = apiFor(service.url, { limits: { idleMs: 20 } });
  expect(await get(api)).toContain('the manifest is empty');
});

describe('the key, echoed by the service,', () => {
  it.each<[string, string]>([
    ['as a content coding', wire('text', `Content-Encoding: ${key}`)],
    ['as another cluster', wire(JSON.stringify({ spec: { clusterUid: key } }))],
    ['as part of another cluster', wire(JSON.stringify({ spec: { clusterUid: `${'x'.repeat(70)}${key}` } }))],
    ['as a member', wire(JSON.stringify({ [key]: 1 }))],
    ['as a transfer coding', `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${key}\r\n\r\n`],
  ])('%s is in no message', async (_name, bytes) => {
    const { api } = await rawApi(({ socket }) => socket.write(bytes));
    const message = await get(api, { cluster: 'a', resource: 'log' });
    expect(message).toContain('[the API key]');
    expect(message).not.toContain(key.slice(0, 8));
    expect(message).not.toContain(JSON.stringify(key).slice(1, 9));
  });

  it('as a state, a uid or a time is in no record, and in the body as it came', async () => {
    const facts = { metadata: { uid: encodeURIComponent(key), lastModifiedTimestamp: key }, status: { state: key } };
    const sent = JSON.stringify({ ...facts, spec: { clusterUid: 'a' } });
    const { api } = await rawApi(({ socket }) => socket.write(wire(sent)));
    const { body } = await api.get(logOfA, key, never);
    const hidden = '[the API key]';
    expect(body.facts).toEqual({ state: hidden, recordUid: hidden, lastModified: hidden });
    expect(gunzipSync(body.content as Buffer).toString()).toBe(sent);
  });

  it('as a media type is in no record', async () => {
    const { api } = await rawApi(({ socket }) => socket.write(wire('text', `Content-Type: text/${key}`)));
    const request = manifestOf('a');
    const { mediaType } = await api.get(request, key, never);
    expect(mediaType).toBe('text/[the API key]');
  });
});
