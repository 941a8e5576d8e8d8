import type { IncomingMessage } from 'node:http';
import { InvalidBodyError } from '../body/body-check';
import { type CodedTransfer, codingOf } from '../body/content-coding';
import { type ReceivedBody, type Receiver, receive } from '../body/receive';
import { resources } from '../resources';
import type { Collection } from '../stack-contract';
import { AnswerProof } from './answer-proof';
import type { CheckFactory, OnHead } from './check-factory';
import type { Connection } from './connection';
import { Connections } from './connections';
import { explainFailure, refusal, statusReason } from './explain-failure';
import { hideKey, withoutKey } from './hide-key';
import { type RequestTimeLimits, RequestWatch } from './request-watch';
import { callName, type ResourceRequest, type ServiceAnswer } from './resource-request';
import { parseRetryAfter } from './retry-after';
import { ServiceError, type ServiceFailure } from './service-error';

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

/** What a run needs of {@link ClusterApi}. */
export type ClusterService = Pick<ClusterApi, 'get'>;

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
    this.#connections = new Connections(this.#base, service.caCertificate, connections, (connection) =>
      this.#proof.discredit(connection),
    );
  }

  /**
   * @param key sent in the header `ApiKey` (section 5), to the configured origin only
   * @param check of the body, chosen once the answer's media type is known
   * @param onHead called when the answer's head has arrived
   * @throws ServiceError if the request fails or its answer is not usable; InvalidBodyError, NotDecodableError,
   * SpoolError from receiving the body; the signal's reason when it aborts
   */
  async get(
    request: ResourceRequest,
    key: string,
    check: CheckFactory,
    signal: AbortSignal,
    onHead?: OnHead,
  ): Promise<ServiceAnswer> {
    signal.throwIfAborted();
    const watch = new RequestWatch(signal, this.#options.timeLimits);
    let connection: Connection | undefined;
    try {
      connection = await this.#connections.take((idle) => this.#proof.choose(request, idle), watch.signal);
      const response = await this.#ask(connection, request, key, watch);
      const { socket } = connection;
      const headBytes = socket.bytesRead;
      onHead?.(response.statusCode ?? 0, () => socket.bytesRead - headBytes);
      const transfer = acceptedTransfer(response, request, key, this.#acceptsCoding(request), signal);
      const given = response.headers['content-type'];
      const mediaType = given === undefined ? undefined : hideKey(given, key);
      const receiving = receive(response, check(mediaType), this.#options.receiver, transfer);
      const body = await this.#proven(receiving, request, key, connection);
      this.#connections.keep(connection);
      return { body, status: 200, mediaType };
    } catch (error) {
      connection?.destroy();
      signal.throwIfAborted();
      const call = { name: callName(request), base: this.#base, path: this.#pathOf(request) };
      throw explainFailure(error, call, key, watch);
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

  #acceptsCoding({ uncoded = false }: ResourceRequest): boolean {
    return !uncoded && this.#options.service.acceptCompressed !== false;
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
      connection.destroy(signal.reason instanceof Error ? signal.reason : undefined),
    );
    watch.requested();
    const response = await connection.ask(this.#pathOf(request), {
      Accept: 'application/json',
      'Accept-Encoding': this.#acceptsCoding(request) ? 'gzip' : 'identity',
      ApiKey: key,
      'User-Agent': userAgent,
      ...(request.projectUid !== undefined && { ProjectUid: request.projectUid }),
      Host: this.#base.host,
      Connection: 'keep-alive',
    });
    watch.receives(response, connection.socket);
    return response;
  }

  /** The body, once it is certain that it belongs to the request. */
  async #proven(
    receiving: Promise<ReceivedBody>,
    request: ResourceRequest,
    key: string,
    connection: Connection,
  ): Promise<ReceivedBody> {
    const body = await receiving.catch(async (error: unknown) => {
      if (error instanceof InvalidBodyError) await this.#proof.refuse(request, connection, refusal(error, key));
      throw error;
    });
    try {
      await this.#proof.accept(request, connection, body);
    } catch (error) {
      await body.release();
      throw error;
    }
    return { ...body, facts: withoutKey(body.facts, key) };
  }
}

/**
 * How the body of a good answer comes; undefined: without a content coding.
 * @throws ServiceError with the bare reason, if the head alone shows that the answer is not usable
 */
function acceptedTransfer(
  response: IncomingMessage,
  { resource }: ResourceRequest,
  key: string,
  acceptsCoding: boolean,
  signal: AbortSignal,
): CodedTransfer | undefined {
  const status = response.statusCode ?? 0;
  if (status !== 200) {
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'], new Date());
    throw new ServiceError(statusReason(status), 'status', { status, retryAfterMs });
  }
  const refuse = (reason: string, failure: ServiceFailure = 'encoding') =>
    new ServiceError(`200 OK, but ${reason}`, failure, { status });
  const coding = response.headers['transfer-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== 'chunked' && coding !== 'identity')
    throw refuse(`its Transfer-Encoding "${hideKey(coding, key)}" is not "chunked", the only one that was asked for`);
  // Otherwise the end of the connection ends the body, whatever ended the connection.
  const isDelimited = coding === 'chunked' || (coding === undefined && 'content-length' in response.headers);
  if (!isDelimited && !resources[resource].showsItsEnd)
    throw refuse(
      'it declares no end of its body (neither Content-Length nor chunked): a cut one could not be told from a whole one',
    );
  const encoding = response.headers['content-encoding'];
  const contentCoding = codingOf(encoding);
  if (contentCoding === undefined)
    throw refuse(
      `its Content-Encoding "${hideKey(encoding ?? '', key)}" is none of gzip, deflate, br`,
      acceptsCoding ? 'coding' : 'encoding',
    );
  return contentCoding === 'none' ? undefined : { coding: contentCoding, signal };
}
