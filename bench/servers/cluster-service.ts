import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { demoManifest } from '../../local/demo-service/demo-content';
import { between, pick, seededRandom } from '../../local/demo-service/seeded-random';
import type { ServerSettings } from './start-servers';

/** The parts of one body. */
type Body = readonly Buffer[];

let settings: ServerSettings;
let manifests: readonly Body[] = [];
/** What is compressed before it is asked for, by its plain body's name; and the settings that it was made for. */
let inGzip = new Map<string, Body>();
let compressedFor = '';

/** Bytes of bodies that the service has sent since it was reset. */
export let sentBytes = 0;

export async function resetService(next: ServerSettings): Promise<void> {
  settings = next;
  sentBytes = 0;
  manifests = Array.from({ length: 16 }, (_, index) => [manifestBody(index, settings.manifestBytes)]);
  if (settings.serviceCompresses) await compressAll();
}

/** Compresses what will be asked for before anything is measured: a gateway has processors of its own for it. */
async function compressAll(): Promise<void> {
  const { clusters, logBytes, manifestBytes } = settings;
  const wanted = [clusters.length, logBytes, manifestBytes].join();
  if (wanted === compressedFor) return;
  inGzip = new Map();
  for (const [index, body] of manifests.entries()) inGzip.set(String(index), await compress(body));
  for (const cluster of clusters) inGzip.set(cluster, await compress(logBody(cluster, logBytes)));
  compressedFor = wanted;
}

/** At zlib's default level, which is that of most gateways. */
function compress(body: Body): Promise<Body> {
  return Readable.from(body)
    .pipe(createGzip({ level: 6 }))
    .toArray();
}

/** Answers as the cluster service, and uses little processor time, so that it does not limit the contenders. */
export async function answerAsService(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (settings.serviceLatencyMs > 0) await delay(settings.serviceLatencyMs);
  const [, cluster, resource] =
    /\/platformclusters\/([^/]+)\/(features\/logFetcher|assets\/manifest)/.exec(request.url ?? '') ?? [];
  if (cluster === undefined) return void response.writeHead(404).end();
  const manifest = numberOf(cluster) % manifests.length;
  return resource === 'assets/manifest'
    ? send(request, response, String(manifest), manifests[manifest] ?? [])
    : send(request, response, cluster, logBody(cluster, settings.logBytes));
}

const pieceBytes = 1024 * 1024;

async function send(request: IncomingMessage, response: ServerResponse, name: string, plain: Body): Promise<void> {
  const accepted = request.headers['accept-encoding']?.toString() ?? '';
  const compressed = settings.serviceCompresses && /\bgzip\b/.test(accepted) ? inGzip.get(name) : undefined;
  const parts = compressed ?? plain;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': length,
    ...(compressed && { 'content-encoding': 'gzip' }),
  });
  // rclone asks for each file's length first.
  if (request.method === 'HEAD') return void response.end();
  sentBytes += length;
  response.cork();
  for (const part of parts) {
    if (part.length <= pieceBytes) {
      response.write(part);
      continue;
    }
    response.uncork();
    for (let at = 0; at < part.length; at += pieceBytes)
      if (!response.write(part.subarray(at, at + pieceBytes))) await once(response, 'drain');
  }
  response.end();
}

/** Text of this length does not repeat within the window of any compressor used here. */
const blockBytes = 8 * 1024 * 1024;

const components = [
  'compute.manager',
  'osapi.wsgi.server',
  'virt.imagecache',
  'network.agent',
  'scheduler.host',
] as const;
const verbs = ['GET', 'GET', 'GET', 'POST', 'DELETE'] as const;
const places = ['servers/detail', 'servers', 'os-server-external-events', 'flavors', 'images?name=größe'] as const;
const events = ['VM Started', 'VM Paused', 'VM Resumed', 'Deleting instance files', 'Unknown base file'] as const;

const lineEnd = '\\n';
const text = logLines(blockBytes);

/**
 * Lines like those of a busy control plane: unique identifiers, repeated words, and a few characters beyond ASCII.
 * @returns the text, escaped as inside a JSON string
 */
function logLines(bytes: number): Buffer {
  const random = seededRandom('log lines');
  const id = (length: number) => Array.from({ length }, () => between(random, 0, 15).toString(16)).join('');
  const tenants = Array.from({ length: 12 }, () => id(32));
  const parts: Buffer[] = [];
  let length = 0;
  for (let time = 1_795_000_000_000; length < bytes; time += between(random, 1, 900)) {
    const tenant = pick(random, ['-', ...tenants]);
    const event =
      random() < 0.6
        ? `10.11.${between(random, 0, 30)}.${between(random, 1, 254)} "${pick(random, verbs)} /v2/${tenant}/${pick(random, places)} HTTP/1.1" status: ${pick(random, ['200', '200', '202', '404'])} len: ${between(random, 100, 9000)} time: 0.${between(random, 10_000, 9_999_999)}`
        : `[instance: ${id(8)}-${id(4)}-${id(4)}-${id(12)}] ${pick(random, events)} (Lifecycle Event)`;
    const line = `${new Date(time).toISOString()} ${between(random, 2000, 2090)} INFO nova.${pick(random, components)} [req-${id(8)}-${id(4)}-${id(4)}-${id(12)} ${tenant} - - -] ${event}\n`;
    const part = Buffer.from(JSON.stringify(line).slice(1, -1));
    parts.push(part);
    length += part.length;
  }
  return Buffer.concat(parts);
}

/** The number at the end of a cluster's uid. */
function numberOf(cluster: string): number {
  return Number(/\d+$/.exec(cluster)?.[0] ?? 0);
}

/** The parts of a log record of a length in bytes. They are slices of one text, and none of it is copied. */
function logBody(cluster: string, bytes: number): Body {
  const number = numberOf(cluster);
  const head = Buffer.from(
    `{"metadata":{"annotations":{},"labels":{},"name":"log-fetcher","uid":"${number}","creationTimestamp":"2025-03-17T08:00:00.000Z"},"spec":{"clusterUid":${JSON.stringify(cluster)},"log":"`,
  );
  const tail = Buffer.from('"},"status":{"state":"Ready"}}');
  const parts: Buffer[] = [head];
  let missing = bytes - head.length - tail.length;
  // Each cluster starts at another line, so that no two bodies are equal.
  let from = lineStartBefore((number * 9973) % (text.length >> 1));
  while (missing > 0) {
    const end = lineStartBefore(from + missing);
    parts.push(end > from ? text.subarray(from, end) : Buffer.alloc(missing, ' '));
    missing -= end > from ? end - from : missing;
    from = end === text.length ? 0 : end;
  }
  return [...parts, tail];
}

/** The last start of a line at or before an offset. */
function lineStartBefore(offset: number): number {
  if (offset >= text.length) return text.length;
  const end = text.lastIndexOf(lineEnd, Math.max(0, offset - lineEnd.length));
  return end < 0 ? 0 : end + lineEnd.length;
}

/** A manifest of about a length in bytes, as a JSON string. */
function manifestBody(index: number, bytes: number): Buffer {
  let yaml = '';
  for (let part = 0; yaml.length < bytes; part += 1)
    yaml += demoManifest(`manifest-${index}-${part}`, new Date(1_795_000_000_000));
  const long = Buffer.byteLength(JSON.stringify(yaml));
  return Buffer.from(JSON.stringify(yaml.slice(0, (yaml.length * bytes) / long)));
}
