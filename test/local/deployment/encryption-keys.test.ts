import { EncryptionKeys } from '../../../local/deployment/encryption-keys';
import { StackTemplate, type Template } from '../../../local/deployment/stack-template';

const location = { stackName: 'demo', accountId: '111122223333', region: 'eu-central-1' };
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
      Secret: { Type: 'AWS::SecretsManager::Secret', Properties: { KmsKeyId: { Ref: 'Key' } } },
    },
  };
}

/** The refusal of a call by a role with these permissions on keys. */
function faultOf(
  call: { service: 's3' | 'secretsmanager'; action: string; bucket?: string },
  statements: { Action: string; Resource: string; Condition?: Record<string, Record<string, string>> }[],
  archiveKey: unknown = { 'Fn::GetAtt': ['Key', 'Arn'] },
) {
  const keys = new EncryptionKeys(new StackTemplate(template(archiveKey), location));
  const policies = statements.map((statement) => ({ Statement: { Effect: 'Allow' as const, ...statement } }));
  return keys.faultOf({ arn, policies }, { ...call, method: 'POST', headers: {} });
}

const put = { service: 's3', action: 'PutObject', bucket: 'archive' } as const;
const ownKey = 'arn:aws:kms:eu-central-1:111122223333:key/demo-Key';
const throughS3 = { StringEquals: { 'kms:ViaService': 's3.eu-central-1.amazonaws.com' } };

describe('an encryption key', () => {
  it.each([
    ['PutObject', 'kms:GenerateDataKey'],
    ['GetObject', 'kms:Decrypt'],
  ])('lets %s through only with %s on the bucket’s key', (action, needed) => {
    const call = { ...put, action };
    expect(faultOf(call, [])).toMatchObject({
      status: 403,
      code: 'AccessDenied',
      message: expect.stringContaining(needed),
    });
    expect(faultOf(call, [{ Action: needed, Resource: ownKey, Condition: throughS3 }])).toBeUndefined();
  });

  it('holds the permission to the service that the key is used through', () => {
    const throughAnother = { StringEquals: { 'kms:ViaService': 'sns.eu-central-1.amazonaws.com' } };
    const statement = { Action: 'kms:GenerateDataKey', Resource: ownKey, Condition: throughAnother };
    expect(faultOf(put, [statement])).toMatchObject({ status: 403 });
  });

  it('leaves the decision about a key that is not in the template to the role’s policies', () => {
    expect(faultOf(put, [], foreignKey)).toMatchObject({ status: 403 });
    expect(faultOf(put, [{ Action: 'kms:GenerateDataKey', Resource: foreignKey }], foreignKey)).toBeUndefined();
  });

  it('asks nothing of calls that need no key, of other buckets, and of AWS’s own keys', () => {
    expect(faultOf({ ...put, action: 'ListObjectsV2' }, [])).toBeUndefined();
    expect(faultOf({ ...put, bucket: 'another' }, [])).toBeUndefined();
    expect(faultOf(put, [], 'alias/aws/s3')).toBeUndefined();
  });

  it('lets a secret be read only with kms:Decrypt on its key', () => {
    const get = { service: 'secretsmanager', action: 'GetSecretValue' } as const;
    expect(faultOf(get, [])).toMatchObject({ status: 400, code: 'AccessDeniedException' });
    expect(faultOf(get, [{ Action: 'kms:Decrypt', Resource: ownKey }])).toBeUndefined();
  });
});
