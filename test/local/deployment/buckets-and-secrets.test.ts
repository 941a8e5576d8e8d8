import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { environmentNames } from '../../../lambda/stack-contract';
import { startLocalAws } from '../../../local/aws/local-aws';
import { readBuckets, readSecrets } from '../../../local/deployment/buckets-and-secrets';
import type { FunctionDefinition } from '../../../local/deployment/function-definition';
import { StackTemplate, type Template } from '../../../local/deployment/stack-template';
import { clientsOf, region } from '../aws/endpoint-setup';
import { failureOf } from '../aws/expect-failure';

const location = { stackName: 'demo', accountId: '111122223333', region };
const caller = { accessKeyId: 'ASIACOLLECTOR', secretAccessKey: 'key' };
const arn = 'arn:aws:iam::111122223333:role/collector';
const foreignKey = 'arn:aws:kms:eu-central-1:111122223333:key/of-somebody-else';

function template(archiveKey: unknown): Template {
  return {
    Resources: {
      Key: {
        Type: 'AWS::KMS::Key',
        Properties: {
          KeyPolicy: {
            Statement: [
              { Effect: 'Allow', Principal: { AWS: 'arn:aws:iam::111122223333:root' }, Action: 'kms:*', Resource: '*' },
            ],
          },
        },
      },
      Archive: {
        Type: 'AWS::S3::Bucket',
        Properties: {
          BucketName: 'archive',
          BucketEncryption: {
            ServerSideEncryptionConfiguration: [
              { ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: archiveKey } },
            ],
          },
        },
      },
      Secret: { Type: 'AWS::SecretsManager::Secret', Properties: { Name: 'key', KmsKeyId: { Ref: 'Key' } } },
    },
  };
}

interface KeyStatement {
  readonly Action: string;
  readonly Resource: string;
  readonly Condition?: Record<string, Record<string, string>>;
}

type Clients = ReturnType<typeof clientsOf>;

/** Calls the template's bucket or secret as a role that may do everything but use keys, and what the statements allow. */
async function callAs(
  call: (clients: Clients) => Promise<unknown>,
  statements: readonly KeyStatement[],
  archiveKey: unknown = { 'Fn::GetAtt': ['Key', 'Arn'] },
): Promise<unknown> {
  const stack = new StackTemplate(template(archiveKey), location);
  const environment = { BUCKET: 'archive', [environmentNames.apiKeySecret]: 'key' };
  const definition = { environment } as Partial<FunctionDefinition> as FunctionDefinition;
  const folder = await mkdtemp(join(tmpdir(), 'encrypted-'));
  const allowed = [{ Action: ['s3:*', 'secretsmanager:*'], Resource: '*' }, ...statements];
  const aws = await startLocalAws({
    region,
    principals: [
      { ...caller, arn, policies: [{ Statement: allowed.map((one) => ({ Effect: 'Allow' as const, ...one })) }] },
    ],
    buckets: readBuckets(stack, definition, folder),
    secrets: readSecrets(stack, definition, 's3cret'),
  });
  try {
    return await call(clientsOf(aws.url, caller));
  } finally {
    await aws.close();
    await rm(folder, { recursive: true });
  }
}

const refusalOf = (...args: Parameters<typeof callAs>) => failureOf(callAs(...args));

const object = { Bucket: 'archive', Key: 'a' };
const put = ({ s3 }: Clients) => s3.send(new PutObjectCommand({ ...object, Body: 'x' }));
const get = ({ s3 }: Clients) => s3.send(new GetObjectCommand(object));
const getSecret = ({ secrets }: Clients) => secrets.send(new GetSecretValueCommand({ SecretId: 'key' }));
const ownKey = 'arn:aws:kms:eu-central-1:111122223333:key/demo-Key';
const throughS3 = { StringEquals: { 'kms:ViaService': 's3.eu-central-1.amazonaws.com' } };
const refused = (needed: string) => ({
  status: 403,
  code: 'AccessDenied',
  message: expect.stringContaining(`perform: ${needed} on`),
});

describe('an encryption key', () => {
  it('lets an object be written only with kms:GenerateDataKey on the bucket’s key', async () => {
    expect(await refusalOf(put, [])).toMatchObject(refused('kms:GenerateDataKey'));
    await callAs(put, [{ Action: 'kms:GenerateDataKey', Resource: ownKey, Condition: throughS3 }]);
  });

  it('lets an object be read only with kms:Decrypt on the bucket’s key', async () => {
    expect(await refusalOf(get, [])).toMatchObject(refused('kms:Decrypt'));
    const statement = { Action: 'kms:Decrypt', Resource: ownKey, Condition: throughS3 };
    expect(await refusalOf(get, [statement])).toMatchObject({ status: 404 });
  });

  it('holds the permission to the service that the key is used through', async () => {
    const throughAnother = { StringEquals: { 'kms:ViaService': 'sns.eu-central-1.amazonaws.com' } };
    const statement = { Action: 'kms:GenerateDataKey', Resource: ownKey, Condition: throughAnother };
    expect(await refusalOf(put, [statement])).toMatchObject({ status: 403 });
  });

  it('leaves the decision about a key that is not in the template to the role’s policies', async () => {
    expect(await refusalOf(put, [], foreignKey)).toMatchObject({ status: 403 });
    await callAs(put, [{ Action: 'kms:GenerateDataKey', Resource: foreignKey }], foreignKey);
  });

  it('asks nothing of calls that need no key, and of AWS’s own keys', async () => {
    await callAs(({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket: 'archive' })), []);
    expect(await refusalOf(({ s3 }) => s3.send(new HeadObjectCommand(object)), [])).toMatchObject({ status: 404 });
    await callAs(put, [], 'alias/aws/s3');
  });

  it('lets a secret be read only with kms:Decrypt on its key', async () => {
    expect(await refusalOf(getSecret, [])).toMatchObject({ status: 400, code: 'AccessDeniedException' });
    const statement = { Action: 'kms:Decrypt', Resource: ownKey };
    expect(await callAs(getSecret, [statement])).toMatchObject({ SecretString: 's3cret' });
  });
});
