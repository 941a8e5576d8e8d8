import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32, gunzipSync } from 'node:zlib';
import { checksumText } from '../../archive/format/object-headers';
import { type Resource, resources } from '../../archive/format/resources';
import { bodyChecks } from '../../lambda/collect/body/body-checks';
import { gzipShort } from '../../lambda/collect/body/compress';
import type { Job } from '../workload';
import { RawConnection, signedHead } from './raw-http';

/**
 * The floor: the processor time that the same check, hash, compression, signature and checksum cost with nothing between
 * them and the socket. It holds a body whole, does not retry, has no time limits, and ends with the first error.
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
  const head = `GET /v1/platformclusters/${cluster}/${resources[resource].path} HTTP/1.1\r\nhost: ${new URL(serviceUrl).host}\r\napikey: ${apiKey}\r\naccept: application/json\r\naccept-encoding: gzip\r\n\r\n`;
  const { status, isGzip, body } = await service.request([head]);
  if (status !== 200) throw new Error(`GET ${resource} of ${cluster} failed: ${status}`);
  const check = bodyChecks[resource]({ cluster, mediaType: 'application/json', asReceived: false });
  const content = check.write(isGzip ? gunzip(body) : body);
  check.end();
  // A log in gzip is stored as it came.
  const stored = isGzip && check.isAsReceived ? body : gzipShort(content);
  const headers = {
    'content-length': String(stored.length),
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'if-none-match': '*',
    'x-amz-checksum-crc32': checksumText(crc32(stored)),
    'x-amz-meta-sha256': createHash('sha256').update(content).digest('hex'),
  };
  const path = `/${bucket}/${resource}s/cluster=${cluster}/${resource}`;
  const put = signedHead('PUT', new URL(awsUrl).host, path, headers, new Date());
  const answer = await sink.request([put, stored]);
  if (answer.status !== 200) throw new Error(`PUT ${resource} of ${cluster} failed: ${answer.status}`);
}

/** Into one buffer of the length that the coded content declares. */
function gunzip(coded: Buffer): Buffer {
  return gunzipSync(coded, { chunkSize: Math.max(1024, coded.readUInt32LE(coded.length - 4) + 1) });
}
