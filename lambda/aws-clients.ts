import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** Time limits of one request to AWS, in milliseconds; a silent connection must not cost the run its deadline. */
const timeLimits = { connectionTimeout: 3_000, socketTimeout: 15_000 } as const;

/** Requests per call in all. Buffered bodies are retried here, files by the archive adapter. */
const maxAttempts = 4;

/**
 * A client for many small objects with a checksum each. Over TLS the signature covers the headers, with the checksum among
 * them, and not the body a second time.
 * @param connections to S3 at once; the SDK's own 50 would make a larger fleet of workers queue
 */
export function createS3Client(connections: number): S3Client {
  const agent = { keepAlive: true, maxSockets: connections };
  const requestHandler = { ...timeLimits, httpsAgent: agent, httpAgent: agent };
  const client = new S3Client({ maxAttempts, requestHandler });
  client.middlewareStack.add(
    (next) => (args) => {
      const { protocol, headers } = args.request as { protocol: string; headers: Record<string, string> };
      if (protocol === 'https:') headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return next(args);
    },
    { step: 'build', name: 'leaveBodyUnsigned' },
  );
  return client;
}

export function createSecretsManagerClient(): SecretsManagerClient {
  return new SecretsManagerClient({ maxAttempts, requestHandler: timeLimits });
}
