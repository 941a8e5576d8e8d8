import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Configuration } from '../../../archive/format/configuration';
import { type BodyFacts, type Resource, resources } from '../../../archive/format/resources';
import { type BodyCheck, InvalidBodyError } from '../body/body-check';
import { bodyChecks } from '../body/body-checks';
import { type ReceivedBody, type Receiver, receive } from '../body/receive';
import { AnswerEnd } from './answer-end';
import { readAnswerHead } from './answer-head';
import { Connector } from './connector';
import { explainFailure, maxHeadBytes, refusal } from './explain-failure';
import { hideKey } from './hide-key';
import { type RequestTimeLimits, RequestWatch } from './request-watch';
import { callName, type ResourceRequest, type ServiceAnswer } from './resource-request';
import { ServiceError } from './service-error';

/** The path of a call with its query (service contract, section 4); a uid cannot leave its segment. */
export function requestPath(collection: string, { cluster, resource, requestId }: ResourceRequest): string {
  const { path, takesRequestId } = resources[resource];
  const query = takesRequestId && requestId !== undefined ? `?requestId=${encodeURIComponent(requestId)}` : '';
  return `/v1/${encodeURIComponent(collection)}/${encodeURIComponent(cluster)}/${path}${query}`;
}

export interface ClusterApiOptions {
  readonly service: Configuration['service'];
  readonly receiver: Receiver;
  readonly timeLimits: RequestTimeLimits;
  readonly userAgent: string;
}

/**
 * The service over HTTPS: one request a call, no retries, no redirects.
 *
 * HTTP/1.1 does not say which request an answer belongs to: a gateway that repeats an answer, or sends one late, shifts all
 * answers that follow on the connection. So what does not name its cluster is asked for on a connection of its own. What
 * does may come over one that was used before; where it names another cluster, or none, or is refused, that answer does not
 * count, and the next request gets a connection of its own.
 */
export class ClusterApi {
  readonly #options: ClusterApiOptions;
  readonly #base: URL;
  readonly #connector: Connector;
  /** The connections that are used again after a good answer. */
  readonly #agent = new Agent({ keepAlive: true });
  /** The resources whose last answer named its cluster. */
  readonly #namingCluster = new Set<Resource>();

