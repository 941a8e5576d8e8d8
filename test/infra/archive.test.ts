import { Match } from 'aws-cdk-lib/assertions';
import { exampleTemplate, kmsKeyArn, resourceOf, type TemplateJson } from './example-stack';

const archive = (changes: object) => ({ archive: changes });

function rules(changes: object): unknown {
  const json = exampleTemplate(archive(changes)).toJSON() as TemplateJson;
  const { LifecycleConfiguration } = resourceOf(json, 'AWS::S3::Bucket', 'ArchiveBucket').Properties;
  return (LifecycleConfiguration as { Rules: unknown[] }).Rules;
}

const cleanUp = {
  Id: 'clean-up',
  Status: 'Enabled',
  AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
  NoncurrentVersionExpiration: { NoncurrentDays: 30 },
  ExpiredObjectDeleteMarker: true,
};

describe('how long the archive keeps', () => {
  it('is for ever by default; only leftovers are cleaned up', () => {
    expect(rules({})).toEqual([cleanUp]);
  });

  it('is as configured, for all but the configurations of runs', () => {
    const expire = (folder: string) => ({
      Id: `expire-${folder}`,
      Status: 'Enabled',
      Prefix: `${folder}/`,
      ExpirationInDays: 400,
    });
    expect(rules({ infrequentAccessAfterDays: 30, retentionDays: 400 })).toEqual([
      cleanUp,
      {
        Id: 'infrequent-access',
        Status: 'Enabled',
        Transitions: [{ StorageClass: 'STANDARD_IA', TransitionInDays: 30 }],
      },
      ...['logs', 'manifests', 'runs'].map(expire),
    ]);
  });

  it('is locked for the configured days, but the access logs are not', () => {
    const template = exampleTemplate(archive({ objectLockDays: 90 }));
    const locked = { ObjectLockConfiguration: { Rule: { DefaultRetention: { Days: 90, Mode: 'GOVERNANCE' } } } };
    template.resourcePropertiesCountIs('AWS::S3::Bucket', { ObjectLockEnabled: true, ...locked }, 1);
    template.resourcePropertiesCountIs('AWS::S3::Bucket', { ObjectLockEnabled: Match.absent() }, 1);
  });

  it('is a year for access logs', () => {
    exampleTemplate().resourcePropertiesCountIs(
      'AWS::S3::Bucket',
      { LifecycleConfiguration: { Rules: [{ ExpirationInDays: 365, Id: 'expire', Status: 'Enabled' }] } },
      1,
    );
  });
});

function encryption(keyId: unknown) {
  return {
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [
        {
          ServerSideEncryptionByDefault:
            keyId === undefined ? { SSEAlgorithm: 'AES256' } : { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: keyId },
          ...(keyId === undefined ? {} : { BucketKeyEnabled: true }),
        },
      ],
    },
  };
}

describe('the encryption of the archive', () => {
  it("is S3's own by default", () => {
    exampleTemplate().resourcePropertiesCountIs('AWS::S3::Bucket', encryption(undefined), 2);
  });

  it('may be a key of the stack that rotates and is kept', () => {
    const template = exampleTemplate(archive({ kms: true }));
    const id = { 'Fn::GetAtt': [Match.stringLikeRegexp('^ArchiveKey'), 'Arn'] };
    template.resourcePropertiesCountIs('AWS::S3::Bucket', encryption(id), 1);
    template.hasResource('AWS::KMS::Key', {
      Properties: { EnableKeyRotation: true, Description: Match.stringLikeRegexp('^Encrypts the archive') },
      DeletionPolicy: 'Retain',
    });
  });

  it('may be an existing key', () => {
    const template = exampleTemplate(archive({ kms: kmsKeyArn }));
    template.resourcePropertiesCountIs('AWS::S3::Bucket', encryption(kmsKeyArn), 1);
    template.resourceCountIs('AWS::KMS::Key', 1);
  });

  it("of the access logs is S3's own, because S3 delivers them only so", () => {
    exampleTemplate(archive({ kms: true })).resourcePropertiesCountIs('AWS::S3::Bucket', encryption(undefined), 1);
  });
});
