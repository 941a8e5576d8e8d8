import { randomBytes } from 'node:crypto';
import { promises } from 'node:dns';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import type { Resource } from '../../../../archive/format/resources';
import { ClusterApi } from '../../../../lambda/collect/service/cluster-api';
import { parseContractPath } from '../../../../local/demo-service/contract-path';
import { logRecord } from '../../../support/fault-service-bodies';
import { type RawRequest, type RawService, startRawService, wire } from '../../../support/raw-service';
import { testCertificates } from '../../../support/tls';

/** Which answer belongs to which request, over sockets that say what no HTTP server would. */

const never = new AbortController().signal;

let service: RawService;
let api: ClusterApi;

afterEach(async () => {
  api.close();
  await service.close();
});

/** One request, with what it asks for. */
interface Asked extends RawRequest {
  readonly cluster: string;
  readonly resource: Resource;
  /** The right answer to the request before it on the same connection. */
  readonly before: string | undefined;
}

type Answering = (asked: Asked, right: string) => void;

const manifestOf = (cluster: string) => `kind: Cluster\nname: ${cluster}\n`;
const rightBody = (cluster: string, resource: Resource) =>
  resource === 'log' ? logRecord({ uid: cluster }) : manifestOf(cluster);

interface StartOptions {
  readonly tls?: boolean;
  readonly host?: string;
  readonly onConnection?: (socket: Socket) => void;
}

async function start(
  answer: Answering,
  { tls = false, host = '127.0.0.1', onConnection }: StartOptions = {},
): Promise<void> {
  const certificates = tls ? testCertificates() : undefined;
  const last = new Map<Socket, string>();
  service = await startRawService(
    (request) => {
      const { uid = '', resource = 'log' } = parseContractPath(request.head.split(' ')[1] ?? '', 'c') ?? {};
      const before = last.get(request.socket);
      const right = rightBody(uid, resource);
      last.set(request.socket, right);
      answer({ ...request, cluster: uid, resource, before }, right);
    },
    onConnection,
    certificates?.server,
  );
  api = new ClusterApi({
    service: {
      baseUrl: service.url.replace('127.0.0.1', host),
      collection: 'c',
      ...(certificates && { caCertificate: certificates.ca }),
    },
    receiver: { spoolDirectory: 'none', maxBytes: 2 ** 30 },
    timeLimits: { connectMs: 20_000, responseMs: 20_000, idleMs: 20_000 },
    userAgent: 'test',
  });
}

/** The content that comes of one request, or the error's message. */
async function get(cluster: string, resource: Resource = 'manifest'): Promise<string> {
  return api.get({ cluster, resource }, 'the key', never).then(
    ({ body }) => gunzipSync(body.content as Buffer).toString(),
    (error: Error) => error.message,
  );
}

const clusters = Array.from({ length: 6 }, (_, index) => `cluster-${index}`);

const chunked = (body: string, ...headers: string[]) => {
  const head = ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', ...headers];
  return [...head, '', Buffer.byteLength(body).toString(16), body, '0', '', ''].join('\r\n');
};

const followed =
  'GET assets/manifest of cluster a failed: bytes followed the end of its answer; its Content-Length may be wrong';

