import { Match, Template } from 'aws-cdk-lib/assertions';
import { auditEnvironmentNames, environmentNames, failureEnvironmentNames } from '../../lambda/stack-contract';
import { allowedTo, resourcesOf, statementsOf, type TemplateJson, textOf } from './example-stack';

/** What must hold for every template, by name. A check throws if it does not hold. */
export const securityProperties: Record<string, (json: TemplateJson) => void> = {
  'every bucket is private': (json) =>
    every(json, 'AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
    }),

  'every bucket is encrypted': (json) =>
    every(json, 'AWS::S3::Bucket', {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: Match.anyValue() } }],
      },
    }),

  'every bucket, queue and topic is reached by TLS only': (json) => {
    for (const [type, policyType, member] of [
      ['AWS::S3::Bucket', 'AWS::S3::BucketPolicy', 'Bucket'],
      ['AWS::SQS::Queue', 'AWS::SQS::QueuePolicy', 'Queues'],
      ['AWS::SNS::Topic', 'AWS::SNS::TopicPolicy', 'Topics'],
    ] as const) {
      for (const [id] of resourcesOf(json, type)) {
        const policies = resourcesOf(json, policyType).filter(([, { Properties }]) =>
          [Properties[member]].flat().some((target) => textOf(target) === textOf({ Ref: id })),
        );
        const statements = policies.flatMap(([, policy]) => statementsOf(policy));
        expect(statements).toContainEqual(
          expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        );
      }
    }
  },

  'the archive keeps every version': (json) => archive(json, { VersioningConfiguration: { Status: 'Enabled' } }),

  'the archive logs who touched it, elsewhere': (json) =>
    archive(json, {
      LoggingConfiguration: { DestinationBucketName: { Ref: Match.stringLikeRegexp('^ArchiveAccessLogs') } },
    }),

  'archive, its protection, its secret and its signing key outlive the stack, unless its creation fails': (json) => {
    const kept = ['AWS::S3::Bucket', 'AWS::S3::BucketPolicy', 'AWS::SecretsManager::Secret'];
    const resources = [
      ...kept.flatMap((type) => resourcesOf(json, type)),
      ...resourcesOf(json, 'AWS::KMS::Key').filter(([id]) => /^(Archive|Audit)/.test(id)),
    ];
    for (const [, { DeletionPolicy, UpdateReplacePolicy }] of resources)
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain']);
  },

  'the archive takes new objects only': (json) =>
    archivePolicy(json, {
      Effect: 'Deny',
      Action: 's3:PutObject',
      Principal: { AWS: { 'Fn::GetAtt': [Match.stringLikeRegexp('^CollectorRole'), 'Arn'] } },
      Resource: everyObject,
      Condition: { Null: { 's3:if-none-match': 'true' } },
    }),

  'the archive lets the collector delete nothing': (json) =>
    archivePolicy(json, {
      Effect: 'Deny',
      Action: Match.arrayWith(['s3:DeleteObject*']),
      Principal: { AWS: { 'Fn::GetAtt': [Match.stringLikeRegexp('^CollectorRole'), 'Arn'] } },
      Resource: everyObject,
      Condition: Match.absent(),
    }),

  'the archive takes from nobody what could not be read': (json) => {
    const storageClass = 's3:x-amz-storage-class';
    for (const Condition of [
      { Null: { [storageClass]: 'false' }, StringNotEquals: { [storageClass]: 'STANDARD' } },
      { Null: { 's3:x-amz-server-side-encryption-customer-algorithm': 'false' } },
    ])
      archivePolicy(json, {
        Effect: 'Deny',
        Action: 's3:PutObject',
        Principal: { AWS: '*' },
        Resource: everyObject,
        Condition: Match.exact(Condition),
      });
  },

  'the collector reads nothing in the archive except run records and configurations': (json) => {
    const allowed = allowedTo(json, 'CollectorRole').filter((line) => /^(s3:(Get|List|\*)|\*)/.test(line));
    expect(allowed).toEqual([
      's3:GetObject <ArchiveBucket.Arn>/configurations/*',
      's3:GetObject <ArchiveBucket.Arn>/runs/*',
      's3:ListBucket <ArchiveBucket.Arn> if {StringLike: {s3:prefix: runs/*}}',
    ]);
  },

  'the schedule may start the function and keep what it could not deliver, and only this account uses its role': (
    json,
  ) => {
    expect(allowedTo(json, 'ScheduleRole')).toEqual([
      'lambda:InvokeFunction <CollectorFunction.Arn>',
      'sqs:SendMessage <ScheduleUndelivered.Arn>',
    ]);
    const roles = resourcesOf(json, 'AWS::IAM::Role').filter(([id]) => /^(Audit)?ScheduleRole/.test(id));
    every({ Resources: Object.fromEntries(roles) }, 'AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Principal: { Service: 'scheduler.amazonaws.com' },
            Condition: {
              StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' }, 'aws:SourceArn': Match.anyValue() },
            },
          },
        ],
      },
    });
  },

  'no template holds a key': (json) => {
    for (const [, { Properties }] of resourcesOf(json, 'AWS::SecretsManager::Secret'))
      expect(Object.keys(Properties)).toEqual(['Description']);
    for (const [id, { Properties }] of resourcesOf(json, 'AWS::Lambda::Function')) {
      const { Variables } = Properties.Environment as { Variables: object };
      const own = Object.values(environmentsOf(id));
      expect(Object.keys(Variables).sort()).toEqual(
        [...new Set([...own, 'NODE_OPTIONS', 'POWERTOOLS_SERVICE_NAME'])].sort(),
      );
    }
  },

  'lost deliveries are kept, encrypted': (json) => {
    every(json, 'AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    every(json, 'AWS::Scheduler::Schedule', {
      Target: {
        DeadLetterConfig: { Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^(Audit)?ScheduleUndelivered'), 'Arn'] } },
      },
    });
  },

  'what failed for good is told, and kept if it cannot be': (json) => {
    for (const [id, { Properties }] of resourcesOf(json, 'AWS::Lambda::EventInvokeConfig')) {
      const { OnFailure } = (Properties.DestinationConfig ?? {}) as { OnFailure?: { Destination?: unknown } };
      expect(textOf(OnFailure?.Destination)).toBe(
        id.startsWith('FailureMessages') ? '<FailureMessagesUntold.Arn>' : '<FailureMessagesFunction.Arn>',
      );
    }
    expect(allowedTo(json, 'FailureMessagesRole')).toContain('sns:Publish <AlertsTopic>');
  },

  'every alarm reaches the topic, when it begins and when it is over': (json) => {
    expect(resourcesOf(json, 'AWS::CloudWatch::Alarm').length).toBeGreaterThan(4);
    const topic = [{ Ref: Match.stringLikeRegexp('^AlertsTopic') }];
    every(json, 'AWS::CloudWatch::Alarm', { AlarmActions: topic, OKActions: topic, ActionsEnabled: Match.absent() });
  },

  'the topic is encrypted with a key that CloudWatch may use': (json) => {
    every(json, 'AWS::SNS::Topic', { KmsMasterKeyId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^AlertsKey'), 'Arn'] } });
    Template.fromJSON(json as never).hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Allow', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
        ]),
      },
    });
  },

  'the collector neither adds seals nor signs': (json) => {
    const allowed = allowedTo(json, 'CollectorRole').filter((line) => /^(s3:Put|kms:)/.test(line));
    expect(allowed.filter((line) => !/^(s3:PutObject|kms:(Decrypt|GenerateDataKey)) /.test(line))).toEqual([]);
    expect(allowed.filter((line) => /<ArchiveBucket\.Arn>\/(seals|\*)|SigningKey/.test(line))).toEqual([]);
  },

  'the audit adds nothing but seals, and signs with one key': withAudit((json) => {
    const allowed = allowedTo(json, 'AuditRole').filter((line) =>
      /^(s3:|kms:.*SigningKey|kms:Sign|kms:\*|\*)/.test(line),
    );
    expect(allowed).toEqual([
      'kms:GetPublicKey <AuditSigningKey.Arn>',
      'kms:Sign <AuditSigningKey.Arn>',
      's3:GetObject <ArchiveBucket.Arn>/*',
      's3:ListBucket <ArchiveBucket.Arn>',
      's3:ListBucketVersions <ArchiveBucket.Arn>',
      's3:PutObject <ArchiveBucket.Arn>/seals/*',
    ]);
  }),

  'the archive takes seals from the audit only': withAudit((json) =>
    archivePolicy(json, noSeal({ ArnNotEquals: { 'aws:PrincipalArn': auditRole } })),
  ),

  'the archive takes new seals only, from whomever': withAudit((json) =>
    archivePolicy(json, noSeal({ Null: { 's3:if-none-match': 'true' } })),
  ),

  'the archive takes nothing else from the audit, and lets it delete nothing': withAudit((json) => {
    archivePolicy(json, {
      Effect: 'Deny',
      Action: 's3:PutObject',
      Principal: { AWS: auditRole },
      Resource: ['configurations', 'logs', 'manifests', 'runs'].map(objectsBelow),
      Condition: Match.absent(),
    });
    archivePolicy(json, {
      Effect: 'Deny',
      Action: Match.arrayWith(['s3:DeleteObject*']),
      Principal: { AWS: auditRole },
      Resource: everyObject,
      Condition: Match.absent(),
    });
  }),

  'the key of the seals signs for the audit only': withAudit((json) => {
    const keys = resourcesOf(json, 'AWS::KMS::Key').filter(([id]) => id.startsWith('AuditSigningKey'));
    every({ Resources: Object.fromEntries(keys) }, 'AWS::KMS::Key', {
      KeySpec: 'ECC_NIST_P256',
      KeyUsage: 'SIGN_VERIFY',
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Action: 'kms:Sign',
            Principal: { AWS: '*' },
            Resource: '*',
            Condition: { ArnNotEquals: { 'aws:PrincipalArn': auditRole } },
          }),
        ]),
      },
    });
  }),

  'seals and configurations never expire': (json) => {
    const bucket = resourcesOf(json, 'AWS::S3::Bucket').filter(([id]) => id.startsWith('ArchiveBucket'));
    for (const [, { Properties }] of bucket) {
      const { Rules } = Properties.LifecycleConfiguration as { Rules: { Prefix?: string }[] };
      expect(Rules.map(({ Prefix = 'everything' }) => Prefix).sort()).toEqual(['logs/', 'manifests/', 'runs/']);
    }
  },
};

