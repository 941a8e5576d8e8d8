import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

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

/** A server below HTTP, for answers that no HTTP server would give. */
export async function startRawService(
  answer: (request: RawRequest) => void,
  onConnection: (socket: Socket) => void = () => undefined,
): Promise<RawService> {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined); // a client that resets its connection
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
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
