import { S3Client } from '@aws-sdk/client-s3';
import { verifyArchive } from '../../archive/prove';
import { FolderArchiveReader } from '../../archive/read';
import { S3ArchiveReader } from '../../archive/read/s3-archive-reader';
import type { Job } from '../workload';

/** What `collector verify` does. */
export async function work({ bucket, concurrency, archiveFolder }: Job): Promise<void> {
  const reader =
    archiveFolder === undefined
      ? new S3ArchiveReader(bucket, new S3Client({}))
      : new FolderArchiveReader(archiveFolder);
  const now = new Date('2026-11-22T00:00:00Z');
  const { findings } = await verifyArchive(reader, { to: now, now, concurrency });
  if (findings.length > 0) throw new Error(`reading back found ${JSON.stringify(findings[0])}`);
}
