import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicyDocument } from '../../../local/aws/iam/policy-document';
import { type LocalAws, startLocalAws } from '../../../local/aws/local-aws';
import { conformanceChecks, type Subject, subjectAt } from './conformance';
import {
  accountId,
  admin,
  everythingPolicy,
  guardedBucketPolicy,
  region,
  writer,
  writerPolicy,
} from './endpoint-setup';

const secret = {
  name: 'stage/api-key',
  arn: `arn:aws:secretsmanager:${region}:${accountId}:secret:stage/api-key-AbCdEf`,
  value: 's3cret',
};

const signingKey = `arn:aws:kms:${region}:${accountId}:key/0a1b2c3d-0000-1111-2222-333344445555`;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const root = { AWS: `arn:aws:iam::${accountId}:root` };
const rootPolicy: PolicyDocument = {
  Statement: { Effect: 'Allow', Principal: root, Action: 'kms:*', Resource: '*' },
};

describe('the embedded endpoint', () => {
  let folder: string;
  let aws: LocalAws;
  let subject: Subject;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'local-aws-'));
    aws = await startLocalAws({
      region,
      principals: [
        { ...admin, arn: `arn:aws:iam::${accountId}:role/admin`, policies: [everythingPolicy] },
        { ...writer, arn: `arn:aws:iam::${accountId}:role/writer`, policies: [writerPolicy('archive')] },
      ],
      buckets: [
        { name: 'archive', folder: join(folder, 'archive') },
        { name: 'guarded', folder: join(folder, 'guarded'), policy: guardedBucketPolicy('guarded') },
      ],
      signingKeys: [{ arn: signingKey, policy: rootPolicy, privateKey }],
      publish: ({ arn }, { to }) =>
        arn.endsWith('role/admin') ? undefined : `not authorized to perform sns:Publish on ${to}`,
      secrets: [secret, { name: 'empty', arn: `arn:aws:secretsmanager:${region}:${accountId}:secret:empty-AbCdEf` }],
    });
    subject = subjectAt(aws.url, { secret, signingKey, topic: `arn:aws:sns:${region}:${accountId}:mails` });
  });

  afterAll(async () => {
    await aws.close();
    await rm(folder, { recursive: true });
  });

  it.each(Object.entries(conformanceChecks))('%s', async (_sentence, check) => {
    await check(subject);
  });
});