describe.each([
  ['http', false],
  ['https', true],
])('over %s', (_name, tls) => {
  it.each<[string, (right: string) => string]>([
    ['a length that counts characters', () => wire('é'.repeat(9)).replace('Content-Length: 18', 'Content-Length: 9')],
    ['a letter behind a body whose connection is to be closed', (right) => `${wire(right, 'Connection: close')}x`],
    ['a second answer', (right) => wire(right) + wire('kind: Other\n')],
    ['a second answer behind a chunked one', (right) => chunked(right) + wire('kind: Other\n')],
    ['a second answer, chunked as the first', (right) => chunked(right) + chunked('kind: Other\n')],
    ['garbage behind a chunked body', (right) => `${chunked(right)}garbage`],
    [
      'garbage behind a chunked body whose connection is to be closed',
      (right) => `${chunked(right, 'Connection: close')}x`,
    ],
    ['interim answers and a second answer', (right) => `HTTP/1.1 103 Early Hints\r\n\r\n${wire(right)}${wire(right)}`],
  ])('%s in the same packet refuses the answer', async (_fault, bytes) => {
    await start(({ socket }, right) => socket.write(bytes(right)), { tls });
    expect(await get('a')).toBe(followed);
  });

  it.each<[string, (right: string) => string, (send: () => void) => void]>([
    ['in the next packet', wire, setImmediate],
    ['in the next packet, behind a chunked body', chunked, setImmediate],
    ['a moment later', wire, (send) => setTimeout(send, 2)],
  ])('bytes %s refuse the answer', async (_when, bytes, soon) => {
    await start(
      ({ socket }, right) => {
        socket.write(bytes(right));
        soon(() => socket.write('rest'));
      },
      { tls },
    );
    expect(await get('a')).toBe(followed);
  });
});

describe('trailers', () => {
  const withTrailer = (body: string, ...trailers: string[]) =>
    chunked(body).replace(/0\r\n\r\n$/, () => ['0', ...trailers, '', ''].join('\r\n'));
  const answering = (...trailers: string[]) =>
    start(({ socket }, right) => socket.write(withTrailer(right, ...trailers)));

  it.each([
    ['X-Stream-Error: backend reset', 'x-stream-error: backend reset'],
    ['Error: 1', 'error: 1'],
    ['X-Status: upstream timed out', 'x-status: upstream timed out'],
    ['X-Result: truncated', 'x-result: truncated'],
    ['X-Failed: the key', 'x-failed: [the API key]'],
  ])('that say "%s" refuse the answer', async (trailer, shown) => {
    await answering('X-Served-By: edge', trailer);
    expect(await get('a')).toBe(`GET assets/manifest of cluster a failed: the trailer behind its body says ${shown}`);
    expect(await get('a', 'log')).toContain(`the trailer behind its body says ${shown}`);
  });

  it.each([
    ['Error: 0'],
    ['X-Errors: none'],
    ['X-Checksum: aGVyerrorycg=='],
  ])('that say "%s" leave a doubt', async (trailer) => {
    await answering(trailer, 'X-The Key: 1'.replace(' ', '-'));
    const { body } = await api.get({ cluster: 'a', resource: 'manifest' }, 'the-key', never);
    const [name = ''] = trailer.toLowerCase().split(':');
    expect(body.facts.doubt).toBe(`it has trailers behind its body: ${name}, x-[the API key]`);
  });

  it('that are there in number are shown in part', async () => {
    await answering(...Array.from({ length: 50 }, (_, index) => `X-Number-${index}: 1`));
    const { body } = await api.get({ cluster: 'a', resource: 'log' }, 'the key', never);
    expect(body.facts.doubt).toMatch(/^it has trailers behind its body: x-number-0, .{150,200}…$/);
  });
});

describe('an answer over a used connection', () => {
  /** Makes the next log come over a used connection. */
  const warmUp = async () => {
    for (const cluster of ['x', 'y', 'z']) expect(await get(cluster, 'log')).toBe(rightBody(cluster, 'log'));
  };

  it.each<[string, (before: string) => string, string]>([
    ['of another cluster', (before) => before, 'the log record belongs to another cluster'],
    ['that does not name its cluster', () => '{"spec":{"log":"a line"}}', 'it does not name its cluster'],
    ['that is wrong', () => 'an error', 'the log record is not '],
  ])('a log %s does not count', async (_what, wrong, reason) => {
    let isWarm = false;
    await start(({ socket, before = '' }, right) => socket.write(wire(isWarm ? wrong(before) : right)));
    await warmUp();
    isWarm = true;
    const { connections } = service;
    const failure = await api.get({ cluster: 'b', resource: 'log' }, 'the key', never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ failure: 'used-connection', status: 200 });
    expect(String(failure)).toContain(`GET features/logFetcher of cluster b failed: 200 OK, but ${reason}`);
    expect(String(failure)).toMatch(/; on a used connection it may be the answer to another request$/);
    expect(service.connections).toBe(connections);
  });

  it('is asked for again on a connection of its own, and counts then', async () => {
    const wrong = '{"spec":{"log":"a line"}}';
    let isWarm = false;
    await start(({ socket }, right) => socket.write(wire(isWarm ? wrong : right)));
    await warmUp();
    isWarm = true;
    const { connections } = service;
    const { body } = await api.get({ cluster: 'b', resource: 'log', alone: true }, 'the key', never);
    expect(gunzipSync(body.content as Buffer).toString()).toBe(wrong);
    expect(service.connections).toBe(connections + 1);
  });
});

