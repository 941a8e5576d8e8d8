import { ArchiveReadError, type ArchiveReader } from './archive-reader';

/**
 * The archive in a bucket.
 * @param region left out: that of the environment or of the profile
 * @throws ArchiveReadError if no region is set
 */
export async function openBucket(bucket: string, region?: string): Promise<ArchiveReader> {
  // Loading the SDK takes longer than most commands take on a folder.
  const { S3ArchiveReader } = await import('./s3-archive-reader');
  const { S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ ...(region && { region }), followRegionRedirects: true });
  await client.config.region().catch((cause: Error) => {
    const act = 'set AWS_REGION, or AWS_PROFILE to a profile with a region';
    throw new ArchiveReadError(`Opening the archive s3://${bucket} failed: ${cause.message}; ${act}`, { cause });
  });
  return new S3ArchiveReader(bucket, client);
}
