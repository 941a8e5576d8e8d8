import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Resource } from '../../archive/format/resources';
import { type ListeningServer, listenLocally } from '../listen-locally';
import { type ContractTarget, parseContractPath } from './contract-path';
import { demoLog, demoManifest, demoState } from './demo-content';
import { answerWithFault, type FaultName, sendError } from './demo-faults';
import { pick, seededRandom } from './seeded-random';

const compress = promisify<string, Buffer>(gzip);

/** The contract does not show the manifest's media type (service contract, section 4.2): these three are plausible. */
const manifestTypes = {
  text: 'text/plain; charset=utf-8',
  yaml: 'application/yaml',
  json: 'application/json',
} as const;

export interface DemoServiceOptions {
  /** The only key that is let in; a function is called at every request, so that a key can be rotated. */
  readonly apiKey: string | (() => string);
  /** Path segment of the cluster collection; left out: `platformclusters`. */
  readonly collection?: string;
  /** Clusters that fail, by uid. */
  readonly failing?: Readonly<Record<string, FaultName>>;
  /** Called with path and query of every request when it arrives. */
  readonly onRequest?: (path: string) => void;
}

/** Starts a cluster service that follows the service contract, on 127.0.0.1 and a free port. */
export async function startDemoService(options: DemoServiceOptions): Promise<ListeningServer> {
  /** Requests per failing cluster x resource. */
  const timesAsked = new Map<string, number>();
  return listenLocally(createServer((request, response) => void answer(options, timesAsked, request, response)));
}

/**
 * Answers a request. The contract does not show status codes other than 200, nor their bodies (service contract, section
 * 7): those here are the demo's own choice.
 */
async function answer(
  options: DemoServiceOptions,
  timesAsked: Map<string, number>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url: path = '', headers } = request;
  const { apiKey, collection = 'platformclusters', failing = {}, onRequest } = options;
  onRequest?.(path);
  if (headers.apikey !== (typeof apiKey === 'string' ? apiKey : apiKey()))
    return void sendError(response, 401, 'Unauthorized', 'The header ApiKey is missing, or carries no valid key.');
  const target = method === 'GET' ? parseContractPath(path, collection) : undefined;
  if (target === undefined) return void sendError(response, 404, 'NotFound', 'There is nothing at this path.');
  const { uid, resource } = target;
  if (Object.hasOwn(failing, uid)) {
    const nth = (timesAsked.get(`${resource} ${uid}`) ?? 0) + 1;
    timesAsked.set(`${resource} ${uid}`, nth);
    if (answerWithFault(failing[uid], response, target, nth)) return;
  }
  const { contentType, body } = answers[resource](target, new Date(), headers);
  const isCompressed = acceptsGzip(headers);
  response.writeHead(200, {
    'Content-Type': contentType,
    Vary: 'Accept-Encoding',
    ...(isCompressed && { 'Content-Encoding': 'gzip' }),
  });
  response.end(isCompressed ? await compress(body) : body);
}

type Answering = (
  target: ContractTarget,
  now: Date,
  headers: IncomingHttpHeaders,
) => { readonly contentType: string; readonly body: string };

/** Media type and body of each resource, the same for the same cluster and time. */
const answers: Readonly<Record<Resource, Answering>> = {
  log: (target, now, headers) => {
    const record = logRecord(target, now, headers.projectuid?.toString());
    return { contentType: manifestTypes.json, body: JSON.stringify(record) };
  },
  manifest: ({ uid }, now) => {
    const manifest = demoManifest(uid, now);
    const form = manifestFormOf(uid);
    return { contentType: manifestTypes[form], body: form === 'json' ? JSON.stringify(manifest) : manifest };
  },
};

/** How a cluster's manifest is sent: `text/plain`, `application/yaml`, or one JSON string under `application/json`. */
export function manifestFormOf(uid: string): keyof typeof manifestTypes {
  return pick(seededRandom(`manifest form of ${uid}`), ['text', 'yaml', 'json']);
}

function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$)/i.test(headers['accept-encoding']?.toString() ?? '');
}

/** The log-fetcher record (service contract, section 2.1). */
function logRecord({ uid, requestId }: ContractTarget, now: Date, projectUid: string | undefined): object {
  return {
    metadata: {
      // The contract leaves both maps free, and shows no effect of requestId and ProjectUid. The demo answers with what
      // it received, so that one sees that they arrive.
      annotations: requestId === undefined ? {} : { requestId },
      creationTimestamp: '2025-03-17T08:00:00.000Z',
      labels: projectUid === undefined ? {} : { projectUid },
      lastModifiedTimestamp: `${now.toISOString().slice(0, 16)}:00.000Z`,
      name: `log-fetcher-${uid}`,
      uid: uuidOf(uid),
    },
    spec: { clusterUid: uid, log: demoLog(uid, now) },
    status: { state: demoState(uid, now) },
  };
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}
