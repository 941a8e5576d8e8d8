import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

const s3 = new S3Client({});
export const secrets = new SecretsManagerClient({});

/** One object through the SDK alone. */
export function putOnce(): Promise<unknown> {
  return s3.send(
    new PutObjectCommand({
      Bucket: process.env.ARCHIVE_BUCKET,
      Key: 'logs/one',
      Body: Buffer.alloc(25_000, 'a log '),
      ContentType: 'application/json',
      ChecksumAlgorithm: 'CRC32',
      IfNoneMatch: '*',
    }),
  );
}
