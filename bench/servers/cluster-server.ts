import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { demoManifest } from '../../local/demo-service/demo-manifest';
import { logLines } from './log-lines';
import { serve } from './serve';

/** The size of the responses, and their delay. */
export interface ClusterServerSettings {
  /** Delay before each response, in milliseconds. */
  readonly latencyMs: number;
  /** Length of a log record, in bytes. */
  readonly logBytes: number;
  /** Length of a manifest in bytes, as the JSON string that is sent. */
  readonly manifestBytes: number;
}

/** Text of this length does not repeat within the window of any compressor used here. */
const blockBytes = 8 * 1024 * 1024;

const { text, starts } = logLines(blockBytes);
let settings: ClusterServerSettings = { latencyMs: 0, logBytes: 0, manifestBytes: 0 };
let manifests: Buffer[] = [];

/** A cluster service that uses little processor time, so that it does not limit the contenders: bodies are slices of one block. */
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

/** The parts of a log record of the configured length. None of the text is copied. */
function logBody(cluster: string, number: number): Buffer[] {
  const head = Buffer.from(
    `{"metadata":{"annotations":{},"labels":{},"name":"log-fetcher","uid":"${number}","creationTimestamp":"2025-03-17T08:00:00.000Z"},"spec":{"clusterUid":${JSON.stringify(cluster)},"log":"`,
  );
  const tail = Buffer.from('"},"status":{"state":"Ready"}}');
  const parts: Buffer[] = [head];
  let missing = settings.logBytes - head.length - tail.length;
  // Each cluster starts at another line, so that no two bodies are equal.
  let from = starts[(number * 37) % (starts.length >> 1)] ?? 0;
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
  for (let part = 0; Buffer.byteLength(JSON.stringify(yaml)) < bytes; part += 1)
    yaml += demoManifest(`manifest-${index}-${part}`, new Date(1_795_000_000_000));
  while (Buffer.byteLength(JSON.stringify(yaml)) > bytes)
    yaml = yaml.slice(0, -Math.max(1, (Buffer.byteLength(JSON.stringify(yaml)) - bytes) >> 1));
  return Buffer.from(JSON.stringify(yaml));
}

const pieceBytes = 1024 * 1024;

async function send(request: IncomingMessage, response: ServerResponse, parts: readonly Buffer[]): Promise<void> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  // rclone asks for each file's length first.
  if (request.method === 'HEAD') return void response.end();
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
