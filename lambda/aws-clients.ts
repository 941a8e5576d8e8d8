import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Time limits of one request to AWS, in milliseconds; a silent connection must not cost the run its deadline. */
export const timeLimits = { connectionTimeout: 3_000, socketTimeout: 15_000 } as const;

/** Requests per call in all. What the archive adapter puts it retries itself. */
export const maxAttempts = 4;

const silent = () => undefined;

/**
 * @param connections to S3 at once; the SDK's own 50 would make a larger fleet of workers queue
 * @param onWarning gets what the SDK would write to the console
 * @param target which S3 is called as whom, for tests; left out: what the environment says
 */
export function createS3Client(
  connections: number,
  onWarning: (warning: string) => void,
  target: Pick<S3ClientConfig, 'endpoint' | 'region' | 'credentials'> = {},
): S3Client {
  const agent = { keepAlive: true, maxSockets: connections };
  const requestHandler = { ...timeLimits, httpsAgent: agent, httpAgent: agent };
  const warn = (said: unknown) => onWarning(String(said));
  const logger = { trace: silent, debug: silent, info: silent, warn, error: silent };
  return new S3Client({ ...target, maxAttempts, requestHandler, logger });
}

export function createSecretsManagerClient(): SecretsManagerClient {
  return new SecretsManagerClient({ maxAttempts, requestHandler: timeLimits });
}
