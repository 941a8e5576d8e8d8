import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
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
  /** Whether a client that accepts gzip gets it. */
  readonly compresses: boolean;
  /** Clusters whose logs are compressed before they are asked for. */
  readonly clusters: readonly string[];
}

/** What the cluster service counted since the last reset. */
export interface ServiceStats {
  /** Bytes of bodies, as they were sent. */
  readonly sentBytes: number;
}

/** zlib's default, and that of most gateways. */
const gzipLevel = 6;

/** Text of this length does not repeat within the window of any compressor used here. */
const blockBytes = 8 * 1024 * 1024;

const { text, starts } = logLines(blockBytes);
let settings: ClusterServerSettings = {
  latencyMs: 0,
  logBytes: 0,
  manifestBytes: 0,
  compresses: false,
  clusters: [],
};
let manifests: Body[] = [];
/** Logs in gzip, by cluster; for the settings in `compressedFor`. */
let compressedLogs = new Map<string, readonly Buffer[]>();
let compressedFor = '';
let sentBytes = 0;

/** A body as it is, and in gzip. */
interface Body {
  readonly plain: readonly Buffer[];
  readonly inGzip: readonly Buffer[];
}

/** A cluster service that uses little processor time, so that it does not limit the contenders: bodies are slices of one block. */
serve({
  reset: async (next) => {
    settings = next as ClusterServerSettings;
    sentBytes = 0;
    manifests = Array.from({ length: 16 }, (_, index) => {
      const plain = manifestBody(index, settings.manifestBytes);
      return { plain: [plain], inGzip: [gzipSync(plain, { level: gzipLevel })] };
    });
    await compressLogs();
  },
  stats: (): ServiceStats & Record<string, unknown> => ({ sentBytes }),
  answer: async (request, response) => {
    if (settings.latencyMs > 0) await delay(settings.latencyMs);
    const [, cluster, resource] =
      /\/platformclusters\/([^/]+)\/(features\/logFetcher|assets\/manifest)/.exec(request.url ?? '') ?? [];
    if (cluster === undefined) return void response.writeHead(404).end();
    if (resource !== 'assets/manifest')
      return send(request, response, logBody(cluster), compressedLogs.get(cluster) ?? []);
    const { plain = [], inGzip = [] } = manifests[numberOf(cluster) % manifests.length] ?? {};
    return send(request, response, plain, inGzip);
  },
});

/** Compresses what will be asked for before anything is measured: a gateway has processors of its own for it. */
async function compressLogs(): Promise<void> {
  const { compresses, clusters, logBytes } = settings;
  if (!compresses) return;
  const wanted = `${clusters.length} logs of ${logBytes} bytes`;
  if (wanted === compressedFor) return;
  compressedLogs = new Map();
  for (const cluster of clusters) {
    const compressed = Readable.from(logBody(cluster)).pipe(createGzip({ level: gzipLevel }));
    compressedLogs.set(cluster, await compressed.toArray());
  }
  compressedFor = wanted;
}

function numberOf(cluster: string): number {
  return Number(/\d+$/.exec(cluster)?.[0] ?? 0);
}

/** The parts of a log record of the configured length. None of the text is copied. */
function logBody(cluster: string): Buffer[] {
  const number = numberOf(cluster);
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

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  plain: readonly Buffer[],
  inGzip: readonly Buffer[],
): Promise<void> {
  const isCompressed = settings.compresses && /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '');
  const parts = isCompressed ? inGzip : plain;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': length,
    ...(isCompressed && { 'content-encoding': 'gzip' }),
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
