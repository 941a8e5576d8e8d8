import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { demoManifest } from '../../local/demo-service/demo-manifest';
import { logLines } from './log-lines';
import { serve } from './serve';

/** What the service says, and how fast. */
export interface ClusterServerSettings {
  /** Wait before each answer, in milliseconds. */
  readonly latencyMs: number;
  /** Length of a log record in bytes. */
  readonly logBytes: number;
  /** Length of a manifest in bytes, as the JSON string that is sent. */
  readonly manifestBytes: number;
}

/** Text that repeats only at distances no compressor here looks back. */
const blockBytes = 8 * 1024 * 1024;

const { text, starts } = logLines(blockBytes);
let settings: ClusterServerSettings = { latencyMs: 0, logBytes: 0, manifestBytes: 0 };
let manifests: Buffer[] = [];

/**
 * A cluster service that costs as little as it can, so that it is not what is measured: bodies are slices of one block
 * that was made at the start.
 */
serve({
  reset: (next) => {
    settings = next as ClusterServerSettings;
    manifests = Array.from({ length: 16 }, (_, index) => manifestBody(index, settings.manifestBytes));
  },
  stats: () => ({}),
  answer: async (request, response) => {
    if (settings.latencyMs > 0) await delay(settings.latencyMs);
    const [, cluster, resource] =
      /\/platformclusters\/([^/]+)\/(features\/logFetcher|assets\/manifest)/.exec(request.url ?? '') ?? [];
    if (cluster === undefined) return void response.writeHead(404).end();
    const number = Number(/\d+$/.exec(cluster)?.[0] ?? 0);
    if (resource === 'assets/manifest')
      return send(request, response, [manifests[number % manifests.length] ?? Buffer.alloc(0)]);
    return send(request, response, logBody(cluster, number));
  },
});

/** The parts of a log record of exactly the length asked for, none of them copied. */
function logBody(cluster: string, number: number): Buffer[] {
  const head = Buffer.from(
    `{"metadata":{"annotations":{},"labels":{},"name":"log-fetcher","uid":"${number}","creationTimestamp":"2025-03-17T08:00:00.000Z"},"spec":{"clusterUid":${JSON.stringify(cluster)},"log":"`,
  );
  const tail = Buffer.from('"},"status":{"state":"Ready"}}');
  const parts: Buffer[] = [head];
  let missing = settings.logBytes - head.length - tail.length;
  // Another first line for each cluster, so that no two bodies are the same.
  let from = starts[(number * 37) % (starts.length >> 1)] ?? 0;
  while (missing > 0) {
    const end = lastStart(from + missing);
    parts.push(end > from ? text.subarray(from, end) : Buffer.alloc(missing, ' '));
    missing -= end > from ? end - from : missing;
    from = end === text.length ? 0 : end;
  }
  return [...parts, tail];
}

/** The last line's beginning at or before an offset. */
function lastStart(offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return starts[low] ?? 0;
}

function manifestBody(index: number, bytes: number): Buffer {
  let yaml = '';
  for (let part = 0; Buffer.byteLength(JSON.stringify(yaml)) < bytes; part++)
    yaml += demoManifest(`manifest-${index}-${part}`, new Date(1_795_000_000_000));
  while (Buffer.byteLength(JSON.stringify(yaml)) > bytes)
    yaml = yaml.slice(0, -Math.max(1, (Buffer.byteLength(JSON.stringify(yaml)) - bytes) >> 1));
  return Buffer.from(JSON.stringify(yaml));
}

async function send(request: IncomingMessage, response: ServerResponse, parts: readonly Buffer[]): Promise<void> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  if (request.method === 'HEAD') return void response.end();
  response.cork();
  for (const part of parts) {
    if (part.length <= 1024 * 1024) {
      response.write(part);
      continue;
    }
    response.uncork();
    for (let at = 0; at < part.length; at += 1024 * 1024)
      if (!response.write(part.subarray(at, at + 1024 * 1024))) await once(response, 'drain');
  }
  response.end();
}
