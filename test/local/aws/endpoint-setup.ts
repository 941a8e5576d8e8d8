import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import type { LocalAwsOptions } from '../../../local/aws/aws-endpoint';
import { rolePolicySchema } from '../../../local/aws/iam/policy-document';
import { startLocalAws } from '../../../local/aws/local-aws';
import { newFolder } from '../../support/new-folder';

export const region = 'eu-central-1';
export const accountId = '111122223333';
/** The caller that may do everything. */
export const admin = { accessKeyId: 'AKIAADMIN', secretAccessKey: 'admin-secret', sessionToken: 'admin-token' };
const secretArn = `arn:aws:secretsmanager:${region}:${accountId}:secret:api-key-AbCdEf`;

/** The endpoint over a new folder, with clients that may do everything. */
export async function startEndpoint(options: Partial<LocalAwsOptions> = {}) {
  const root = newFolder();
  const folder = join(root, 'archive');
  await mkdir(folder, { recursive: true });
  const aws = await startLocalAws({
    region,
    principals: [{ ...admin, arn: `arn:aws:iam::${accountId}:role/admin`, policies: [everythingPolicy] }],
    buckets: [{ name: 'archive', folder }],
    secrets: [{ arn: secretArn }],
    ...options,
  });
  return {
    aws,
    folder,
    ...clientsOf(aws.url, admin),
    async stop(): Promise<void> {
      await aws.close();
      await rm(root, { recursive: true });
    },
  };
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The real clients, pointed at an endpoint; one attempt each, so that every answer is seen. */
export function clientsOf(endpoint: string, credentials: Credentials, place = region) {
  // The clients log advice about streams, which the tests do not need.
  const quiet = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
  const options = { endpoint, region: place, credentials, maxAttempts: 1, logger: quiet };
  return {
    s3: new S3Client({ ...options, forcePathStyle: true }),
    secrets: new SecretsManagerClient(options),
    kms: new KMSClient(options),
    sns: new SNSClient(options),
  };
}

function ignore(): void {}

/** Of the caller that may do everything. */
export const everythingPolicy = rolePolicySchema.parse({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }],
});
