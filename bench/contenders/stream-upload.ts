import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createGzip } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Resource } from '../../lambda/resources';
import { checkFactory } from '../../lambda/service/fetch-resource';
import type { Assignment } from '../assignment';
import { measure } from './measure';

/**
 * Streams end to end: fetch, gzip and the SDK's Upload, which sends parts before the body's end is known. No library
 * checks JSON on the way at this speed, so it is given our check; the hash comes too late for the object's metadata.
 */
const s3 = new S3Client({ requestHandler: { httpsAgent: { maxSockets: 256 } } });

const paths = { log: 'features/logFetcher', manifest: 'assets/manifest' } as const;

void measure(async (assignment) => {
  const tasks = assignment.clusters.flatMap((cluster) =>
    assignment.resources.map((resource) => [cluster, resource] as const),
  );
  const queue = tasks.values();
  const worker = async () => {
    for (const [cluster, resource] of queue) await archive(cluster, resource, assignment);
  };
  await Promise.all(Array.from({ length: assignment.concurrency }, worker));
});

async function archive(cluster: string, resource: Resource, assignment: Assignment): Promise<void> {
  const { serviceUrl, apiKey, bucket, level } = assignment;
  const response = await fetch(`${serviceUrl}/v1/platformclusters/${cluster}/${paths[resource]}`, {
    headers: { ApiKey: apiKey, Accept: 'application/json' },
  });
  if (!response.ok || response.body === null) throw new Error(`GET ${resource} of ${cluster} failed`);
  const check = checkFactory({ cluster, resource }, false)(response.headers.get('content-type') ?? undefined);
  const hash = createHash('sha256');
  const gzip = createGzip({ level: level });
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
