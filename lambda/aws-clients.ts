import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Time limits of one request to AWS, in milliseconds; a silent connection must not cost the run its deadline. */
const timeLimits = { connectionTimeout: 3_000, socketTimeout: 15_000 } as const;

/** Requests per call in all. What the archive adapter sends otherwise, small objects and streams, it retries itself. */
const maxAttempts = 4;

/** @param connections to S3 at once; the SDK's own 50 would make a larger fleet of workers queue */
export function createS3Client(connections: number): S3Client {
  const agent = { keepAlive: true, maxSockets: connections };
  return new S3Client({ maxAttempts, requestHandler: { ...timeLimits, httpsAgent: agent, httpAgent: agent } });
}

export function createSecretsManagerClient(): SecretsManagerClient {
  return new SecretsManagerClient({ maxAttempts, requestHandler: timeLimits });
}
