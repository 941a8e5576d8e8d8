import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** One request as it came over the wire. */
export interface RawRequest {
  readonly socket: Socket;
  /** Place among all requests, from 1. */
  readonly nth: number;
  /** Its whole head. */
  readonly head: string;
}

export interface RawService {
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * A server below HTTP, for answers that no HTTP server would give.
 * @param tls PEM texts; makes it https
 */
export async function startRawService(
  answer: (request: RawRequest) => void,
  onConnection: (socket: Socket) => void = () => undefined,
  tls?: { readonly key: string; readonly cert: string },
): Promise<RawService> {
  const sockets: Socket[] = [];
  let requests = 0;
  const serveSocket = (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined); // a client that resets its connection
    socket.setNoDelay(true); // as HTTP servers do: small packets go out at once
    onConnection(socket);
    let received = '';
    socket.on('data', (data) => {
      const [end = '', ...heads] = (received + data.toString('latin1')).split('\r\n\r\n').reverse();
      received = end;
      for (const head of heads.reverse()) {
        requests += 1;
        answer({ socket, nth: requests, head });
      }
    });
  };
  const server = tls === undefined ? createTcpServer(serveSocket) : createTlsServer(tls, serveSocket);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return sockets.length;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A good answer with its length, as it goes over the wire. */
export function wire(body: string, ...headers: string[]): string {
  return ['HTTP/1.1 200 OK', `Content-Length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');
}