  constructor(options: ClusterApiOptions) {
    const { service } = options;
    this.#options = options;
    this.#base = new URL(service.baseUrl);
    this.#connector = new Connector(this.#base, service.caCertificate, options.timeLimits.connectMs);
    this.#agent.createConnection = () => this.#connector.open();
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
    const hide = (text: string) => hideKey(text, key);
    const isAlone = request.alone === true || !this.#namingCluster.has(request.resource);
    const asked = this.#send(request, key, isAlone, signal);
    const end = new AnswerEnd(asked, isAlone);
    let response: IncomingMessage | undefined;
    const cancel = (reason?: Error) => (response ?? asked).destroy(reason);
    const watch = new RequestWatch(this.#options.timeLimits, cancel);
    try {
      response = await this.#answerTo(asked, watch);
      const { socket } = response;
      const headBytes = socket.bytesRead;
      onHead?.(response.statusCode ?? 0, () => socket.bytesRead - headBytes);
      const head = readAnswerHead(response, request.resource, !request.uncoded);
      const given = response.headers['content-type'];
      const mediaType = given === undefined ? undefined : hide(given);
      const { cluster, resource, asReceived = false } = request;
      const { isGzipped, isAwsChunked } = head;
      const check = bodyChecks[resource]({ cluster, mediaType, asReceived, isAwsChunked });
      const receiving = receive(response, check, this.#options.receiver, isGzipped ? { signal } : undefined);
      // A body that shows its end needs no silence behind it.
      const ending = () => end.check(isAlone && !resources[request.resource].showsItsEnd);
      const body = await this.#believed(receiving, ending, request, check, asked.reusedSocket);
      const doubt = [body.facts.doubt, ...head.doubts, end.doubt].filter((one) => one !== undefined).join('; ');
      const facts: BodyFacts = { ...body.facts, ...(doubt !== '' && { doubt }) };
      return { body: { ...body, facts: withoutKey(facts, hide) }, mediaType };
    } catch (error) {
      cancel();
      signal.throwIfAborted();
      const url = new URL(this.#pathOf(request), this.#base);
      throw explainFailure(error, callName(request), url, response !== undefined, hide);
    } finally {
      end.stop();
      watch.stop();
      if (isAlone) asked.socket?.destroy();
    }
  }

  /** Closes the connections that wait for another request. */
  close(): void {
    this.#agent.destroy();
  }

  #pathOf(request: ResourceRequest): string {
    return this.#base.pathname.replace(/\/$/, '') + requestPath(this.#options.service.collection, request);
  }

  #send(request: ResourceRequest, key: string, isAlone: boolean, signal: AbortSignal): ClientRequest {
    const asked = httpRequest({
      signal,
      ...(isAlone ? { createConnection: () => this.#openAlone() } : { agent: this.#agent }),
      setHost: false,
      maxHeaderSize: maxHeadBytes,
      path: this.#pathOf(request),
      headers: {
        Accept: resources[request.resource].accept,
        'Accept-Encoding': request.uncoded ? 'identity' : 'gzip',
        // What is archived has to be what the service says now.
        'Cache-Control': 'no-cache',
        ApiKey: key,
        'User-Agent': this.#options.userAgent,
        ...(request.projectUid !== undefined && { ProjectUid: request.projectUid }),
        Host: this.#base.host,
        // Also on one of its own: a service that is asked to close it may do so before what follows the answer is seen.
        Connection: 'keep-alive',
      },
    });
    asked.end();
    return asked;
  }

  #openAlone(): Socket {
    const socket = this.#connector.open();
    // Node would stop reading at the end of the answer, and not see what follows it.
    socket.destroySoon = () => socket.end();
    return socket;
  }

  /** Resolves when the answer's head has arrived. */
  async #answerTo(asked: ClientRequest, watch: RequestWatch): Promise<IncomingMessage> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      // Not once: a broken connection may report more than one error.
      asked.on('error', reject);
      asked.once('response', resolve);
      // Nobody asked for another protocol, and without a listener the request would never end.
      asked.once('upgrade', (refused, socket) => {
        socket.destroy();
        resolve(refused);
      });
      asked.once('socket', (socket) => {
        if (asked.reusedSocket) watch.requested();
        else socket.once(this.#connector.openedBy, () => watch.requested());
      });
    });
    watch.receives(response, response.socket);
    return response;
  }

  /**
   * The body, once it is certain that it is whole and belongs to the request; otherwise it is released.
   * @throws ServiceError `cut`, `used-connection`; whatever receiving it throws, if that belongs to the request
   */
  async #believed(
    receiving: Promise<ReceivedBody>,
    ending: () => Promise<void>,
    { resource }: ResourceRequest,
    check: BodyCheck,
    isUsed: boolean,
  ): Promise<ReceivedBody> {
    let body: ReceivedBody | undefined;
    try {
      body = await receiving;
      await ending();
      const { namesItsCluster = false } = check;
      if (isUsed && !namesItsCluster) throw mayBeAnothers('it does not name its cluster');
      if (namesItsCluster) this.#namingCluster.add(resource);
      else this.#namingCluster.delete(resource);
      return body;
    } catch (error) {
      await body?.release();
      if (!(error instanceof InvalidBodyError)) throw error;
      await ending();
      throw isUsed ? mayBeAnothers(refusal(error)) : error;
    }
  }
}

/** The facts that the service has chosen the words of: it may have echoed the request. */
function withoutKey(facts: BodyFacts, hide: (text: string) => string): BodyFacts {
  const words = ['state', 'recordUid', 'lastModified', 'doubt'] as const;
  const hidden = words.map((name) => [name, facts[name] && hide(facts[name])] as const);
  return { ...facts, ...Object.fromEntries(hidden.filter(([, text]) => text !== undefined)) };
}

function mayBeAnothers(reason: string): ServiceError {
  const what = `200 OK, but ${reason}; on a used connection it may be the answer to another request`;
  return new ServiceError(what, 'used-connection', { status: 200 });
}
