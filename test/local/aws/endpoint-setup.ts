import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalAwsOptions, startLocalAws } from '../../../local/aws/local-aws';
import { everythingPolicy } from './conformance-setup';
import { clientsOf, region } from './subject-clients';

export const accountId = '111122223333';
export const credentials = { accessKeyId: 'AKIAADMIN', secretAccessKey: 'admin-secret' };
export const secretArn = `arn:aws:secretsmanager:${region}:${accountId}:secret:api-key-AbCdEf`;

/** The endpoint over a new folder, with clients that may do everything. */
export async function startEndpoint(options: Partial<LocalAwsOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'local-aws-'));
  const aws = await startLocalAws({
    region,
    accountId,
    principals: [{ ...credentials, arn: `arn:aws:iam::${accountId}:role/admin`, policies: [everythingPolicy] }],
    buckets: [{ name: 'archive', folder }],
    secrets: [{ name: 'api-key', arn: secretArn }],
    ...options,
  });
  return {
    aws,
    folder,
    ...clientsOf(aws.url, credentials),
    async stop(): Promise<void> {
      await aws.close();
      await rm(folder, { recursive: true });
    },
  };
}
