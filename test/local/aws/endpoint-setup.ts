import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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
  const root = await mkdtemp(join(tmpdir(), 'local-aws-'));
  // Deep enough that an endpoint which let a key out of its folder would still not get out of the test's own.
  const folder = join(root, 'far', 'around', 'archive');
  await mkdir(folder, { recursive: true });
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
    /** The folder that holds the bucket's, and nothing else. */
    around: join(root, 'far', 'around'),
    ...clientsOf(aws.url, credentials),
    async stop(): Promise<void> {
      await aws.close();
      await rm(root, { recursive: true });
    },
  };
}
