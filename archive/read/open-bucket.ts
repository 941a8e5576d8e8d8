import type { S3Client } from '@aws-sdk/client-s3';
import { ArchiveReadError, type ArchiveReader } from './archive-reader';
import { endSilence } from './end-silence';
import { regionHint } from './region-hint';

/**
 * Time limits of one request, in milliseconds: until it is connected, until its answer begins, and without a byte of the answer.
 * The SDK sends it three times.
 */
const timeLimits = { connectionTimeout: 10_000, requestTimeout: 30_000, silence: 30_000 };

/**
 * The archive in a bucket.
 * @param region left out: that of the environment or of the profile
 * @throws ArchiveReadError if no region is set
 */
export async function openBucket(bucket: string, region?: string, limits = timeLimits): Promise<ArchiveReader> {
  // Loading the SDK takes longer than most commands take on a folder.
  const { S3ArchiveReader } = await import('./s3-archive-reader');
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { silence, ...requestLimits } = limits;
  const requestHandler = { ...requestLimits, throwOnRequestTimeout: true };
  const client = new S3Client({ ...(region && { region }), followRegionRedirects: true, requestHandler });
  await client.config.region().catch((cause: Error) => {
    const act = 'set AWS_REGION, or AWS_PROFILE to a profile with a region';
    throw new ArchiveReadError(`Opening the archive s3://${bucket} failed: ${cause.message}; ${act}`, { cause });
  });
  endSilence(client, silence);
  explainRegion(client);
  return new S3ArchiveReader(bucket, client);
}

/** Says so of a request that failed because there is no such region. */
function explainRegion({ middlewareStack }: S3Client): void {
  middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        const hint = await regionHint(error);
        if (hint !== undefined) (error as Error).message += `; ${hint}`;
        throw error;
      }
    },
    { step: 'initialize', name: 'explainRegion' },
  );
}
