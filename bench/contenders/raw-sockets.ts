import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { type Resource, resources } from '../../lambda/resources';
import { checkFactory } from '../../lambda/service/fetch-resource';
import type { Job } from '../job';
import { Gunzip } from './gunzip';
import { measure } from './measure';
import { RawConnection } from './raw-connection';
import { signedPut } from './signed-put';

/**
 * The floor: what the same check, hash, compression, signature and checksum cost with nothing between them and the
 * socket. It does not retry, has no time limits, and ends with the first error.
 */
void measure(async (job) => {
  const ca = readFileSync(job.caFile, 'utf8');
  const queue = job.clusters.flatMap((cluster) => job.resources.map((name) => [cluster, name] as const));
  const tasks = queue.values();
  const worker = async () => {
    const service = new RawConnection(new URL(job.serviceUrl), ca);
    const sink = new RawConnection(new URL(job.awsUrl), ca);
    for (const [cluster, resource] of tasks) await archive(cluster, resource, job, service, sink);
  };
  await Promise.all(Array.from({ length: Math.min(job.concurrency, queue.length) }, worker));
});

/** Received parts are joined to pieces of this length before they are hashed and compressed. */
const pieceBytes = 256 * 1024;

async function archive(
  cluster: string,
  resource: Resource,
  { serviceUrl, awsUrl, apiKey, bucket, compression, level }: Job,
  service: RawConnection,
  sink: RawConnection,
): Promise<void> {
  const check = checkFactory({ cluster, resource }, false)('application/json');
  const hash = createHash('sha256');
  const compressor = compressorOf(compression, level);
  let pieces: Buffer[] = [];
  let length = 0;
  const gunzip = new Gunzip(take);
  /** A log in gzip is stored as it came, in an archive of gzip. */
  const coded: Buffer[] = [];
  const keepsCoded = () => coded.length > 0 && resource === 'log' && compression === 'gzip';
  function take(part: Buffer): void {
    const content = check.write(part);
    if (keepsCoded()) {
      hash.update(content);
      return;
    }
    pieces.push(content);
    length += content.length;
    if (length >= pieceBytes) compressor.add(flush());
  }
  const flush = () => {
    const piece = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    pieces = [];
    length = 0;
    hash.update(piece);
    return piece;
  };
  const head = `GET /v1/platformclusters/${cluster}/${resources[resource].path} HTTP/1.1\r\nhost: ${new URL(serviceUrl).host}\r\napikey: ${apiKey}\r\naccept: application/json\r\naccept-encoding: gzip\r\n\r\n`;
  const status = await service.request([head], (part, isGzip) => {
    if (!isGzip) {
      take(part);
      return;
    }
    coded.push(part);
    gunzip.add(part);
  });
  if (status !== 200) throw new Error(`GET ${resource} of ${cluster} failed: ${status}`);
  if (coded.length > 0) await gunzip.end();
  check.end();
  const content = keepsCoded() ? coded : await compressor.end(flush());
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(content.reduce((sum, part) => zlib.crc32(part, sum), 0));
  const headers = {
    'content-length': String(content.reduce((sum, part) => sum + part.length, 0)),
    'content-type': 'application/json',
    'content-encoding': compression,
    'if-none-match': '*',
    'x-amz-checksum-crc32': crc.toString('base64'),
    'x-amz-meta-sha256': hash.digest('hex'),
  };
  const put = signedPut(
    new URL(awsUrl).host,
    `/${bucket}/${resource}s/cluster=${cluster}/${resource}`,
    headers,
    new Date(),
  );
  const stored = await sink.request([put, ...content], () => undefined);
  if (stored !== 200) throw new Error(`PUT ${resource} of ${cluster} failed: ${stored}`);
}

/** Works like the function's own: compresses short content whole and long content as a stream, in zlib's thread pool. */
function compressorOf(compression: Job['compression'], level: number) {
  const chunkSize = 64 * 1024;
  const zstd = { chunkSize, params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
  const isGzip = compression === 'gzip';
  let stream: zlib.Gzip | zlib.ZstdCompress | undefined;
  const out: Buffer[] = [];
  return {
    add(piece: Buffer): void {
      if (stream === undefined) {
        stream = isGzip ? zlib.createGzip({ level, chunkSize }) : zlib.createZstdCompress(zstd);
        stream.on('data', (part: Buffer) => out.push(part));
      }
      stream.write(piece);
    },
    async end(piece: Buffer): Promise<readonly Buffer[]> {
      if (stream !== undefined) {
        stream.end(piece);
        await once(stream, 'end');
        return out;
      }
      return [await (isGzip ? gzip(piece, { level, chunkSize }) : promisify(zlib.zstdCompress)(piece, zstd))];
    },
  };
}

const gzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);
