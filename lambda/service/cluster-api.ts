import type { IncomingMessage } from 'node:http';
import type { BodyCheck, Quote } from '../body/body-check';
import { LogRecordCheck } from '../body/log-record';
import { createManifestCheck } from '../body/manifest';
import { type Receiver, receive } from '../body/receive';
import { resources } from '../resources';
import type { Collection } from '../stack-contract';
import { isGzipped } from './answer-head';
import { AnswerProof } from './answer-proof';
import type { Connection } from './connection';
import { Connections } from './connections';
import { explainFailure } from './explain-failure';
import { hideKey } from './hide-key';
import { type RequestTimeLimits, RequestWatch } from './request-watch';
import { callName, type ResourceRequest, type ServiceAnswer } from './resource-request';

/** The path of a call with its query (service contract, section 4); a uid cannot leave its segment. */
export function requestPath(collection: string, { cluster, resource, requestId }: ResourceRequest): string {
  const { path, takesRequestId } = resources[resource];
  const query = takesRequestId && requestId !== undefined ? `?requestId=${encodeURIComponent(requestId)}` : '';
  return `/v1/${encodeURIComponent(collection)}/${encodeURIComponent(cluster)}/${path}${query}`;
}

export interface ClusterApiOptions {
  readonly service: Collection['service'];
  /** Connections at once. */
  readonly connections: number;
  readonly receiver: Receiver;
  readonly timeLimits: RequestTimeLimits;
  readonly userAgent: string;
  /** Gets what an operator should know of the connections to the service; never the key. */
  readonly onWarning: (warning: string) => void;
}

/** The service over HTTPS: one request a call, no retries, no redirects. A connection is used again after a good answer. */
export class ClusterApi {
  readonly #options: ClusterApiOptions;
  readonly #base: URL;
  readonly #connections: Connections;
  readonly #proof: AnswerProof;

  constructor(options: ClusterApiOptions) {
    const { service, connections, onWarning } = options;
    this.#options = options;
    this.#base = new URL(service.baseUrl);
    this.#proof = new AnswerProof(onWarning);
    this.#connections = new Connections(this.#base, service.caCertificate, connections, this.#proof);
  }

  /**
   * @param key sent in the header `ApiKey` (section 5), to the configured origin only
   * @param onHead called when the answer's head has arrived; `received` tells at any time how many bytes of the body have, as
   * they came over the wire
   * @throws ServiceError if the request fails or its answer is not usable; InvalidBodyError, NotDecodableError,
   * SpoolError from receiving the body; the signal's reason when it aborts
   */
  async get(
    request: ResourceRequest,
    key: string,
    signal: AbortSignal,
    onHead?: (status: number, received: () => number) => void,
  ): Promise<ServiceAnswer> {
    signal.throwIfAborted();
    const watch = new RequestWatch(signal, this.#options.timeLimits);
    const quote: Quote = (text) => hideKey(text, key);
    let connection: Connection | undefined;
    let response: IncomingMessage | undefined;
    try {
      connection = await this.#connections.take(request, watch.signal);
      response = await this.#ask(connection, request, key, watch);
      const { socket } = connection;
      const headBytes = socket.bytesRead;
      onHead?.(response.statusCode ?? 0, () => socket.bytesRead - headBytes);
      const isCoded = isGzipped(response, request.resource, !request.uncoded, quote);
      const given = response.headers['content-type'];
      const mediaType = given === undefined ? undefined : quote(given);
      const check = checkFor(request, mediaType, quote);
      const receiving = receive(response, check, this.#options.receiver, isCoded ? { signal } : undefined);
      const body = await this.#proof.prove(request, connection, receiving);
      this.#connections.keep(connection);
      return { body, mediaType };
    } catch (error) {
      connection?.socket.destroy();
      signal.throwIfAborted();
      const failure = watch.signal.aborted ? watch.signal.reason : error;
      const url = new URL(this.#pathOf(request), this.#base);
      throw explainFailure(failure, callName(request), url, response !== undefined);
    } finally {
      watch.stop();
    }
  }

  /** Closes all connections. */
  close(): void {
    this.#connections.close();
  }

  #pathOf(request: ResourceRequest): string {
    return this.#base.pathname.replace(/\/$/, '') + requestPath(this.#options.service.collection, request);
  }

  /** Resolves when the answer's head has arrived. */
  async #ask(
    connection: Connection,
    request: ResourceRequest,
    key: string,
    watch: RequestWatch,
  ): Promise<IncomingMessage> {
    const { userAgent } = this.#options;
    const { signal } = watch;
    this.#proof.begin(request, connection);
    signal.throwIfAborted();
    signal.addEventListener('abort', () =>
      connection.socket.destroy(signal.reason instanceof Error ? signal.reason : undefined),
    );
    watch.requested();
    const response = await connection.ask(this.#pathOf(request), {
      Accept: 'application/json',
      'Accept-Encoding': request.uncoded ? 'identity' : 'gzip',
      ApiKey: key,
      'User-Agent': userAgent,
      ...(request.projectUid !== undefined && { ProjectUid: request.projectUid }),
      Host: this.#base.host,
      Connection: 'keep-alive',
    });
    watch.receives(response, connection.socket);
    return response;
  }
}

function checkFor(
  { cluster, resource, asReceived = false }: ResourceRequest,
  mediaType: string | undefined,
  quote: Quote,
): BodyCheck {
  if (resource === 'log') return new LogRecordCheck(cluster, quote);
  return createManifestCheck(mediaType, asReceived, quote);
}
