import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What a client without any HTTP of its own saw. */
export interface RawAnswer {
  /** Every byte, as Latin-1. */
  readonly received: string;
  /** How it ended: closed in good order, a system error's code, or left by this client. */
  readonly ended: 'closed' | 'left' | string;
}

export interface RawRequestOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For https: the authority to trust (PEM). */
  readonly ca?: string | undefined;
  /** Shown everything so far at each arrival; true makes the client leave. */
  readonly leaveWhen?: (received: string) => boolean;
  /** Makes the client leave when it resolves. */
  readonly leaveOn?: Promise<unknown>;
}

/** Sends one GET over a bare socket and reads until the connection ends. */
export function requestRaw(url: string, options: RawRequestOptions = {}): Promise<RawAnswer> {
  const { hostname, port, protocol } = new URL(url);
  const socket: Socket =
    protocol === 'https:'
      ? connectTls({ host: hostname, port: Number(port), ...(options.ca !== undefined && { ca: options.ca }) })
      : connectPlain(Number(port), hostname);
  const headers = Object.entries({ Host: `${hostname}:${port}`, ...options.headers }).map(([k, v]) => `${k}: ${v}\r\n`);
  socket.write(
    `GET ${options.path ?? '/v1/platformclusters/c1/features/logFetcher'} HTTP/1.1\r\n${headers.join('')}\r\n`,
  );

  return new Promise((resolve) => {
    let received = '';
    let ended = 'closed';
    const leave = () => {
      ended = 'left';
      socket.destroy();
    };
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
      if (options.leaveWhen?.(received)) leave();
    });
    void options.leaveOn?.then(leave);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      ended = error.code ?? String(error);
    });
    socket.on('close', () => resolve({ received, ended }));
  });
}
