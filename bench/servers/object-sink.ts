import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { serve } from './server-process';

/** How slow the archive server is, and what it verifies. */
export interface ObjectSinkSettings {
  /** Delay before each response, in milliseconds. */
  readonly latencyMs: number;
  /** Content of the secret. */
  readonly apiKey: string;
  /** Compute the checksum of each object and refuse a wrong one. It costs processor time: false while measuring. */
  readonly verify: boolean;
}

/** What the archive server counted since the last reset. */
export interface SinkStats {
  /** Objects, without run records and configurations. */
  readonly objects: number;
  /** Bytes of these objects. */
  readonly bytes: number;
  /** Objects written under the condition that none exists. */
  readonly conditional: number;
  /** Objects sent with a checksum. */
  readonly checksummed: number;
  /** Refused, because the checksum was wrong. */
  readonly wrong: number;
}

type Counts = { -readonly [name in keyof SinkStats]: number };

const zero: SinkStats = { objects: 0, bytes: 0, conditional: 0, checksummed: 0, wrong: 0 };

let settings: ObjectSinkSettings = { latencyMs: 0, apiKey: '', verify: false };
let counts: Counts = { ...zero };
let keys = new Set<string>();

/** The part of S3 and Secrets Manager that the contenders need. Bytes are counted and dropped. */
serve<ObjectSinkSettings, SinkStats>({
  reset: (next) => {
    settings = next;
    counts = { ...zero };
    keys = new Set();
  },
  stats: () => ({ ...counts }),
  answer: async (request, response) => {
    const received = await receive(request);
    if (settings.latencyMs > 0) await delay(settings.latencyMs);
    const { status, text = '', headers = {} } = answerTo(request, received);
    response.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers }).end(text);
  },
});

interface Received {
  readonly length: number;
  /** Base64; undefined where the checksum is sent behind the body. */
  readonly crc32: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const xml = { 'content-type': 'application/xml' };
const emptyList = '<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>';

function answerTo({ method, url = '/', headers }: IncomingMessage, received: Received): Answer {
  if (headers['x-amz-target'] === 'secretsmanager.GetSecretValue') return secretAnswer();
  const { pathname, searchParams } = new URL(url, 'https://sink');
  if (method === 'GET' && searchParams.has('list-type')) return { status: 200, text: emptyList, headers: xml };
  if (method === 'HEAD' || method === 'GET') return { status: 404 };
  return storeObject(pathname, headers, received);
}

function secretAnswer(): Answer {
  const secret = {
    Name: 'bench',
    ARN: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:bench',
    SecretString: settings.apiKey,
  };
  return { status: 200, text: JSON.stringify(secret), headers: { 'content-type': 'application/x-amz-json-1.1' } };
}

function storeObject(key: string, headers: IncomingHttpHeaders, { length, crc32: computed }: Received): Answer {
  const isConditional = headers['if-none-match'] === '*';
  if (keys.has(key) && isConditional) {
    const text = '<Error><Code>PreconditionFailed</Code><Message>exists</Message></Error>';
    return { status: 412, text, headers: xml };
  }
  const checksum = headers['x-amz-checksum-crc32'];
  if (settings.verify && checksum !== undefined && checksum !== computed) {
    counts.wrong += 1;
    return { status: 400, text: '<Error><Code>BadDigest</Code><Message>checksum</Message></Error>', headers: xml };
  }
  keys.add(key);
  if (!/\/(runs|configurations)\//.test(key)) {
    counts.objects += 1;
    counts.bytes += length;
    if (isConditional) counts.conditional += 1;
    if (checksum !== undefined || headers['x-amz-trailer'] !== undefined) counts.checksummed += 1;
  }
  return { status: 200, headers: { etag: '"00000000000000000000000000000000"' } };
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
