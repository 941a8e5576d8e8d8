import { Match } from 'aws-cdk-lib/assertions';
import { resourceNames, resources } from '../../archive/format/resources';
import { refusalOf } from '../../local/aws/iam/authorize';
import { resourcePolicySchema } from '../../local/aws/iam/policy-document';
import {
  audited,
  exampleTemplate,
  resourceOf,
  type Statement,
  statementsOf,
  templateOf,
  textOf,
  toldAtSynth,
} from './example-stack';

const archive = (changes: object) => ({ archive: changes });

function bucketOf(changes: object): Record<string, unknown> {
  const json = templateOf(archive(changes));
  return resourceOf(json, 'AWS::S3::Bucket', 'ArchiveBucket').Properties;
}

function rules(changes: object): unknown {
  return (bucketOf(changes).LifecycleConfiguration as { Rules: unknown[] }).Rules;
}

const perPrefix = (rule: object) =>
  [...resourceNames.map((name) => resources[name].folder), 'runs'].map((name) => ({
    Id: name,
    Prefix: `${name}/`,
    Status: 'Enabled',
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
    NoncurrentVersionExpiration: { NoncurrentDays: 30 },
    ...rule,
  }));

describe('how long the archive keeps', () => {
  it('is for ever by default; only leftovers are cleaned up', () => {
    expect(rules({})).toEqual(perPrefix({ ExpiredObjectDeleteMarker: true }));
  });

  it('is as configured for logs, manifests and run records, and for ever for everything else', () => {
    expect(rules({ retentionDays: 400 })).toEqual(perPrefix({ ExpirationInDays: 400 }));
  });
});

describe('the archive takes from everybody', () => {
  const policy = () => {
    const json = templateOf(archive({}));
    const statements = statementsOf(resourceOf(json, 'AWS::S3::BucketPolicy', 'ArchiveBucket'));
    const ofAll = statements.filter(({ Sid = '' }) => ['OnlyStandardClass', 'NoCustomerKeys'].includes(String(Sid)));
    const allow = { Effect: 'Allow', Principal: { AWS: '*' }, Action: 's3:*' };
    return resourcePolicySchema.parse({ Statement: [allow, ...ofAll].map((one) => ({ ...one, Resource: '*' })) });
  };

  const storageClass = (name: string) => ({ 's3:x-amz-storage-class': name });
  const customerKey = { 's3:x-amz-server-side-encryption-customer-algorithm': 'AES256' };
  it.each<[string, Record<string, string>, boolean]>([
    ['a write that names no storage class', {}, true],
    ['one that names STANDARD', storageClass('STANDARD'), true],
    ['none to GLACIER', storageClass('GLACIER'), false],
    ['none to DEEP_ARCHIVE', storageClass('DEEP_ARCHIVE'), false],
    ['none to a class that moves by itself', storageClass('INTELLIGENT_TIERING'), false],
    ['none with the key of its writer', customerKey, false],
    ['none with the key of its writer, to STANDARD', { ...customerKey, ...storageClass('STANDARD') }, false],
  ])('%s', (_, context, isTaken) => {
    const caller = { arn: 'arn:aws:iam::111122223333:role/administrator', policies: [] };
    const access = {
      action: 's3:PutObject',
      resource: 'arn:aws:s3:::archive/runs/a',
      resourcePolicy: policy(),
      context,
    };
    expect(refusalOf(caller, access) === undefined).toBe(isTaken);
  });
});

