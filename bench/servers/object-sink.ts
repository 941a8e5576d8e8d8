import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '../workload';

/** What was counted since the server was reset, without run records and configurations. */
export interface SinkStats {
  objects: number;
  /** Bytes that were received. */
  storedBytes: number;
  /** Objects written under the condition that none exists. */
  conditional: number;
  /** Objects sent with a checksum. */
  checksummed: number;
}

let job: Job;
let keys: Set<string>;

export let counts: SinkStats;

export function resetSink(next: Job): void {
  job = next;
  keys = new Set();
  counts = { objects: 0, storedBytes: 0, conditional: 0, checksummed: 0 };
}

/** Answers as the part of S3 and Secrets Manager that the contenders need. Bytes are counted and dropped. */
export async function answerAsSink(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
  });
  await once(request, 'end');
  if (job.sinkLatencyMs > 0) await delay(job.sinkLatencyMs);
  const [status, text = '', type = 'application/xml'] = answerTo(
    request,
    Number(request.headers['x-amz-decoded-content-length'] ?? length),
  );
  const headers = { 'content-length': Buffer.byteLength(text), 'content-type': type };
  response.writeHead(status, { ...headers, etag: '"00000000000000000000000000000000"' }).end(text);
}

type Answer = readonly [status: number, text?: string, type?: string];

const secret = { Name: 'bench', ARN: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:bench' };
const emptyList = '<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>';

function answerTo({ method, url = '/', headers }: IncomingMessage, length: number): Answer {
  if (headers['x-amz-target'] === 'secretsmanager.GetSecretValue')
    return [200, JSON.stringify({ ...secret, SecretString: job.apiKey }), 'application/json'];
  const { pathname: key, searchParams } = new URL(url, 'https://sink');
  if (method === 'GET' && searchParams.has('list-type')) return [200, emptyList];
  if (method === 'HEAD' || method === 'GET') return [404];
  const isConditional = headers['if-none-match'] === '*';
  if (keys.has(key) && isConditional)
    return [412, '<Error><Code>PreconditionFailed</Code><Message>exists</Message></Error>'];
  keys.add(key);
  if (/\/(runs|configurations)\//.test(key)) return [200];
  counts.objects += 1;
  counts.storedBytes += length;
  if (isConditional) counts.conditional += 1;
  // A checksum that is sent behind the body is announced as a trailer.
  if (headers['x-amz-checksum-crc32'] !== undefined || headers['x-amz-trailer'] !== undefined) counts.checksummed += 1;
  return [200];
}
