import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Transform } from 'node:stream';
import { crc32, createGunzip, gunzipSync } from 'node:zlib';
import { bodyChecks } from '../../lambda/body/body-checks';
import { createGzipStream, gzipShort } from '../../lambda/body/compress';
import { type Resource, resources } from '../../lambda/resources';
import type { Job } from '../workload';
import { RawConnection, signedHead } from './raw-http';

/**
 * The floor: what the same check, hash, compression, signature and checksum cost with nothing between them and the
 * socket. It does not retry, has no time limits, and ends with the first error.
 */
export async function work(job: Job): Promise<void> {
  const ca = readFileSync(job.caFile, 'utf8');
  const queue = job.clusters.flatMap((cluster) => job.resources.map((name) => [cluster, name] as const));
  const tasks = queue.values();
  const worker = async () => {
    const service = new RawConnection(new URL(job.serviceUrl), ca);
    const sink = new RawConnection(new URL(job.awsUrl), ca);
    for (const [cluster, resource] of tasks) await archive(cluster, resource, job, service, sink);
  };
  await Promise.all(Array.from({ length: Math.min(job.concurrency, queue.length) }, worker));
}

async function archive(
  cluster: string,
  resource: Resource,
  { serviceUrl, awsUrl, apiKey, bucket }: Job,
  service: RawConnection,
  sink: RawConnection,
): Promise<void> {
  const check = bodyChecks[resource]({ cluster, mediaType: 'application/json', asReceived: false });
  const hash = createHash('sha256');
  const compressed: Buffer[] = [];
  const compressor = createCoder(gzip, 256 * 1024, (part) => compressed.push(part));
  /** The answer in gzip. A log is stored as it came. */
  const coded: Buffer[] = [];
  const keepsCoded = () => coded.length > 0 && check.isAsReceived;
  const take = (part: Buffer) => {
    const content = check.write(part);
    hash.update(content);
    if (!keepsCoded()) compressor.add(content);
  };
  const decoder = createCoder(gunzip, 64 * 1024, take);
  const head = `GET /v1/platformclusters/${cluster}/${resources[resource].path} HTTP/1.1\r\nhost: ${new URL(serviceUrl).host}\r\napikey: ${apiKey}\r\naccept: application/json\r\naccept-encoding: gzip\r\n\r\n`;
  const status = await service.request([head], (part, isGzip) => {
    if (isGzip) coded.push(part);
    if (isGzip) decoder.add(part);
    else take(part);
  });
  if (status !== 200) throw new Error(`GET ${resource} of ${cluster} failed: ${status}`);
  if (coded.length > 0) await decoder.end();
  check.end();
  if (!keepsCoded()) await compressor.end();
  const content = keepsCoded() ? coded : compressed;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(content.reduce((sum, part) => crc32(part, sum), 0));
  const headers = {
    'content-length': String(content.reduce((sum, part) => sum + part.length, 0)),
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'if-none-match': '*',
    'x-amz-checksum-crc32': checksum.toString('base64'),
    'x-amz-meta-sha256': hash.digest('hex'),
  };
  const path = `/${bucket}/${resource}s/cluster=${cluster}/${resource}`;
  const put = signedHead('PUT', new URL(awsUrl).host, path, headers, new Date());
  const stored = await sink.request([put, ...content], () => undefined);
  if (stored !== 200) throw new Error(`PUT ${resource} of ${cluster} failed: ${stored}`);
}

/** One direction of gzip. */
interface Coding {
  all(content: Buffer): Buffer;
  stream(): Transform;
}

const gzip: Coding = { all: gzipShort, stream: createGzipStream };
const gunzip: Coding = {
  all: (coded) => gunzipSync(coded, { chunkSize: Math.max(1024, coded.readUInt32LE(coded.length - 4) + 1) }),
  stream: () => createGunzip({ chunkSize: 256 * 1024 }),
};

/** Works like the function's own: codes content at once if it is short, and in pieces in zlib's thread pool if it is long. */
function createCoder({ all, stream }: Coding, pieceBytes: number, onOutput: (part: Buffer) => void) {
  let long: Transform | undefined;
  let parts: Buffer[] = [];
  let length = 0;
  const takePiece = () => {
    const [first = Buffer.alloc(0), ...others] = parts;
    const piece = others.length === 0 ? first : Buffer.concat(parts, length);
    parts = [];
    length = 0;
    return piece;
  };
  return {
    add(part: Buffer): void {
      parts.push(part);
      length += part.length;
      if (length < pieceBytes) return;
      long ??= stream().on('data', onOutput);
      long.write(takePiece());
    },
    async end(): Promise<void> {
      if (long === undefined) return onOutput(all(takePiece()));
      long.end(takePiece());
      await once(long, 'end');
    },
  };
}
