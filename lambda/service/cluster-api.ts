import * as http from 'node:http';
import * as https from 'node:https';
import { isNativeError } from 'node:util/types';
import { InvalidBodyError } from '../body/body-check';
import { BodyTooLargeError, type Receiver, receive } from '../body/receive';
import { SpoolError } from '../body/spool';
import { resources } from '../resources';
import type { Collection } from '../stack-contract';
import { decoded } from './content-encoding';
import type { CheckFactory, OnHead } from './fetch-resource';
import { hideKey } from './hide-key';
import { type RequestTimeLimits, RequestWatch } from './request-watch';
import { callName, type ResourceRequest, type ServiceAnswer } from './resource-request';
import { parseRetryAfter } from './retry';
import { ServiceError, type ServiceErrorDetails, type ServiceFailure } from './service-error';

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
   * @param onHead called when the answer's head has arrived
   * @throws ServiceError for whatever keeps a checked body from being here; InvalidBodyError, NotDecodableError,
   * SpoolError from receiving it; the signal's reason when it aborts
   */
  async get(
    request: ResourceRequest,
    key: string,
    check: CheckFactory,
    signal: AbortSignal,
    onHead?: OnHead,
  ): Promise<ServiceAnswer> {
    signal.throwIfAborted();
    const watch = new RequestWatch(signal, this.#limits);
    try {
      const response = await this.#answer(request, key, watch);
      const { socket, statusCode = 0 } = response;
      const headBytes = socket.bytesRead;
      onHead?.(statusCode, () => socket.bytesRead - headBytes);
      const content = acceptedContent(response, request, signal);
      const given = response.headers['content-type'];
      const mediaType = given === undefined ? undefined : hideKey(given, key);
      return { body: await receive(content, check(mediaType), this.#receiver), status: 200, mediaType };
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error, callName(request), key, watch);
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
}

/**
 * The decoded content of a good answer.
 * @throws ServiceError with the bare reason, if the head alone shows that the answer is not usable
 */
function acceptedContent(
  response: http.IncomingMessage,
  { resource }: ResourceRequest,
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  const status = response.statusCode ?? 0;
  if (status !== 200) {
    discard(response);
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'], new Date());
    throw new ServiceError(statusReason(status), 'status', { status, retryAfterMs });
  }
  const refuse = (reason: string) => {
    response.destroy();
    return new ServiceError(`200 OK, but ${reason}`, 'encoding', { status });
  };
  if (!isDelimited(response) && !resources[resource].showsItsEnd)
    throw refuse(
      'it declares no end of its body (neither Content-Length nor chunked): a cut one could not be told from a whole one',
    );
  const encoding = response.headers['content-encoding'];
  const content = decoded(response, encoding, signal);
  if (content === undefined) throw refuse(`its Content-Encoding "${encoding}" is none of gzip, deflate, br`);
  return content;
}

/** What a failed request means: the error that names the call and the reason, never the key. */
function explain(error: unknown, call: string, key: string, watch: RequestWatch): unknown {
  const failed = (reason: string, failure: ServiceFailure, details: ServiceErrorDetails) =>
    new ServiceError(`${call} failed: ${hideKey(reason, key)}`, failure, details);
  if (error instanceof ServiceError) return failed(error.message, error.failure, error);
  if (error instanceof SpoolError) return error;
  if (watch.expired !== undefined) return failed(watch.expired, 'timeout', { cause: error });
  if (error instanceof BodyTooLargeError) {
    const reason = `its body has ${error.message}; raise limits.maxBodyMiB if that is right`;
    return failed(reason, 'too-large', { status: 200 });
  }
  if (error instanceof InvalidBodyError) {
    const reason = hideKey(error.message, key).replace(/^The /, 'the ');
    // Only the cause's own cause: its message may quote the key.
    return new InvalidBodyError(`${call} answered 200 OK, but ${reason}`, { cause: error.cause });
  }
  if (!hasCode(error)) return error;
  const { code } = error;
  if (certificateCodes.test(code)) {
    const reason = `the service's certificate is not trusted (${code}); nothing was sent`;
    return failed(reason, 'certificate', { cause: error });
  }
  if (watch.answered)
    return failed(`its body was cut short or damaged (${code})`, 'cut', { status: 200, cause: error });
  const what = code.startsWith('HPE_') ? 'its answer is no HTTP that can be read' : 'no answer';
  return failed(`${what} (${code})`, 'connection', { cause: error });
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