describe('a connection', () => {
  it("is each manifest's own, and shared by logs that name their cluster", async () => {
    await start(({ socket }, right) => socket.write(wire(right)));
    for (let nth = 0; nth < 40; nth += 1) expect(await get(`c${nth}`, 'log')).toBe(rightBody(`c${nth}`, 'log'));
    // The first log has shown that logs name their cluster.
    expect(service.connections).toBe(2);
    for (let nth = 0; nth < 40; nth += 1) expect(await get(`c${nth}`)).toBe(manifestOf(`c${nth}`));
    expect(service.connections).toBe(42);
  });

  it('that brings the next answer while the one before is still compressed brings both', async () => {
    const log = randomBytes(200_000).toString('hex');
    await start(({ socket, cluster }) => socket.write(wire(logRecord({ uid: cluster, log }))));
    const waiting = Array.from({ length: 60 }, (_, nth) => `c${nth}`).values();
    const work = async () => {
      for (const cluster of waiting) expect(await get(cluster, 'log')).toBe(logRecord({ uid: cluster, log }));
    };
    await Promise.all([work(), work(), work(), work()]);
    // At first four of their own, then four that are shared.
    expect(service.connections).toBeLessThanOrEqual(8);
  });

  it("is each log's own while logs do not name their cluster", async () => {
    const anonymous = '{"spec":{"log":"a line"}}';
    await start(({ socket }) => socket.write(wire(anonymous)));
    for (const cluster of clusters) expect(await get(cluster, 'log')).toBe(anonymous);
    expect(service.connections).toBe(clusters.length);
  });

  it('of its own is ended with its answer, although the service keeps it open', async () => {
    const closed: Promise<unknown>[] = [];
    await start(({ socket }, right) => socket.write(wire(right)), {
      onConnection: (socket) => closed.push(once(socket, 'close')),
    });
    await get('a');
    await closed[0];
    expect(closed).toHaveLength(1);
  });

  it('that waits for another request is ended at the end', async () => {
    const closed: Promise<unknown>[] = [];
    await start(({ socket }, right) => socket.write(wire(right)), {
      onConnection: (socket) => closed.push(once(socket, 'close')),
    });
    await get('a', 'log');
    await get('b', 'log');
    api.close();
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it('resumes the TLS session of the one before', async () => {
    const resumed: boolean[] = [];
    await start(
      ({ socket }, right) => {
        resumed.push((socket as TLSSocket).isSessionReused());
        socket.write(wire(right));
      },
      { tls: true },
    );
    for (const cluster of clusters) await get(cluster);
    expect(resumed).toEqual([false, ...Array(clusters.length - 1).fill(true)]);
  });

  it('looks the name of the service up once, and again after a connection has failed', async () => {
    const lookups = jest.spyOn(promises, 'lookup');
    let fails = false;
    await start(({ socket }, right) => (fails ? socket.resetAndDestroy() : socket.write(wire(right))), {
      host: 'localhost',
    });
    for (const cluster of clusters) expect(await get(cluster)).toBe(manifestOf(cluster));
    expect(lookups).toHaveBeenCalledTimes(1);
    fails = true;
    expect(await get('a')).toContain('no answer (ECONNRESET)');
    await get('b');
    expect(lookups).toHaveBeenCalledTimes(2);
    lookups.mockRestore();
  });
});