/** What the code of a function reads from its environment. */
function environmentsOf(functionId: string): object {
  if (functionId.startsWith('Audit')) return auditEnvironmentNames;
  return functionId.startsWith('FailureMessages') ? failureEnvironmentNames : environmentNames;
}

/** A property of stacks that have an audit. */
function withAudit(check: (json: TemplateJson) => void) {
  return (json: TemplateJson) => {
    if (resourcesOf(json, 'AWS::Lambda::Function').some(([id]) => id.startsWith('Audit'))) check(json);
  };
}

const auditRole = { 'Fn::GetAtt': [Match.stringLikeRegexp('^AuditRole'), 'Arn'] };

function objectsBelow(prefix: string): object {
  const bucket = { 'Fn::GetAtt': [Match.stringLikeRegexp('^ArchiveBucket'), 'Arn'] };
  return { 'Fn::Join': ['', [bucket, `/${prefix}/*`]] };
}

/** The statement that lets nobody add a seal under a condition. */
function noSeal(Condition: object): object {
  return {
    Effect: 'Deny',
    Action: 's3:PutObject',
    Principal: { AWS: '*' },
    Resource: objectsBelow('seals'),
    Condition,
  };
}

const everyObject = {
  'Fn::Join': ['', [{ 'Fn::GetAtt': [Match.stringLikeRegexp('^ArchiveBucket'), 'Arn'] }, '/*']],
};

function every(json: TemplateJson, type: string, properties: object): void {
  const template = Template.fromJSON(json as never);
  expect(resourcesOf(json, type)).not.toEqual([]);
  template.allResourcesProperties(type, properties);
}

function archive(json: TemplateJson, properties: object): void {
  const buckets = resourcesOf(json, 'AWS::S3::Bucket').filter(([id]) => id.startsWith('ArchiveBucket'));
  every({ Resources: Object.fromEntries(buckets) }, 'AWS::S3::Bucket', properties);
}

function archivePolicy(json: TemplateJson, statement: object): void {
  Template.fromJSON(json as never).hasResourceProperties('AWS::S3::BucketPolicy', {
    Bucket: { Ref: Match.stringLikeRegexp('^ArchiveBucket') },
    PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(statement)]) },
  });
}
