import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Time limits of one request to AWS, in milliseconds; a silent connection must not cost the run its deadline. */
const timeLimits = { connectionTimeout: 3_000, socketTimeout: 15_000 } as const;

/** Requests per call in all. What the archive adapter sends otherwise, small objects and streams, it retries itself. */
const maxAttempts = 4;

/** What the SDK says of a stream that it does not send again, as it does at every 412: the archive adapter does, or has to not. */
const untrue = 'An error was encountered in a non-retryable streaming request.';

const silent = () => undefined;

/**
 * @param connections to S3 at once; the SDK's own 50 would make a larger fleet of workers queue
 * @param onWarning gets what the SDK would write to the console
 */
export function createS3Client(connections: number, onWarning: (warning: string) => void): S3Client {
  const agent = { keepAlive: true, maxSockets: connections };
  const requestHandler = { ...timeLimits, httpsAgent: agent, httpAgent: agent };
  const warn = (said: unknown) => (said === untrue ? undefined : onWarning(String(said)));
  const logger = { trace: silent, debug: silent, info: silent, warn, error: silent };
  return new S3Client({ maxAttempts, requestHandler, logger });
}

export function createSecretsManagerClient(): SecretsManagerClient {
  return new SecretsManagerClient({ maxAttempts, requestHandler: timeLimits });
}
