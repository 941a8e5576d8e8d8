import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Resource } from '../../archive/format/resources';

import { parseContractPath } from '../../local/demo-service/contract-path';

/** One request as it arrived. */
export interface FaultRequest {
  /** Place among all requests of the service, from 0. */
  readonly index: number;
  /** Place among the requests of the same method and path (the query left out), from 1. */
  readonly nth: number;
  /** Path and query as received. */
  readonly path: string;
  /** As received, the key included. */
  readonly headers: IncomingHttpHeaders;
  /** What is asked for, if it is one of the two calls of the contract. */
  readonly uid: string | undefined;
  readonly resource: Resource | undefined;
  /** Resolves when its connection is closed, by whichever side. */
  readonly gone: Promise<void>;
}

/** What an answer works with. */
export interface Exchange {
  readonly request: FaultRequest;
  readonly response: ServerResponse;
  /** For bytes past the HTTP server; under https they are encrypted on the way. */
  readonly socket: Socket;
  /** Ends the connection with a TCP reset, under https too. */
  readonly reset: () => void;
}

/** Gives one answer; see fault-service-answers for a builder of every kind. */
export type Answer = (exchange: Exchange) => void | Promise<void>;

export type Script = (request: FaultRequest) => Answer;

export interface FaultService {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly FaultRequest[];
  /** Connections accepted so far, also those that never carried a request. */
  readonly connections: number;
  /** Resolves as soon as so many requests have arrived. */
  whenRequests(count: number): Promise<void>;
  /**
   * Cuts what is under way; resolves when the port is free.
   * @throws AggregateError if the script, or an answer whose client was still there, has failed
   */
  close(): Promise<void>;
}

export interface FaultServiceOptions {
  /** PEM texts, and what else is to be said of TLS; makes it https. */
  readonly tls?: TlsOptions & { readonly key: string; readonly cert: string };
}

/** Starts a real server on 127.0.0.1 and a free port, whose every answer the script decides. */
export async function startFaultService(script: Script, options: FaultServiceOptions = {}): Promise<FaultService> {
  const requests: FaultRequest[] = [];
  const timesAsked = new Map<string, number>();
  const accepted: Socket[] = [];
  const failures: unknown[] = [];
  const waiting = new Set<() => void>();

  const answer = async (exchange: Exchange) => {
    try {
      await script(exchange.request)(exchange);
    } catch (error) {
      // A client that left in the middle is part of the game; anything else is a mistake in the test.
      if (!exchange.socket.destroyed) {
        failures.push(error);
        exchange.socket.destroy();
      }
    }
  };

  const server = options.tls ? createHttpsServer(options.tls) : createHttpServer();
  // Nothing may end a connection but the script and the client.
  Object.assign(server, { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 });
  server.on('connection', (socket: Socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined); // a client that resets its connection
  });
  server.on('request', (message, response) => {
    const { socket } = message;
    socket.setMaxListeners(0); // each request that it carries listens
    // Under https the socket of the request is the encrypted one; both have the client's port in common.
    const accepting = accepted.findLast((one) => one === socket || one.remotePort === socket.remotePort);
    const path = message.url ?? '';
    const counter = `${message.method} ${path.split('?')[0]}`;
    const nth = (timesAsked.get(counter) ?? 0) + 1;
    timesAsked.set(counter, nth);
    const target = parseContractPath(path, 'platformclusters');
    const request: FaultRequest = {
      index: requests.length,
      nth,
      path,
      headers: message.headers,
      uid: target?.uid,
      resource: target?.resource,
      gone: new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve()))),
    };
    requests.push(request);
    for (const look of waiting) look();
    void answer({ request, response, socket, reset: () => accepting?.resetAndDestroy() });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return accepted.length;
    },
    whenRequests: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (requests.length >= count) {
            waiting.delete(look);
            resolve();
          }
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of accepted) socket.destroy();
      await closed;
      if (failures.length > 0)
        throw new AggregateError(failures, `answering failed: ${failures.map(String).join('; ')}`);
    },
  };
}
