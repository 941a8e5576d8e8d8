import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { resources } from '../../archive/format/resources';
import type { Job } from '../workload';
import { logBody, manifestBody } from './contents';

/** The parts of one body. */
type Body = readonly Buffer[];

let job: Job;
let bodies: ReadonlyMap<string, Body>;
/** The bodies of every workload so far, because contenders take turns. */
const prepared = new Map<string, ReadonlyMap<string, Body>>();

/** Bytes of bodies that the service has sent since it was reset. */
export let sentBytes = 0;

export async function resetService(next: Job): Promise<void> {
  job = next;
  sentBytes = 0;
  const { clusters, logBytes, manifestBytes, serviceCompresses } = job;
  const workload = [clusters.length, logBytes, manifestBytes, serviceCompresses].join();
  bodies = prepared.get(workload) ?? (await prepareBodies(job));
  prepared.set(workload, bodies);
}

const inGzip = (path: string) => `${path} in gzip`;

/** By path. Compresses before anything is measured: a gateway has processors of its own for it. */
async function prepareBodies({ clusters, logBytes, manifestBytes, serviceCompresses }: Job) {
  const manifests = Array.from({ length: 16 }, (_, index) => [manifestBody(index, manifestBytes)]);
  const byPath = new Map<string, Body>();
  for (const [index, cluster] of clusters.entries()) {
    const path = `/v1/platformclusters/${cluster}`;
    byPath.set(`${path}/${resources.log.path}`, logBody(index, cluster, logBytes));
    byPath.set(`${path}/${resources.manifest.path}`, manifests[index % manifests.length] ?? []);
  }
  if (serviceCompresses) for (const [path, body] of [...byPath]) byPath.set(inGzip(path), await compress(body));
  return byPath;
}

/** At zlib's default level, which is that of most gateways. */
function compress(body: Body): Promise<Body> {
  return Readable.from(body)
    .pipe(createGzip({ level: 6 }))
    .toArray();
}

/** What is shorter is sent at once. */
const shortBytes = 1024 * 1024;

/** Answers as the cluster service, and uses little processor time, so that it does not limit the contenders. */
export async function answerAsService({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  if (job.serviceLatencyMs > 0) await delay(job.serviceLatencyMs);
  const [path = ''] = url?.split('?') ?? [];
  const compressed = /\bgzip\b/.test(String(headers['accept-encoding'])) ? bodies.get(inGzip(path)) : undefined;
  const parts = compressed ?? bodies.get(path);
  if (parts === undefined) return void response.writeHead(404).end();
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const coding = compressed && { 'content-encoding': 'gzip' };
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length, ...coding });
  sentBytes += length;
  if (length <= shortBytes) return void response.end(Buffer.concat(parts));
  await pipeline(Readable.from(parts), response);
}