describe('the policy of the archive', () => {
  const longest = (at: number) => `arn:aws:iam::2222222222${at + 10}:role/${'x'.repeat(447)}/${'y'.repeat(64)}`;
  const readers = Array.from({ length: 20 }, (_, at) => longest(at));

  it('names no reader as principal, whose deletion by its owner would lock every later change of the policy', () => {
    const json = templateOf(archive({ readers, kms: true }));
    const ofReaders = Object.values(json.Resources).flatMap(({ Properties }) => {
      const { Statement = [] } = (Properties.PolicyDocument ?? Properties.KeyPolicy ?? {}) as {
        Statement?: Statement[];
      };
      return Statement.filter(({ Sid = '' }) => Sid.startsWith('Readers'));
    });
    expect(ofReaders.map(({ Sid }) => Sid)).toEqual(['ReadersDecrypt', 'ReadersRead']);
    for (const { Principal, Condition } of ofReaders) {
      expect(Principal).toEqual({ AWS: readers.map((arn) => `${arn.slice(0, 25)}:root`) });
      expect(Condition?.ArnEquals).toEqual({ 'aws:PrincipalArn': readers });
    }
  });

  it('fits into what S3 and KMS take, also with twenty readers of the longest names, and an audit', () => {
    const json = templateOf({ ...audited, ...archive({ readers, kms: true }) });
    const sizes = Object.values(json.Resources).flatMap(({ Type, Properties: { PolicyDocument, KeyPolicy } }) =>
      // A reference takes at most as much as the longest ARN of a role.
      Type === 'AWS::S3::BucketPolicy' || KeyPolicy !== undefined
        ? [[Type, textOf(PolicyDocument ?? KeyPolicy).replace(/<[^>]+>/g, 'x'.repeat(100)).length] as const]
        : [],
    );
    const most: Record<string, number> = { 'AWS::S3::BucketPolicy': 20_480, 'AWS::KMS::Key': 32_768 };
    for (const [type, size] of sizes) expect(size).toBeLessThan(most[type] ?? 0);
    expect(Math.max(...sizes.map(([, size]) => size))).toBeGreaterThan(12_000);
  });

  it.each([
    's3:ReplicateObject',
    's3:ReplicateDelete',
    's3:UpdateObjectEncryption',
  ])('lets nobody do what comes past the rules for writing: %s', (action) => {
    const statements = statementsOf(resourceOf(templateOf(), 'AWS::S3::BucketPolicy', 'ArchiveBucket'));
    const ofAll = statements.filter(({ Principal }) => textOf(Principal) === '{AWS: *}');
    const denied = ofAll.filter(({ Effect, Action }) => Effect === 'Deny' && [Action].flat().includes(action));
    expect(denied.map(({ Resource, Condition }) => [textOf(Resource), Condition])).toEqual([
      ['<ArchiveBucket.Arn>/*', undefined],
    ]);
  });
});

describe('the lock of the archive', () => {
  it.each([
    ['no lock', {}, { ObjectLockEnabled: 'Enabled' }],
    ['governance', { objectLock: { days: 90 } }, lockOf('GOVERNANCE')],
    ['compliance', { objectLock: { days: 90, mode: 'compliance' } }, lockOf('COMPLIANCE')],
  ])('with %s is the default retention of a bucket that can always lock', (_, changes, configuration) => {
    const { ObjectLockEnabled, ObjectLockConfiguration } = bucketOf(changes);
    expect({ ObjectLockEnabled, ObjectLockConfiguration }).toEqual({
      ObjectLockEnabled: true,
      ObjectLockConfiguration: configuration,
    });
  });

  it('in compliance mode is warned of, with the day until which nobody can delete', () => {
    const warnings = (mode: string) => toldAtSynth(archive({ objectLock: { days: 90, mode } }), /compliance mode/);
    expect(warnings('governance')).toEqual([]);
    const day = (ms: number) => new Date(Date.now() + 90 * 86_400_000 + ms).toISOString().slice(0, 10);
    // The synthesis may have been before midnight.
    expect([day(0), day(-60_000)]).toContain(/before (\S+) what is/.exec(warnings('compliance')[0] ?? '')?.[1]);
  });

  it('does not exist for the access logs, which S3 would not deliver', () => {
    const json = templateOf(archive({ objectLock: { days: 90 } }));
    expect(resourceOf(json, 'AWS::S3::Bucket', 'ArchiveAccessLogs').Properties).not.toHaveProperty('ObjectLockEnabled');
  });
});

function lockOf(mode: string): object {
  return { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention: { Days: 90, Mode: mode } } };
}

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
  it('may be a key of the stack that rotates, is kept and has an alias', () => {
    const template = exampleTemplate(archive({ kms: true }));
    const id = { 'Fn::GetAtt': [Match.stringLikeRegexp('^ArchiveKey'), 'Arn'] };
    template.resourcePropertiesCountIs('AWS::S3::Bucket', encryption(id), 1);
    template.hasResource('AWS::KMS::Key', {
      Properties: { EnableKeyRotation: true, Description: Match.stringLikeRegexp('^Encrypts the archive') },
      DeletionPolicy: 'RetainExceptOnCreate',
    });
    template.hasResourceProperties('AWS::KMS::Alias', {
      AliasName: 'alias/cluster-log-collector-archive',
      TargetKeyId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ArchiveKey'), 'Arn'] },
    });
  });

  it("of the access logs is S3's own, because S3 delivers them only so", () => {
    exampleTemplate(archive({ kms: true })).resourcePropertiesCountIs('AWS::S3::Bucket', encryption(undefined), 1);
  });
});
