import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Job } from './measure';

const compress = promisify<Buffer, Buffer>(gzip);
const s3 = new S3Client({});

/** The first program one would write: everything at once, bodies as strings, checked with JSON.parse, stored with the SDK. */
export async function work({ clusters, resources, ...settings }: Job): Promise<void> {
  await Promise.all(
    clusters.flatMap((cluster) =>
      resources.map((resource) =>
        resource === 'log' ? archiveLog(cluster, settings) : archiveManifest(cluster, settings),
      ),
    ),
  );
}

type Settings = Omit<Job, 'clusters' | 'resources'>;

async function archiveLog(cluster: string, settings: Settings): Promise<void> {
  const response = await get(`${cluster}/features/logFetcher`, settings);
  const text = await response.text();
  const record = JSON.parse(text);
  if (typeof record.spec?.clusterUid !== 'string' || record.spec.clusterUid !== cluster)
    throw new Error(`checking the log of ${cluster} failed: it belongs to another cluster`);
  await store(`logs/cluster=${cluster}/log.json.gz`, text, 'application/json', settings);
}

async function archiveManifest(cluster: string, settings: Settings): Promise<void> {
  const response = await get(`${cluster}/assets/manifest`, settings);
  const manifest: unknown = JSON.parse(await response.text());
  if (typeof manifest !== 'string') throw new Error(`checking the manifest of ${cluster} failed: it is not a string`);
  await store(`manifests/cluster=${cluster}/manifest.txt.gz`, manifest, 'text/plain; charset=utf-8', settings);
}

async function get(path: string, { serviceUrl, apiKey }: Settings): Promise<Response> {
  const response = await fetch(`${serviceUrl}/v1/platformclusters/${path}`, {
    headers: { ApiKey: apiKey, Accept: 'application/json' },
  });
  if (!response.ok) throw new Error(`GET ${path} failed: ${response.status}`);
  return response;
}

async function store(key: string, text: string, contentType: string, { bucket }: Settings): Promise<void> {
  const content = Buffer.from(text);
  const sha256 = createHash('sha256').update(content).digest('hex');
  await s3.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: await compress(content),
      ContentType: contentType,
      ContentEncoding: 'gzip',
      ChecksumAlgorithm: 'CRC32',
      IfNoneMatch: '*',
      Metadata: { sha256, length: String(content.length) },
    }),
  );
}
