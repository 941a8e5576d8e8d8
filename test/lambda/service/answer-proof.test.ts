import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { Resource } from '../../../lambda/resources';
import { ClusterApi } from '../../../lambda/service/cluster-api';
import { Connection } from '../../../lambda/service/connection';
import { parseContractPath } from '../../../local/demo-service/contract-path';
import { logRecord } from '../../support/fault-service-bodies';
import { type RawRequest, type RawService, startRawService, wire } from '../../support/raw-service';
import { testCertificates } from '../../support/tls';

/** Which answer belongs to which request, over sockets that say what no HTTP server would. */

const never = new AbortController().signal;

let service: RawService;
let api: ClusterApi;
let warnings: string[];

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
  readonly connections?: number;
  readonly onConnection?: (socket: Socket) => void;
}

async function start(
  answer: Answering,
  { tls = false, connections = 1, onConnection }: StartOptions = {},
): Promise<void> {
  warnings = [];
  const certificates = tls ? await testCertificates() : undefined;
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
    service: { baseUrl: service.url, collection: 'c', ...(certificates && { caCertificate: certificates.ca }) },
    connections,
    receiver: { spoolDirectory: 'none', maxBytes: 2 ** 30 },
    timeLimits: { connectMs: 20_000, responseMs: 20_000, idleMs: 20_000 },
    userAgent: 'test',
    onWarning: (warning) => warnings.push(warning),
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

const unproven = /^GET assets\/manifest of cluster a failed: .*: it may be cut short, or another request's$/;

describe.each([
  ['http', false],
  ['https', true],
])('over %s', (_name, tls) => {
  it.each<[string, (right: string) => string]>([
    ['a length that counts characters', () => wire('é'.repeat(9)).replace('Content-Length: 18', 'Content-Length: 9')],
    [
      'a length without the last line feed',
      (right) => wire(right).replace(/Length: \d+/, `Length: ${right.length - 1}`),
    ],
    ['a line feed behind the body', (right) => `${wire(right)}\n`],
    ['a line feed behind a body whose connection is to be closed', (right) => `${wire(right, 'Connection: close')}\n`],
    ['a second answer', (right) => wire(right) + wire('kind: Other\n')],
    ['a second answer behind a chunked one', (right) => chunked(right) + wire('kind: Other\n')],
    ['a second answer, chunked as the first', (right) => chunked(right) + chunked('kind: Other\n')],
    ['garbage behind a chunked body', (right) => `${chunked(right)}garbage`],
    [
      'garbage behind a chunked body whose connection is to be closed',
      (right) => `${chunked(right, 'Connection: close')}x`,
    ],
    ['interim answers and a second answer', (right) => `HTTP/1.1 103 Early Hints\r\n\r\n${wire(right)}${wire(right)}`],
  ])('%s in the same packet discredits the answer', async (_fault, bytes) => {
    await start(({ socket }, right) => socket.write(bytes(right)), { tls });
    expect(await get('a')).toMatch(unproven);
    expect(warnings).toEqual([
      expect.stringMatching(/^On a connection to the service, .*\(after GET assets\/manifest/),
    ]);
  });

  it.each<[string, (right: string) => string, (send: () => void) => void]>([
    ['in the next packet', wire, setImmediate],
    ['in the next packet, whose connection is to be closed', (right) => wire(right, 'Connection: close'), setImmediate],
    ['in the next packet, behind a chunked body', chunked, setImmediate],
    ['a moment later', wire, (send) => setTimeout(send, 2)],
  ])('bytes %s discredit the answer', async (_when, bytes, soon) => {
    await start(
      ({ socket }, right) => {
        socket.write(bytes(right));
        soon(() => socket.write('rest'));
      },
      { tls },
    );
    expect(await get('a')).toMatch(unproven);
  });

  it.each<[string, (send: () => void) => void]>([
    ['at once', (send) => send()],
    ['a little later', setImmediate],
    ['a moment later', (send) => setTimeout(send, 2)],
  ])('no cluster gets the answer for another where each comes twice, the second time %s', async (_when, soon) => {
    await start(
      ({ socket }, right) => {
        socket.write(wire(right));
        soon(() => socket.write(wire(right)));
      },
      { tls },
    );
    for (const cluster of clusters)
      for (const resource of ['log', 'manifest', 'manifest', 'log'] as const) {
        const content = await get(cluster, resource);
        if (content !== rightBody(cluster, resource)) expect(content).toMatch(/^GET .* failed: /);
      }
    expect(warnings).not.toEqual([]);
  });
});

describe('an answer', () => {
  it('that is there before its request is none', async () => {
    await start(() => undefined, { onConnection: (socket) => socket.write(wire('kind: Early\n')) });
    expect(await get('a')).toBe('GET assets/manifest of cluster a failed: bytes came while nothing was asked for');
  });

  it('that a used connection brings for two clusters is asked for again, and archived if it stays the same', async () => {
    await start(({ socket, resource }, right) => socket.write(wire(resource === 'log' ? right : 'kind: Same\n')));
    for (const cluster of clusters) {
      expect(await get(cluster, 'log')).toBe(rightBody(cluster, 'log'));
      if (cluster === 'cluster-1') expect(await get(cluster)).toContain('has the same bytes as the one to');
      expect(await get(cluster)).toBe('kind: Same\n');
    }
    // The second cluster asks again on a new connection; the others need not.
    expect(service.connections).toBe(2);
    expect(warnings).toEqual([
      'The answers to GET assets/manifest of cluster cluster-0 and GET assets/manifest of cluster cluster-1, on two connections, have the same bytes; if a connection repeats one of them, nobody can tell',
    ]);
  });

  it('that a used connection brings for another request is asked for again before it is refused', async () => {
    let shifted = false;
    await start(({ socket, cluster, before = '' }, right) => {
      if (cluster === 'b' && !shifted) {
        shifted = true;
        socket.write(wire(before));
      } else socket.write(wire(right));
    });
    expect(await get('a', 'log')).toBe(rightBody('a', 'log'));
    expect(await get('b', 'log')).toMatch(
      /^GET features\/logFetcher of cluster b failed: 200 OK, but the log record belongs to another cluster.*; on a used connection it may be another request's answer$/,
    );
    expect(await get('b', 'log')).toBe(rightBody('b', 'log'));
    expect(service.connections).toBe(2);
  });

  it('that is refused on a new connection is not asked for again', async () => {
    await start(({ socket }) => socket.write(wire('no record')));
    expect(await get('a', 'log')).toMatch(/^GET features\/logFetcher of cluster a answered 200 OK, but the log record/);
  });
});

describe('a manifest', () => {
  it('shares a connection with logs, and with another manifest only after a log', async () => {
    await start(({ socket }, right) => socket.write(wire(right)), { connections: 2 });
    for (const cluster of clusters) for (const resource of ['log', 'manifest'] as const) await get(cluster, resource);
    expect(service.connections).toBe(1);
    await get('a');
    await get('b');
    expect(service.connections).toBe(3);
  });

  it('gets a new connection each once a connection has brought what nobody asked for', async () => {
    await start(({ socket, nth }, right) => socket.write(wire(right) + (nth === 1 ? 'garbage' : '')));
    await get('a', 'log');
    await get('a', 'log');
    const before = service.connections;
    for (const cluster of clusters) {
      await get(cluster, 'log');
      await get(cluster, 'manifest');
    }
    expect(service.connections - before).toBe(clusters.length);
    expect(warnings).toEqual([expect.stringContaining('from now on each manifest is asked for on a new connection')]);
  });
});

describe('a connection', () => {
  let idle: Socket[];
  const startIdle = () => {
    idle = [];
    return start(({ socket }, right) => {
      idle.push(socket);
      socket.write(wire(right));
    });
  };

  it('that has proven itself is left to manifests', async () => {
    let answerLog: () => void = () => undefined;
    await start(
      ({ socket, cluster }, right) => {
        if (cluster === 'a') answerLog = () => socket.write(wire(right));
        else socket.write(wire(right));
      },
      { connections: 2 },
    );
    // Two connections: the one used last has brought a log, the other one a manifest.
    const log = get('a', 'log');
    await get('b');
    answerLog();
    await log;
    await Promise.all([get('c', 'log'), get('d')]);
    expect(service.connections).toBe(2);
  });

  it('with bytes that arrived just before a request is not used for it', async () => {
    await startIdle();
    await get('a', 'log');
    idle[0]?.write(wire(rightBody('a', 'log')));
    expect(await get('b', 'log')).toBe(rightBody('b', 'log'));
    expect(service.connections).toBe(2);
  });

  it('that has ended takes no request', async () => {
    await start(() => undefined, { onConnection: (socket) => socket.end() });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const connection = new Connection(socket, () => undefined);
    await once(socket, 'close');
    await expect(connection.ask('/', {})).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('that is closed with 408 while nothing is asked for is discredited by nothing', async () => {
    await startIdle();
    await get('a', 'log');
    const closed = once(idle[0] as Socket, 'close');
    idle[0]?.end('HTTP/1.1 408 Request Time-out\r\nConnection: close\r\n\r\n');
    await closed;
    expect(await get('b', 'log')).toBe(rightBody('b', 'log'));
    expect(warnings).toEqual([]);
  });

  it('that brings anything else while nothing is asked for is given up, with a warning', async () => {
    await startIdle();
    await get('a');
    const closed = once(idle[0] as Socket, 'close');
    idle[0]?.write(wire('kind: Late\n'));
    await closed;
    expect(await get('b')).toBe(rightBody('b', 'manifest'));
    expect(warnings).toEqual([
      'On a connection to the service, bytes came while nothing was asked for (after GET assets/manifest of cluster a); from now on each manifest is asked for on a new connection',
    ]);
  });
});
