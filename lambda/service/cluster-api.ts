import * as http from 'node:http';
import * as https from 'node:https';
import { isNativeError } from 'node:util/types';
import { type BodyCheck, InvalidBodyError } from '../body/body-check';
import { BodyTooLargeError, type Receiver, receive } from '../body/receive';
import { SpoolError } from '../body/spool';
import { resources } from '../resources';
import type { Collection } from '../stack-contract';
import { decoded } from './content-encoding';
import { hideKey } from './hide-key';
import { type RequestTimeLimits, RequestWatch } from './request-watch';
import type { ResourceRequest, ServiceAnswer } from './resource-request';
import { parseRetryAfter } from './retry';
import { ServiceError, type ServiceFailure } from './service-error';

/** How much of an error's body is read, and for how long, to keep its connection. */
const drainLimits = { bytes: 64 * 1024, ms: 5_000 } as const;

const certificateCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;

/** What an operator does about a status. */
const advice: Readonly<Record<number, string>> = {
  401: 'set a valid API key',
  403: 'set an API key that may read this cluster, or check its projectUid',
  404: 'remove the cluster from the configuration if it is gone, or check service.collection and projectUid',
  429: 'lower limits.requestsPerSecond or limits.concurrency',
};

/** The path of a call with its query (service contract, section 4); a uid cannot leave its segment. */
export function requestPath(collection: string, { cluster, resource, requestId }: ResourceRequest): string {
  const { path, takesRequestId } = resources[resource];
  const query = takesRequestId && requestId !== undefined ? `?requestId=${encodeURIComponent(requestId)}` : '';
  return `/v1/${encodeURIComponent(collection)}/${encodeURIComponent(cluster)}/${path}${query}`;
}

/** The service over HTTPS: one request a call, no retries, no redirects. */
export class ClusterApi {
  readonly #service: Collection['service'];
  readonly #base: URL;
  readonly #agent: http.Agent;
  readonly #receiver: Receiver;
  readonly #limits: RequestTimeLimits;
  readonly #userAgent: string;

  constructor(
    service: Collection['service'],
    connections: number,
    receiver: Receiver,
    limits: RequestTimeLimits,
    userAgent: string,
  ) {
    this.#service = service;
    this.#base = new URL(service.baseUrl);
    const options = { keepAlive: true, maxSockets: connections, scheduling: 'lifo' } as const;
    this.#agent =
      this.#base.protocol === 'http:'
        ? new http.Agent(options)
        : new https.Agent({ ...options, ca: service.caCertificate });
    this.#receiver = receiver;
    this.#limits = limits;
    this.#userAgent = userAgent;
  }

