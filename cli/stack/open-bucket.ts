import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import type { DeployedCollector } from './find-stack';

/** The archive of a deployed collector. */
export async function openBucket({
  archiveBucket,
  region,
}: Pick<DeployedCollector, 'archiveBucket' | 'region'>): Promise<ArchiveReader> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { S3ArchiveReader } = await import('../../lambda/verify/s3-archive-reader');
  return new S3ArchiveReader(archiveBucket, new S3Client({ region, followRegionRedirects: true }));
}
