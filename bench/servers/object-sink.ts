import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { ServerSettings, SinkStats } from './start-servers';

const zero: SinkStats = { objects: 0, storedBytes: 0, conditional: 0, checksummed: 0, wrong: 0 };

let settings: ServerSettings;
let keys = new Set<string>();

export let counts: { -readonly [name in keyof SinkStats]: number } = { ...zero };

export function resetSink(next: ServerSettings): void {
  settings = next;
  counts = { ...zero };
  keys = new Set();
}

/** Answers as the part of S3 and Secrets Manager that the contenders need. Bytes are counted and dropped. */
export async function answerAsSink(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const received = await receive(request);
  if (settings.sinkLatencyMs > 0) await delay(settings.sinkLatencyMs);
  const { status, text = '', type = 'application/xml' } = answerTo(request, received);
  const headers = { 'content-length': Buffer.byteLength(text), 'content-type': type };
  response.writeHead(status, { ...headers, etag: '"00000000000000000000000000000000"' }).end(text);
}

interface Received {
  readonly length: number;
  /** Base64; undefined where the checksum is sent behind the body. */
  readonly crc32: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly text?: string;
  readonly type?: string;
}

const emptyList = '<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>';
const secret = { Name: 'bench', ARN: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:bench' };

function answerTo({ method, url = '/', headers }: IncomingMessage, received: Received): Answer {
  if (headers['x-amz-target'] === 'secretsmanager.GetSecretValue')
    return {
      status: 200,
      text: JSON.stringify({ ...secret, SecretString: settings.apiKey }),
      type: 'application/json',
    };
  const { pathname, searchParams } = new URL(url, 'https://sink');
  if (method === 'GET' && searchParams.has('list-type')) return { status: 200, text: emptyList };
  if (method === 'HEAD' || method === 'GET') return { status: 404 };
  return storeObject(pathname, headers, received);
}

function storeObject(key: string, headers: IncomingHttpHeaders, { length, crc32: computed }: Received): Answer {
  const isConditional = headers['if-none-match'] === '*';
  if (keys.has(key) && isConditional)
    return { status: 412, text: '<Error><Code>PreconditionFailed</Code><Message>exists</Message></Error>' };
  const checksum = headers['x-amz-checksum-crc32'];
  if (settings.verify && checksum !== undefined && checksum !== computed) {
    counts.wrong += 1;
    return { status: 400, text: '<Error><Code>BadDigest</Code><Message>checksum</Message></Error>' };
  }
  keys.add(key);
  if (!/\/(runs|configurations)\//.test(key)) {
    counts.objects += 1;
    counts.storedBytes += length;
    if (isConditional) counts.conditional += 1;
    if (checksum !== undefined || headers['x-amz-trailer'] !== undefined) counts.checksummed += 1;
  }
  return { status: 200 };
}

async function receive(request: IncomingMessage): Promise<Received> {
  let length = 0;
  let crc = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (settings.verify) crc = crc32(chunk, crc);
  });
  await once(request, 'end');
  const decoded = request.headers['x-amz-decoded-content-length'];
  if (typeof decoded === 'string') return { length: Number(decoded), crc32: undefined };
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return { length, crc32: bytes.toString('base64') };
}
