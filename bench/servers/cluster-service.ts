import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { logBody, manifestBody, numberOf } from './bodies';
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
