import { once, setMaxListeners } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type ClusterSource, type DemoAnswers, demoAnswer, type ManifestForm } from './demo-answer';
import type { FaultName } from './demo-faults';

export interface DemoServiceOptions {
  /** The only key that is let in; a function is called at every request, so that a key can be rotated. */
  readonly apiKey: string | (() => string);
  readonly source: ClusterSource;
  /** Path segment of the cluster collection; left out: `platformclusters`. */
  readonly collection?: string;
  /** How the manifest is sent; left out: it varies by cluster, always the same for one. */
  readonly manifestAs?: ManifestForm | undefined;
  /** Whether no answer is compressed; otherwise a client that accepts gzip gets it. */
  readonly plain?: boolean;
  /** Wait before every answer, in milliseconds. */
  readonly latencyMs?: number;
  /** PEM texts; makes it https. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Clusters that fail, by uid. */
  readonly failing?: Readonly<Record<string, FaultName>>;
  /** Called with every request when it arrives. */
  readonly onRequest?: (request: DemoRequest) => void;
  /** Called when an answer failed: it was then a 500, or was cut. */
  readonly onError?: (error: unknown) => void;
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

export interface DemoService {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** The newest requests, oldest first, at most `rememberedRequests`. */
  readonly requests: readonly DemoRequest[];
  /** Cuts what is under way; resolves when the port is free and nothing runs any more. */
  close(): Promise<void>;
}

export const rememberedRequests = 1000;

/** Starts a cluster service that follows the service contract, on 127.0.0.1 and a free port. */
export async function startDemoService(options: DemoServiceOptions): Promise<DemoService> {
  const requests: DemoRequest[] = [];
  const closing = new AbortController();
  // Each answer that waits listens to it. Without this, Node would warn of a leak.
  setMaxListeners(0, closing.signal);
  const underWay = new Set<Promise<void>>();
  const answers: DemoAnswers = {
    source: options.source,
    collection: options.collection ?? 'platformclusters',
    manifestAs: options.manifestAs,
    compresses: options.plain !== true,
    latencyMs: options.latencyMs ?? 0,
    failing: options.failing ?? {},
    apiKey: typeof options.apiKey === 'function' ? options.apiKey : () => options.apiKey as string,
    now: options.now ?? (() => new Date()),
    timesAsked: new Map(),
  };

  const listener: RequestListener = (request, response) => {
    const headers = { ...request.headers, ...(request.headers.apikey !== undefined && { apikey: '(hidden)' }) };
    const seen = { method: request.method ?? '', path: request.url ?? '', headers };
    requests.push(seen);
    if (requests.length > rememberedRequests) requests.shift();
    options.onRequest?.(seen);
    const answered = demoAnswer(answers, request, response, closing.signal)
      .catch((error: unknown) => {
        if (!response.writableEnded) response.destroy();
        options.onError?.(error);
      })
      .finally(() => underWay.delete(answered));
    underWay.add(answered);
  };

  const server = options.tls ? createHttpsServer(options.tls, listener) : createHttpServer(listener);
  // Without a limit: a connection that is closed as idle could carry a request at that moment.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await Promise.all(underWay);
    },
  };
}
