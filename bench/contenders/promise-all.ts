import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type Resource, resources } from '../../archive/format/resources';
import type { Job } from '../workload';

const compress = promisify<Buffer, Buffer>(gzip);
const s3 = new S3Client({});

/** The first program one would write: everything at once, bodies as strings, checked with JSON.parse, stored with the SDK. */
export async function work(job: Job): Promise<void> {
  await Promise.all(job.clusters.flatMap((cluster) => job.resources.map((name) => archive(cluster, name, job))));
}

async function archive(cluster: string, name: Resource, { serviceUrl, apiKey, bucket }: Job): Promise<void> {
  const { path, folder, extension, contentType, holdsLog } = resources[name];
  const response = await fetch(`${serviceUrl}/v1/platformclusters/${cluster}/${path}`, {
    headers: { ApiKey: apiKey, Accept: 'application/json' },
  });
  if (!response.ok) throw new Error(`GET ${path} of ${cluster} failed: ${response.status}`);
  const text = await response.text();
  const body = JSON.parse(text);
  if (holdsLog && body.spec?.clusterUid !== cluster)
    throw new Error(`checking the ${name} of ${cluster} failed: it belongs to another cluster`);
  if (!holdsLog && typeof body !== 'string')
    throw new Error(`checking the ${name} of ${cluster} failed: it is not a string`);
  const content = Buffer.from(holdsLog ? text : body);
  await s3.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: `${folder}/cluster=${cluster}/${name}.${extension}.gz`,
      Body: await compress(content),
      ContentType: contentType,
      ContentEncoding: 'gzip',
      ChecksumAlgorithm: 'CRC32',
      IfNoneMatch: '*',
      Metadata: { sha256: createHash('sha256').update(content).digest('hex'), length: String(content.length) },
    }),
  );
}
