import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createGzip } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type Resource, resources } from '../../lambda/resources';
import { checkFactory } from '../../lambda/service/cluster-service';
import type { Job } from '../job';
import { measure } from './measure';

/**
 * Streams from end to end: fetch, gzip, and the SDK's Upload, which sends parts before the end of the body has arrived.
 * No library checks JSON in a stream at this speed, so it uses our check. The hash is ready too late for the object's
 * metadata.
 */
const s3 = new S3Client({ requestHandler: { httpsAgent: { maxSockets: 256 } } });

void measure(async (job) => {
  const tasks = job.clusters.flatMap((cluster) => job.resources.map((resource) => [cluster, resource] as const));
  const queue = tasks.values();
  const worker = async () => {
    for (const [cluster, resource] of queue) await archive(cluster, resource, job);
  };
  await Promise.all(Array.from({ length: job.concurrency }, worker));
});

async function archive(cluster: string, resource: Resource, job: Job): Promise<void> {
  const { serviceUrl, apiKey, bucket, level } = job;
  const response = await fetch(`${serviceUrl}/v1/platformclusters/${cluster}/${resources[resource].path}`, {
    headers: { ApiKey: apiKey, Accept: 'application/json' },
  });
  if (!response.ok || response.body === null) throw new Error(`GET ${resource} of ${cluster} failed`);
  const check = checkFactory({ cluster, resource }, false)(response.headers.get('content-type') ?? undefined);
  const hash = createHash('sha256');
  const gzip = createGzip({ level });
  const received = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
  const checked = pipeline(
    received,
    async function* (source: AsyncIterable<Uint8Array>) {
      for await (const chunk of source) {
        const content = check.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        hash.update(content);
        yield content;
      }
      check.end();
    },
    gzip,
  );
  const upload = new Upload({
    client: s3,
    params: {
      Bucket: bucket,
      Key: `${resource}s/cluster=${cluster}/${resource}.gz`,
      Body: gzip,
      ContentType: 'application/json',
      ContentEncoding: 'gzip',
      ChecksumAlgorithm: 'CRC32',
      IfNoneMatch: '*',
    },
  });
  await Promise.all([upload.done(), checked]);
  hash.digest('hex');
}
