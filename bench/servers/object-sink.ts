import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { serve } from './serve';

/** How fast the sink is and how closely it looks. */
export interface ObjectSinkSettings {
  /** Wait before each answer, in milliseconds. */
  readonly latencyMs: number;
  /** What the secret holds. */
  readonly apiKey: string;
  /** Computes the checksum of each whole object and refuses a wrong one. Costs processor time, so not while measuring. */
  readonly verify: boolean;
}

/** What the sink saw since its last reset. */
export interface SinkStats {
  /** Objects that are no run records. */
  readonly objects: number;
  /** Their bytes. */
  readonly bytes: number;
  /** Of the objects: written under the condition that none exists. */
  readonly conditional: number;
  /** Of the objects: sent with a checksum. */
  readonly checksummed: number;
  readonly conflicts: number;
  readonly wrong: number;
}

const nothing: SinkStats = { objects: 0, bytes: 0, conditional: 0, checksummed: 0, conflicts: 0, wrong: 0 };

let settings: ObjectSinkSettings = { latencyMs: 0, apiKey: '', verify: false };
let stats = nothing;
let keys = new Set<string>();
let parts = new Map<string, number>();

/** S3 and Secrets Manager as far as the contenders need them: bytes are counted and dropped. */
serve({
  reset: (next) => {
    settings = next as ObjectSinkSettings;
    stats = nothing;
    keys = new Set();
    parts = new Map();
  },
  stats: () => ({ ...stats }),
  answer: async (request, response) => {
    const url = new URL(request.url ?? '/', 'https://sink');
    const key = url.pathname;
    const upload = url.searchParams.get('uploadId');
    const { length, crc } = await body(request);
    if (settings.latencyMs > 0) await delay(settings.latencyMs);
    const respond = (status: number, text = '', headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers }).end(text);
    const target = request.headers['x-amz-target'];
    if (target === 'secretsmanager.GetSecretValue') {
      const secret = {
        Name: 'bench',
        ARN: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:bench',
        SecretString: settings.apiKey,
      };
      return respond(200, JSON.stringify(secret), { 'content-type': 'application/x-amz-json-1.1' });
    }
    if (request.method === 'GET' && url.searchParams.has('list-type')) return respond(200, emptyList, xml);
    if (request.method === 'HEAD' || request.method === 'GET') return respond(404);
    if (request.method === 'POST' && url.searchParams.has('uploads'))
      return respond(
        200,
        `<InitiateMultipartUploadResult><UploadId>${keys.size}-${parts.size}</UploadId></InitiateMultipartUploadResult>`,
        xml,
      );
    if (request.method === 'PUT' && upload !== null) {
      parts.set(upload, (parts.get(upload) ?? 0) + length);
      return respond(200, '', { etag: '"part"' });
    }
    if (keys.has(key) && request.headers['if-none-match'] === '*') {
      stats = { ...stats, conflicts: stats.conflicts + 1 };
      return respond(412, '<Error><Code>PreconditionFailed</Code><Message>exists</Message></Error>', xml);
    }
    const checksum = request.headers['x-amz-checksum-crc32'];
    if (settings.verify && checksum !== undefined && checksum !== crc) {
      stats = { ...stats, wrong: stats.wrong + 1 };
      return respond(400, '<Error><Code>BadDigest</Code><Message>checksum</Message></Error>', xml);
    }
    keys.add(key);
    if (!key.includes('/runs/')) {
      const isChecked = checksum !== undefined || request.headers['x-amz-trailer'] !== undefined || upload !== null;
      stats = {
        ...stats,
        objects: stats.objects + 1,
        bytes: stats.bytes + (upload === null ? length : (parts.get(upload) ?? 0)),
        conditional: stats.conditional + (request.headers['if-none-match'] === '*' ? 1 : 0),
        checksummed: stats.checksummed + (isChecked ? 1 : 0),
      };
    }
    if (upload !== null)
      return respond(200, '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>', xml);
    return respond(200, '', { etag: '"00000000000000000000000000000000"' });
  },
});

const xml = { 'content-type': 'application/xml' };
const emptyList = '<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>';

async function body(request: IncomingMessage): Promise<{ length: number; crc: string | undefined }> {
  let length = 0;
  let crc = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (settings.verify) crc = crc32(chunk, crc);
  });
  await once(request, 'end');
  const decoded = request.headers['x-amz-decoded-content-length'];
  if (typeof decoded === 'string') return { length: Number(decoded), crc: undefined };
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return { length, crc: bytes.toString('base64') };
}
