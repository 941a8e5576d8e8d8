import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalAws, startLocalAws } from '../../../local/aws/local-aws';
import { conformanceChecks, type Subject } from './conformance';
import { clientsOf, everythingPolicy, guardedBucketPolicy, region, writerPolicy } from './endpoint-setup';

const accountId = '111122223333';
const admin = { accessKeyId: 'AKIAADMIN', secretAccessKey: 'admin-secret', sessionToken: 'admin-token' };
const writer = { accessKeyId: 'AKIAWRITER', secretAccessKey: 'writer-secret' };
const secret = {
  name: 'stage/api-key',
  arn: `arn:aws:secretsmanager:${region}:${accountId}:secret:stage/api-key-AbCdEf`,
  value: 's3cret',
};

describe('the embedded endpoint', () => {
  let folder: string;
  let aws: LocalAws;
  let subject: Subject;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'local-aws-'));
    aws = await startLocalAws({
      region,
      accountId,
      principals: [
        { ...admin, arn: `arn:aws:iam::${accountId}:role/admin`, policies: [everythingPolicy] },
        { ...writer, arn: `arn:aws:iam::${accountId}:role/writer`, policies: [writerPolicy('archive')] },
      ],
      buckets: [
        { name: 'archive', folder: join(folder, 'archive') },
        { name: 'guarded', folder: join(folder, 'guarded'), policy: guardedBucketPolicy('guarded') },
      ],
      secrets: [secret, { name: 'empty', arn: `arn:aws:secretsmanager:${region}:${accountId}:secret:empty-AbCdEf` }],
    });
    const clients = clientsOf(aws.url, admin);
    const { s3, secrets } = clientsOf(aws.url, writer);
    subject = {
      region,
      credentials: admin,
      bucket: 'archive',
      guardedBucket: 'guarded',
      ...clients,
      writer: s3,
      writerSecrets: secrets,
      secret,
      emptySecret: 'empty',
    };
  });

  afterAll(async () => {
    await aws.close();
    await rm(folder, { recursive: true });
  });

  it.each(Object.entries(conformanceChecks))('%s', async (_sentence, check) => {
    await check(subject);
  });
});
