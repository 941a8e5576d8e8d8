import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { RawClient, type RawCredentials } from './raw-request';

export const region = 'eu-central-1';

/** The real clients, pointed at an endpoint; one attempt each, so that every answer is seen. */
export function clientsOf(endpoint: string, credentials: RawCredentials) {
  // What the clients advise about streams is no concern of the tests.
  const quiet = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
  const options = { endpoint, region, credentials, maxAttempts: 1, logger: quiet };
  return {
    s3: new S3Client({ ...options, forcePathStyle: true }),
    secrets: new SecretsManagerClient(options),
    raw: new RawClient(endpoint, region, credentials),
  };
}

function ignore(): void {}
