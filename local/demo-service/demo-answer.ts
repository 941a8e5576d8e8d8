import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ContractTarget, parseContractPath } from './contract-path';
import { answerWithFault, type FaultName, sendError } from './demo-faults';
import { type ClusterLog, logRecord, textOf } from './log-record';
import { pick, seededRandom } from './seeded-random';

const compress = promisify<string | Buffer, Buffer>(gzip);

/** What the demo service knows about its clusters; `undefined` stands for a cluster or resource that does not exist. */
export interface ClusterSource {
  log(uid: string, at: Date): Promise<ClusterLog | undefined>;
  /** Text, or its bytes. */
  manifest(uid: string, at: Date): Promise<string | Buffer | undefined>;
}

/** The contract does not show the manifest's media type (service contract, section 4.2): these three are plausible. */
const manifestTypes = {
  text: 'text/plain; charset=utf-8',
  yaml: 'application/yaml',
  json: 'application/json',
} as const;

/** `text/plain`, `application/yaml`, or one JSON string under `application/json`. */
export type ManifestForm = keyof typeof manifestTypes;

export interface DemoServiceOptions {
  /** The only key that is let in; a function is called at every request, so that a key can be rotated. */
  readonly apiKey: string | (() => string);
  readonly source: ClusterSource;
  /** Path segment of the cluster collection; left out: `platformclusters`. */
  readonly collection?: string;
  /** How the manifest is sent; left out: it varies by cluster, always the same for one. */
  readonly manifestAs?: ManifestForm | undefined;
  /** Whether no answer is compressed; otherwise a client that accepts gzip gets it, as from gateways. */
  readonly plain?: boolean;
  /** Clusters that fail, by uid. */
  readonly failing?: Readonly<Record<string, FaultName>>;
  /** Called with every request when it arrives. */
  readonly onRequest?: (request: DemoRequest) => void;
  /** The time at which contents are shown; left out: now. */
  readonly now?: () => Date;
}

export interface DemoRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly path: string;
  /** As received, with `(hidden)` for the key's value. */
  readonly headers: IncomingHttpHeaders;
}

interface Answer {
  readonly contentType: string;
  readonly body: string | Buffer;
}

/**
 * Answers requests. The contract does not show status codes other than 200, nor their bodies (service contract, section
 * 7): those here are the demo's own choice.
 */
export class DemoAnswers {
  readonly #options: DemoServiceOptions;
  /** Requests per failing cluster x resource. */
  readonly #timesAsked = new Map<string, number>();

  constructor(options: DemoServiceOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const { apiKey, collection = 'platformclusters', failing = {}, onRequest } = this.#options;
    onRequest?.({ method, path, headers: { ...headers, ...(headers.apikey !== undefined && { apikey: '(hidden)' }) } });
    if (headers.apikey !== (typeof apiKey === 'string' ? apiKey : apiKey())) {
      sendError(response, 401, 'Unauthorized', 'The header ApiKey is missing, or carries no valid key.');
      return;
    }
    const target = method === 'GET' ? parseContractPath(path, collection) : undefined;
    if (target === undefined) {
      sendError(response, 404, 'NotFound', 'There is nothing at this path.');
      return;
    }
    const fault = Object.hasOwn(failing, target.uid) ? failing[target.uid] : undefined;
    if (fault !== undefined && answerWithFault(fault, response, target, this.#countRequest(target))) return;
    try {
      await this.#sendResource(target, headers, response);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const { resource, uid } = target;
      sendError(response, 500, 'Internal', `The ${resource} of cluster ${uid} cannot be served: ${reason}`);
    }
  }

  async #sendResource(target: ContractTarget, headers: IncomingHttpHeaders, response: ServerResponse): Promise<void> {
    const { uid, resource } = target;
    const answer = await (resource === 'log' ? this.#logAnswer(target, headers) : this.#manifestAnswer(target));
    if (answer === undefined) {
      sendError(response, 404, 'NotFound', `There is no ${resource} of a cluster ${uid}.`);
      return;
    }
    const isCompressed = this.#options.plain !== true && acceptsGzip(headers);
    const body = isCompressed ? await compress(answer.body) : answer.body;
    response.writeHead(200, {
      'Content-Type': answer.contentType,
      Vary: 'Accept-Encoding',
      ...(isCompressed && { 'Content-Encoding': 'gzip' }),
    });
    response.end(body);
  }

  async #logAnswer(target: ContractTarget, headers: IncomingHttpHeaders): Promise<Answer | undefined> {
    const log = await this.#options.source.log(target.uid, this.#now());
    const record = log && logRecord(log, target, headers.projectuid?.toString());
    return record && { contentType: 'application/json', body: JSON.stringify(record) };
  }

  async #manifestAnswer({ uid }: ContractTarget): Promise<Answer | undefined> {
    const { source, manifestAs } = this.#options;
    const manifest = await source.manifest(uid, this.#now());
    if (manifest === undefined) return undefined;
    const form = manifestAs ?? pick(seededRandom(`manifest form of ${uid}`), ['text', 'yaml', 'json']);
    return { contentType: manifestTypes[form], body: form === 'json' ? JSON.stringify(textOf(manifest)) : manifest };
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  #countRequest({ uid, resource }: ContractTarget): number {
    const nth = (this.#timesAsked.get(`${resource} ${uid}`) ?? 0) + 1;
    this.#timesAsked.set(`${resource} ${uid}`, nth);
    return nth;
  }
}

function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$)/i.test(headers['accept-encoding']?.toString() ?? '');
}