  /**
   * @param key sent in the header `ApiKey` (section 5), to the configured origin only
   * @param check of the body, chosen once the answer's media type is known
   * @throws ServiceError for whatever keeps a checked body from being here; InvalidBodyError, NotDecodableError,
   * SpoolError from receiving it; the signal's reason when it aborts
   */
  async get(
    request: ResourceRequest,
    key: string,
    check: (mediaType: string | undefined) => BodyCheck,
    signal: AbortSignal,
  ): Promise<ServiceAnswer> {
    signal.throwIfAborted();
    const failed = (
      reason: string,
      failure: ServiceFailure,
      details: ConstructorParameters<typeof ServiceError>[2] = {},
    ) => new ServiceError(`${this.#describe(request)} failed: ${hideKey(reason, key)}`, failure, details);
    const watch = new RequestWatch(signal, this.#limits);
    try {
      const response = await this.#answer(request, key, watch);
      const status = response.statusCode ?? 0;
      if (status !== 200) {
        discard(response);
        const retryAfterMs = parseRetryAfter(response.headers['retry-after'], new Date());
        throw failed(statusReason(status), 'status', { status, retryAfterMs });
      }
      if (!isDelimited(response) && !resources[request.resource].showsItsEnd) {
        response.destroy();
        throw failed(
          '200 OK, but it declares no end of its body (neither Content-Length nor chunked): a cut one could not be told from a whole one',
          'encoding',
          { status },
        );
      }
      const given = response.headers['content-type'];
      const mediaType = given === undefined ? undefined : hideKey(given, key);
      const encoding = response.headers['content-encoding'];
      const content = decoded(response, encoding, signal);
      if (content === undefined) {
        response.destroy();
        throw failed(`200 OK, but its Content-Encoding "${encoding}" is none of gzip, deflate, br`, 'encoding', {
          status,
        });
      }
      return { body: await receive(content, check(mediaType), this.#receiver), status, mediaType };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError || error instanceof SpoolError) throw error;
      if (watch.expired !== undefined) throw failed(watch.expired, 'timeout', { cause: error });
      if (error instanceof BodyTooLargeError)
        throw failed(`its body has ${error.message}; raise limits.maxBodyMiB if that is right`, 'too-large', {
          status: 200,
        });
      if (error instanceof InvalidBodyError)
        throw new InvalidBodyError(
          `${this.#describe(request)} answered 200 OK, but ${hideKey(error.message, key).replace(/^The /, 'the ')}`,
          // The cause's own message may quote the key.
          { cause: error.cause },
        );
      if (!hasCode(error)) throw error;
      const { code } = error;
      if (certificateCodes.test(code))
        throw failed(`the service's certificate is not trusted (${code}); nothing was sent`, 'certificate', {
          cause: error,
        });
      if (watch.answered)
        throw failed(`its body was cut short or damaged (${code})`, 'cut', { status: 200, cause: error });
      const what = code.startsWith('HPE_') ? 'its answer is no HTTP that can be read' : 'no answer';
      throw failed(`${what} (${code})`, 'connection', { cause: error });
    } finally {
      watch.stop();
    }
  }

  /** Closes the connections that are kept for reuse. */
  close(): void {
    this.#agent.destroy();
  }

  #answer(request: ResourceRequest, key: string, watch: RequestWatch): Promise<http.IncomingMessage> {
    const prefix = this.#base.pathname.replace(/\/$/, '');
    const projectUid = request.projectUid;
    const headers = {
      Accept: 'application/json',
      // Content is archived uncoded; asking for a coding would only make both sides compute.
      'Accept-Encoding': 'identity',
      ApiKey: key,
      'User-Agent': this.#userAgent,
      ...(projectUid === undefined ? {} : { ProjectUid: projectUid }),
    };
    return new Promise((resolve, reject) => {
      const send = this.#base.protocol === 'http:' ? http.request : https.request;
      const sent = send({
        agent: this.#agent,
        hostname: this.#base.hostname.replace(/^\[|\]$/g, ''),
        port: this.#base.port,
        path: prefix + requestPath(this.#service.collection, request),
        headers,
      });
      watch.start(sent, reject);
      // Not once: a broken connection may report more than one error, and an unheard one would end the process.
      sent.on('error', reject);
      sent.once('response', resolve);
      // Nobody asked for another protocol, and without a listener the request would never end.
      sent.once('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response);
      });
      sent.end();
    });
  }

  #describe(request: ResourceRequest): string {
    const { path } = resources[request.resource];
    return `GET ${path} of cluster ${request.cluster}`;
  }
}

function statusReason(status: number): string {
  const known = http.STATUS_CODES[status] ?? 'an unknown status';
  if (status >= 300 && status < 400) return `${status} ${known}; redirects are not followed, check service.baseUrl`;
  return [`${status} ${known}`, advice[status]].filter((part) => part !== undefined).join('; ');
}

/** Reads a short body to its end so that its connection can be used again; gives up a connection with a long or slow one. */
function discard(response: http.IncomingMessage): void {
  let read = 0;
  const timer = setTimeout(() => response.destroy(), drainLimits.ms);
  response.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > drainLimits.bytes) response.destroy();
  });
  response.once('close', () => clearTimeout(timer));
  // Its status is the outcome already; that its body breaks off as well changes nothing.
  response.on('error', () => undefined);
}

/** Whether HTTP itself says where the body ends; otherwise the end of the connection does, whatever ended it. */
function isDelimited({ headers }: http.IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function hasCode(error: unknown): error is Error & { code: string } {
  return isNativeError(error) && 'code' in error && typeof error.code === 'string';
}
